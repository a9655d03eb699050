/*
 * Times uncontended acquire and release in batches, in a process of one thread or with a second
 * thread asleep: glibc takes a cheaper path while there has only ever been one thread. Prints
 * one line of KEY=VALUE for bench_arms: the median batch, and the shortest one's CPU time.
 */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define BATCHES 7

static pthread_mutex_t mutex __attribute__((aligned(64)));
static pthread_rwlock_t rwlock __attribute__((aligned(64))) = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock __attribute__((aligned(64)));
static sem_t semaphore __attribute__((aligned(64)));
static mtx_t c11_mutex __attribute__((aligned(64)));

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void pairs_lock(uint64_t pairs)
{
	while (pairs--) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

static void pairs_trylock(uint64_t pairs)
{
	while (pairs--) {
		if (pthread_mutex_trylock(&mutex) == 0)
			pthread_mutex_unlock(&mutex);
	}
}

static void pairs_read(uint64_t pairs)
{
	while (pairs--) {
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	}
}

static void pairs_write(uint64_t pairs)
{
	while (pairs--) {
		pthread_rwlock_wrlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	}
}

static void pairs_spin(uint64_t pairs)
{
	while (pairs--) {
		pthread_spin_lock(&spinlock);
		pthread_spin_unlock(&spinlock);
	}
}

static void pairs_sem(uint64_t pairs)
{
	while (pairs--) {
		sem_wait(&semaphore);
		sem_post(&semaphore);
	}
}

static void pairs_c11(uint64_t pairs)
{
	while (pairs--) {
		mtx_lock(&c11_mutex);
		mtx_unlock(&c11_mutex);
	}
}

static const struct operation {
	const char *name;
	int kind; /* of the mutex, where it is one */
	void (*run)(uint64_t pairs);
} operations[] = {
	{ "lock", PTHREAD_MUTEX_NORMAL, pairs_lock },
	{ "trylock", PTHREAD_MUTEX_NORMAL, pairs_trylock },
	{ "recursive", PTHREAD_MUTEX_RECURSIVE, pairs_lock },
	{ "errorcheck", PTHREAD_MUTEX_ERRORCHECK, pairs_lock },
	{ "read", 0, pairs_read },
	{ "write", 0, pairs_write },
	{ "spinlock", 0, pairs_spin },
	{ "semaphore", 0, pairs_sem },
	{ "c11", 0, pairs_c11 },
};

static const struct operation *operation_find(const char *name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
		if (strcmp(operations[i].name, name) == 0)
			return &operations[i];
	}
	return NULL;
}

static void *sleep_forever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void measure(const struct operation *operation, uint64_t pairs)
{
	uint64_t cpu_ns[BATCHES], wall_ns[BATCHES];

	operation->run(pairs / 10 + 1);
	for (int i = 0; i < BATCHES; i++) {
		uint64_t wall = clock_ns(CLOCK_MONOTONIC);
		uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		operation->run(pairs);
		cpu_ns[i] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
		wall_ns[i] = clock_ns(CLOCK_MONOTONIC) - wall;
	}
	qsort(cpu_ns, BATCHES, sizeof(*cpu_ns), compare_ns);
	qsort(wall_ns, BATCHES, sizeof(*wall_ns), compare_ns);
	printf("work=%" PRIu64 " cpu_ns=%" PRIu64 " wall_ns=%" PRIu64 " cpu_min_ns=%" PRIu64 "\n",
	        pairs, cpu_ns[BATCHES / 2], wall_ns[BATCHES / 2], cpu_ns[0]);
}

int main(int argc, char **argv)
{
	const struct operation *operation = argc == 4 ? operation_find(argv[1]) : NULL;
	uint64_t pairs = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
	pthread_mutexattr_t attributes;
	pthread_t thread;

	if (!operation || !pairs) {
		fprintf(stderr, "usage: bench_pairs lock|trylock|recursive|errorcheck|read|write|"
		                "spinlock|semaphore|c11 single|multi PAIRS\n");
		return 2;
	}
	if (strcmp(argv[2], "multi") == 0 && pthread_create(&thread, NULL, sleep_forever, NULL)) {
		fprintf(stderr, "bench_pairs: cannot create a thread\n");
		return 1;
	}
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, operation->kind);
	pthread_mutex_init(&mutex, &attributes);
	pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
	sem_init(&semaphore, 0, 1);
	mtx_init(&c11_mutex, mtx_plain);
	measure(operation, pairs);
	return 0;
}
