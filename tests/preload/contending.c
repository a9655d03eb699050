/*
 * A library whose constructor and destructor wait for a mutex of the program that loads it, while
 * the loader's lock is theirs. CONTENDING_MUTEX: the mutex's address, as strtoull reads it.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define ROUNDS 20

static unsigned long long times;

static __attribute__((noinline)) void hold(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	times++;
	pthread_mutex_unlock(mutex);
}

static __attribute__((noinline)) void contend(void)
{
	const char *address = getenv("CONTENDING_MUTEX");
	for (int i = 0; address != NULL && i < ROUNDS; i++)
		hold((pthread_mutex_t *)(uintptr_t)strtoull(address, NULL, 0));
}

__attribute__((constructor)) static void construct(void)
{
	contend();
}

__attribute__((destructor)) static void destruct(void)
{
	contend();
}
