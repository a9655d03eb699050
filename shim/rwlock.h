/*
 * glibc's words of a reader-writer lock: the only place that knows them. The states are those of
 * nptl/pthread_rwlock_common.c since 2.25; taking and giving back is left to libc, but for a
 * reader's first step into an idle lock.
 */
#ifndef SHIM_RWLOCK_H
#define SHIM_RWLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Bits of __readers; the number of readers lies above them. */
#define RWLOCK_WRITE_PHASE 1u /* readers that come have to wait, or to end the phase */
#define RWLOCK_WRITER      2u /* a writer has the lock or waits for the readers to leave */
#define RWLOCK_ONE_READER  8u

/* The lock is taken for reading and no writer is about: a further reader need not wait. */
static inline bool rwlock_is_read(const pthread_rwlock_t *lock)
{
	uint32_t state = __atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED);
	return state >= RWLOCK_ONE_READER && (state & (RWLOCK_WRITE_PHASE | RWLOCK_WRITER)) == 0;
}

/* Takes a lock that nobody has or waits for, and whose last user was a reader, for reading. */
static inline bool rwlock_read_idle(pthread_rwlock_t *lock)
{
	uint32_t *state = &lock->__data.__readers, idle = 0;
	if (__atomic_load_n(state, __ATOMIC_RELAXED) != idle)
		return false;
	/* Pairs with the release by which the last writer ended its phase. */
	return __atomic_compare_exchange_n(
	        state, &idle, RWLOCK_ONE_READER, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Kernel id of the thread that has the lock for writing, 0 none. */
static inline uint32_t rwlock_writer(const pthread_rwlock_t *lock)
{
	return (uint32_t)__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);
}

/* An unused word of the lock holds the return address of the call that acquired it for writing,
 * from there to the release; else it is 0, as libc leaves it. */
static inline void rwlock_set_site(pthread_rwlock_t *lock, const void *site)
{
	__atomic_store_n(&lock->__data.__pad2, (unsigned long)(uintptr_t)site, __ATOMIC_RELAXED);
}

static inline uint64_t rwlock_site(const pthread_rwlock_t *lock)
{
	return __atomic_load_n(&lock->__data.__pad2, __ATOMIC_RELAXED);
}

#endif
