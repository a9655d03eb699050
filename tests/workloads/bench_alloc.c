/*
 * Times blocks that are got and given back: each thread holds some of many sizes, and puts a new
 * one in the place of one chosen by chance. Prints one line: work=BLOCKS cpu_ns=... wall_ns=...
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define HELD        1000u
#define THREADS_MAX 64

static unsigned long rounds;
static unsigned bytes_most;
static pthread_barrier_t barrier;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Marsaglia's xorshift (Journal of Statistical Software 8, 14). */
static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void *work(void *argument)
{
	char *held[HELD] = { NULL };
	uint32_t state = (uint32_t)(uintptr_t)argument;
	pthread_barrier_wait(&barrier);
	for (unsigned long i = 0; i < rounds; i++) {
		uint32_t random = next_random(&state);
		char **place = &held[random % HELD];
		free(*place);
		*place = malloc(16 + random / HELD % bytes_most);
		if (*place == NULL)
			abort();
		**place = 1;
	}
	for (unsigned i = 0; i < HELD; i++)
		free(held[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc == 4 ? atoi(argv[1]) : 0;
	pthread_t made[THREADS_MAX];
	if (threads < 1 || threads > THREADS_MAX) {
		fprintf(stderr, "usage: %s THREADS ROUNDS BYTES\n", argv[0]);
		return 2;
	}
	rounds = strtoul(argv[2], NULL, 10);
	bytes_most = (unsigned)atoi(argv[3]);
	pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&made[i], NULL, work, (void *)(uintptr_t)(i + 1)) != 0)
			return 1;
	uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID), wall = clock_ns(CLOCK_MONOTONIC);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < threads; i++)
		pthread_join(made[i], NULL);
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = clock_ns(CLOCK_MONOTONIC) - wall;
	printf("work=%lu cpu_ns=%" PRIu64 " wall_ns=%" PRIu64 "\n", rounds * (unsigned)threads, cpu,
	        wall);
	return 0;
}
