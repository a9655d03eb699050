/*
 * glibc's word of a spinlock: the only place that knows it. On x86-64, 1 is free, and waiters may
 * count it below 0; elsewhere 0 is free: nptl/pthread_spin_lock.c and its x86-64 namesake.
 */
#ifndef SHIM_SPINLOCK_H
#define SHIM_SPINLOCK_H

#include <pthread.h>
#include <stdbool.h>

#if defined(__x86_64__)
enum { SPINLOCK_TAKEN = 0, SPINLOCK_FREE = 1 };
#else
enum { SPINLOCK_FREE = 0, SPINLOCK_TAKEN = 1 };
#endif

static inline bool spinlock_is_free(const pthread_spinlock_t *lock)
{
	return __atomic_load_n(lock, __ATOMIC_RELAXED) == SPINLOCK_FREE;
}

static inline bool spinlock_take(pthread_spinlock_t *lock)
{
	/* Pairs with the release below and in libc's own unlock. */
	return __atomic_exchange_n(lock, SPINLOCK_TAKEN, __ATOMIC_ACQUIRE) == SPINLOCK_FREE;
}

static inline void spinlock_release(pthread_spinlock_t *lock)
{
	/* Pairs with the acquire of the next owner. */
	__atomic_store_n(lock, SPINLOCK_FREE, __ATOMIC_RELEASE);
}

#endif
