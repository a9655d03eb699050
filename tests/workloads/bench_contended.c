/*
 * Many threads, one mutex, a short critical section and a short pause between two of them: where
 * the way to wait decides the throughput. The protected counters are plain, so that a lock which
 * does not exclude is a failure and not a fast result. Prints KEY=VALUE for bench_arms.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 1024
#define INSIDE      8
#define OUTSIDE     40

static struct {
	pthread_mutex_t mutex;
	uint64_t counters[INSIDE] __attribute__((aligned(64)));
} shared __attribute__((aligned(64))) = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static pthread_barrier_t start;
static bool stop;

struct worker {
	pthread_t thread;
	uint64_t sections;
} __attribute__((aligned(64)));

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t process_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u;
}

static void *worker_run(void *argument)
{
	struct worker *worker = argument;
	uint64_t random = (uintptr_t)worker | 1, sections = 0;

	pthread_barrier_wait(&start);
	do {
		pthread_mutex_lock(&shared.mutex);
		for (int i = 0; i < INSIDE; i++)
			shared.counters[i]++;
		pthread_mutex_unlock(&shared.mutex);
		for (int i = 0; i < OUTSIDE; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			__asm__ volatile("" : "+r"(random));
		}
		sections++;
	} while (!__atomic_load_n(&stop, __ATOMIC_RELAXED));
	worker->sections = sections;
	return NULL;
}

/* The sections of all workers; exits when a protected counter disagrees with it. */
static uint64_t sections_checked(const struct worker *workers, unsigned threads)
{
	uint64_t sections = 0;

	for (unsigned i = 0; i < threads; i++)
		sections += workers[i].sections;
	for (int i = 0; i < INSIDE; i++) {
		if (shared.counters[i] != sections) {
			fprintf(stderr,
			        "bench_contended: the mutex did not exclude: counter %d is %" PRIu64
			        " after %" PRIu64 " sections\n",
			        i, shared.counters[i], sections);
			exit(1);
		}
	}
	return sections;
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS_MAX];
	unsigned threads = argc == 3 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	useconds_t ms = argc == 3 ? (useconds_t)strtoul(argv[2], NULL, 10) : 0;
	uint64_t cpu_ns, wall_ns, sections;

	if (!threads || threads > THREADS_MAX || !ms) {
		fprintf(stderr, "usage: bench_contended THREADS(1..%d) MILLISECONDS\n",
		        THREADS_MAX);
		return 2;
	}
	pthread_barrier_init(&start, NULL, threads + 1);
	for (unsigned i = 0; i < threads; i++) {
		if (pthread_create(&workers[i].thread, NULL, worker_run, &workers[i])) {
			fprintf(stderr, "bench_contended: cannot create thread %u\n", i);
			return 1;
		}
	}
	/* From before the start: no worker's section may fall outside of what is timed. */
	wall_ns = monotonic_ns();
	cpu_ns = process_cpu_ns();
	pthread_barrier_wait(&start);
	usleep(ms * 1000);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	cpu_ns = process_cpu_ns() - cpu_ns;
	wall_ns = monotonic_ns() - wall_ns;
	sections = sections_checked(workers, threads);
	printf("work=%" PRIu64 " cpu_ns=%" PRIu64 " wall_ns=%" PRIu64 "\n", sections, cpu_ns,
	        wall_ns);
	return 0;
}
