/*
 * glibc's word of a semaphore: the only place that knows it. The lower half is the value, the upper
 * one the number of waiters: nptl/sem_waitcommon.c since 2.21.
 */
#ifndef SHIM_SEMAPHORE_H
#define SHIM_SEMAPHORE_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

/* Takes a unit when there is one, as libc's sem_trywait, but leaves errno alone. */
static inline bool semaphore_take(sem_t *semaphore)
{
	uint64_t *word = (uint64_t *)(void *)semaphore;
	uint64_t value = __atomic_load_n(word, __ATOMIC_RELAXED);
	while ((uint32_t)value != 0)
		/* Pairs with the release in libc's sem_post. */
		if (__atomic_compare_exchange_n(
		            word, &value, value - 1, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
	return false;
}

#endif
