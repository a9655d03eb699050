/*
 * Spins a thread on each CPU and tells what it lost to other threads from what it lost to the
 * hypervisor.
 */
#include "lost_time.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

struct spinner {
	struct lost_cpu *cpu;
	uint64_t for_ns;
	pthread_t thread;
	bool pinned;
};

static uint64_t clock_now(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void lost_cpu_begin(struct lost_cpu *cpu, uint64_t now_ns, uint64_t cpu_ns)
{
	cpu->begin_ns = cpu->end_ns = now_ns;
	cpu->behind_ns = now_ns - cpu_ns;
}

void lost_cpu_jump(struct lost_cpu *cpu, uint64_t from_ns, uint64_t now_ns, uint64_t cpu_ns)
{
	uint64_t jump = now_ns - from_ns, behind = now_ns - cpu_ns;
	uint64_t waited = behind > cpu->behind_ns ? behind - cpu->behind_ns : 0;
	waited = waited < jump ? waited : jump;
	uint64_t gone = jump - waited;
	cpu->behind_ns = behind;
	cpu->waited_ns += waited;
	if (gone < LOST_LEAST_NS)
		return;
	cpu->lost_ns += gone;
	cpu->lost_count++;
	cpu->longest_ns = gone > cpu->longest_ns ? gone : cpu->longest_ns;
	/* Where within a jump that was both is not known. */
	if (cpu->gaps != NULL && cpu->gap_count < LOST_GAPS)
		cpu->gaps[cpu->gap_count++] = (struct lost_gap){ now_ns - gone, now_ns };
}

static void *spin(void *argument)
{
	struct spinner *spinner = argument;
	struct lost_cpu *cpu = spinner->cpu;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu->cpu, &set);
	spinner->pinned = sched_setaffinity(0, sizeof(set), &set) == 0;
	uint64_t first_ns = clock_now(CLOCK_THREAD_CPUTIME_ID), now = clock_now(CLOCK_MONOTONIC);
	lost_cpu_begin(cpu, now, first_ns);
	while (spinner->pinned && now - cpu->begin_ns < spinner->for_ns) {
		uint64_t last = now;
		now = clock_now(CLOCK_MONOTONIC);
		if (now - last < LOST_LEAST_NS)
			continue;
		uint64_t cpu_ns = clock_now(CLOCK_THREAD_CPUTIME_ID);
		now = clock_now(CLOCK_MONOTONIC);
		lost_cpu_jump(cpu, last, now, cpu_ns);
	}
	cpu->end_ns = now;
	cpu->cpu_ns = clock_now(CLOCK_THREAD_CPUTIME_ID) - first_ns;
	return NULL;
}

/* A thread a CPU of the set; those that started are waited for. Returns 0 or an errno value. */
static int spin_on(struct lost_time *lost, struct spinner *spinners, double seconds)
{
	size_t started = 0;
	int error = 0;
	for (; started < lost->count && error == 0; started += error == 0) {
		spinners[started] = (struct spinner){ &lost->cpus[started],
			(uint64_t)(seconds * 1e9), 0, false };
		error = pthread_create(&spinners[started].thread, NULL, spin, &spinners[started]);
	}
	for (size_t i = 0; i < started; i++) {
		pthread_join(spinners[i].thread, NULL);
		if (error == 0 && !spinners[i].pinned)
			error = EPERM;
	}
	return error;
}

int lost_time_measure(struct lost_time *lost, double seconds)
{
	cpu_set_t set;
	*lost = (struct lost_time){ NULL, 0 };
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return errno;
	size_t count = (size_t)CPU_COUNT(&set);
	struct spinner *spinners = calloc(count, sizeof(*spinners));
	lost->cpus = calloc(count, sizeof(*lost->cpus));
	int error = spinners == NULL || lost->cpus == NULL ? ENOMEM : 0;
	for (unsigned cpu = 0; cpu < CPU_SETSIZE && error == 0; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		struct lost_cpu *at = &lost->cpus[lost->count++];
		at->cpu = cpu;
		at->gaps = calloc(LOST_GAPS, sizeof(*at->gaps));
		error = at->gaps == NULL ? ENOMEM : 0;
	}
	if (error == 0)
		error = spin_on(lost, spinners, seconds);
	free(spinners);
	return error;
}

void lost_time_free(struct lost_time *lost)
{
	for (size_t i = 0; i < lost->count; i++)
		free(lost->cpus[i].gaps);
	free(lost->cpus);
	*lost = (struct lost_time){ NULL, 0 };
}

double lost_time_share(const struct lost_time *lost)
{
	uint64_t gone = 0, had = 0;
	for (size_t i = 0; i < lost->count; i++) {
		const struct lost_cpu *cpu = &lost->cpus[i];
		gone += cpu->lost_ns;
		had += cpu->end_ns - cpu->begin_ns - cpu->waited_ns;
	}
	return had > 0 ? (double)gone / (double)had : NAN;
}

static int compare_gaps(const void *a, const void *b)
{
	uint64_t one = ((const struct lost_gap *)a)->start_ns;
	uint64_t two = ((const struct lost_gap *)b)->start_ns;
	return (one > two) - (one < two);
}

/* How long at least one of the gaps, sorted by their starts, lasted within the window. */
static uint64_t covered(const struct lost_gap *gaps, size_t count, struct lost_gap window)
{
	uint64_t sum = 0, at = window.start_ns;
	for (size_t i = 0; i < count; i++) {
		uint64_t start = gaps[i].start_ns > at ? gaps[i].start_ns : at;
		uint64_t end = gaps[i].end_ns < window.end_ns ? gaps[i].end_ns : window.end_ns;
		if (end <= start)
			continue;
		sum += end - start;
		at = end;
	}
	return sum;
}

double lost_time_at_once(const struct lost_time *lost)
{
	struct lost_gap window = { 0, UINT64_MAX };
	size_t count = 0, at = 0;
	for (size_t i = 0; i < lost->count; i++) {
		const struct lost_cpu *cpu = &lost->cpus[i];
		window.start_ns = cpu->begin_ns > window.start_ns ? cpu->begin_ns : window.start_ns;
		window.end_ns = cpu->end_ns < window.end_ns ? cpu->end_ns : window.end_ns;
		count += cpu->gap_count;
	}
	struct lost_gap *all = calloc(count + 1, sizeof(*all));
	if (all == NULL || lost->count == 0 || window.end_ns <= window.start_ns) {
		free(all);
		return NAN;
	}
	for (size_t i = 0; i < lost->count; i++)
		for (size_t k = 0; k < lost->cpus[i].gap_count; k++)
			all[at++] = lost->cpus[i].gaps[k];
	qsort(all, count, sizeof(*all), compare_gaps);
	uint64_t away = covered(all, count, window);
	free(all);
	return 1 - (double)away / (double)(window.end_ns - window.start_ns);
}
