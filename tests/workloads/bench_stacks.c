/*
 * Times waits whose stack is taken: each at the end of DEPTH calls, for a mutex that the thread
 * itself holds, with a deadline that is none, so that it ends at once; and so far apart that none
 * is left out by the sampling. Prints one line, the median of all: work=1 cpu_ns=... wall_ns=...
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WAITS_MAX 10000
#define APART_NS  400000u

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t cpu_ns[WAITS_MAX], wall_ns[WAITS_MAX];

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static __attribute__((noinline)) int wait_once(int number)
{
	static const struct timespec none = { 1, -1 };
	uint64_t wall = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int result = pthread_mutex_timedlock(&mutex, &none);
	cpu_ns[number] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	wall_ns[number] = clock_ns(CLOCK_MONOTONIC) - wall;
	return result == EINVAL ? 0 : 1;
}

static __attribute__((noinline)) int call(int depth, int number)
{
	volatile int failed = depth <= 1 ? wait_once(number) : call(depth - 1, number);
	return failed;
}

/* Works, as a program does between two waits. */
static void pass_time(void)
{
	uint64_t started_ns = clock_ns(CLOCK_MONOTONIC);
	while (clock_ns(CLOCK_MONOTONIC) - started_ns < APART_NS)
		;
}

static int compare_ns(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
	int depth = argc == 3 ? atoi(argv[1]) : 0, waits = argc == 3 ? atoi(argv[2]) : 0;
	if (depth < 1 || waits < 1 || waits > WAITS_MAX) {
		fprintf(stderr, "usage: bench_stacks DEPTH WAITS(1..%d)\n", WAITS_MAX);
		return 2;
	}
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < waits; i++) {
		pass_time();
		if (call(depth, i) != 0) {
			fprintf(stderr, "bench_stacks: the wait did not give up\n");
			return 1;
		}
	}
	qsort(cpu_ns, (size_t)waits, sizeof(*cpu_ns), compare_ns);
	qsort(wall_ns, (size_t)waits, sizeof(*wall_ns), compare_ns);
	printf("work=1 cpu_ns=%" PRIu64 " wall_ns=%" PRIu64 "\n", cpu_ns[waits / 2],
	        wall_ns[waits / 2]);
	return 0;
}
