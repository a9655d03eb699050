/*
 * Time that a virtual machine's CPUs lose without the kernel's knowing: a thread that spins on each
 * CPU sees the clock jump while the kernel takes it to have run.
 */
#ifndef LOADER_LOST_TIME_H
#define LOADER_LOST_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By CLOCK_MONOTONIC. */
struct lost_gap {
	uint64_t start_ns, end_ns;
};

#define LOST_GAPS 16384 /* kept of each CPU */

/* What one CPU's thread saw. */
struct lost_cpu {
	unsigned cpu;
	uint64_t begin_ns, end_ns;
	uint64_t cpu_ns;     /* the thread's, by the kernel's account */
	uint64_t waited_ns;  /* others ran, as the kernel knows */
	uint64_t lost_ns;    /* nobody ran, and the kernel counts it as the thread's */
	uint64_t longest_ns; /* of those gaps */
	uint64_t lost_count;
	uint64_t behind_ns; /* how far the thread's CPU time was behind the clock */
	struct lost_gap *gaps;
	size_t gap_count;
};

struct lost_time {
	struct lost_cpu *cpus;
	size_t count;
};

/* Keeps each CPU that this process may use busy for so many seconds. The caller frees the result,
 * also after a failure, which is an errno value. */
int lost_time_measure(struct lost_time *lost, double seconds);
void lost_time_free(struct lost_time *lost);

/* Of the time in which the threads had their CPUs, as the kernel believes. NAN: they had none. */
double lost_time_share(const struct lost_time *lost);

/* In what share of the time no CPU was in a gap. NAN when all were not watched at once. */
double lost_time_at_once(const struct lost_time *lost);

/* The steps of the measurement. The thread's clock of CPU time stands at cpu_ns. */
void lost_cpu_begin(struct lost_cpu *cpu, uint64_t now_ns, uint64_t cpu_ns);
/* The clock jumped from one reading to the next. */
void lost_cpu_jump(struct lost_cpu *cpu, uint64_t from_ns, uint64_t now_ns, uint64_t cpu_ns);

/* Jumps that are shorter may be interrupts. */
#define LOST_LEAST_NS 200000u

/* A share from which on times of the clock are not to be believed. */
#define LOST_MUCH 0.02

#endif
