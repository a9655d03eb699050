/*
 * What /proc says of the machine's CPUs and memory over a run.
 */
#include "machine.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../lost_time.h"
#include "child.h"

#define LEAST_SECONDS 1 /* the kernel counts the CPUs' time in ticks of 10 ms */

/* Lost time is looked for during this part of a run's time, for so many seconds. */
#define LOST_PART  0.05
#define LOST_LEAST 0.02
#define LOST_MOST  0.2

static void read_cpu_time(struct machine_reading *reading)
{
	/* user nice system idle iowait irq softirq steal, see proc(5) */
	uint64_t ticks[8] = { 0 };
	double hertz = (double)sysconf(_SC_CLK_TCK);
	FILE *in = fopen("/proc/stat", "re");
	if (in == NULL)
		return;
	int got = fscanf(in,
	        "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
	        " %" SCNu64 " %" SCNu64,
	        &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6],
	        &ticks[7]);
	fclose(in);
	if (got < 7)
		return;
	reading->busy = (double)(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / hertz;
	reading->steal = (double)ticks[7] / hertz;
}

static void read_swap(struct machine_reading *reading)
{
	char name[64];
	double value;
	FILE *in = fopen("/proc/vmstat", "re");
	while (in != NULL && fscanf(in, "%63s %lf", name, &value) == 2)
		if (strcmp(name, "pswpin") == 0 || strcmp(name, "pswpout") == 0)
			reading->swapped += value;
	if (in != NULL)
		fclose(in);
}

struct machine_reading machine_read(void)
{
	struct machine_reading reading = { .wall = children_clock() };
	read_cpu_time(&reading);
	read_swap(&reading);
	return reading;
}

double machine_cpu(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static double share(double part, double all)
{
	return part <= 0 ? 0 : part >= all ? 1 : part / all;
}

void machine_measure(struct run *run, const struct machine_reading *before, double own)
{
	struct machine_reading now = machine_read();
	double seconds = now.wall - before->wall;
	double all = seconds * (double)sysconf(_SC_NPROCESSORS_ONLN);
	double others = now.busy - before->busy - own;
	run_add(run, "machine.swapped_pages", now.swapped - before->swapped, UNIT_COUNT,
	        BETTER_LESS);
	if (seconds < LEAST_SECONDS)
		return;
	run_add(run, "machine.steal", share(now.steal - before->steal, all), UNIT_RATIO,
	        BETTER_LESS);
	run_add(run, "machine.other_load", share(others, all), UNIT_RATIO, BETTER_LESS);
}

void machine_measure_lost(struct run *run, double seconds)
{
	struct lost_time lost;
	double moment = seconds * LOST_PART < LOST_MOST ? seconds * LOST_PART : LOST_MOST;
	if (moment < LOST_LEAST)
		return;
	if (lost_time_measure(&lost, moment) == 0)
		run_add(run, "machine.lost", lost_time_share(&lost), UNIT_RATIO, BETTER_LESS);
	lost_time_free(&lost);
}

unsigned machine_cpus(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (unsigned)CPU_COUNT(&set);
	return (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
}
