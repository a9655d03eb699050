/*
 * What a program may ask of a mutex, by whichever of libc's names: pthread_mutex_ or C11's mtx_.
 * The uncontended acquire and release are the same for all strategies: a branch on the kind, a
 * compare-and-swap, owner, user count and site, one counter.
 *
 * site: the return address of the program's call. All return error numbers as pthread_mutex_ does.
 */
#ifndef SHIM_MUTEX_CALLS_H
#define SHIM_MUTEX_CALLS_H

#include <pthread.h>
#include <time.h>

#include "mutex.h"
#include "probes/counters.h"
#include "thread.h"

/* Deadlines are absolute; timedlock's is of CLOCK_REALTIME. */
int mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline, const void *site);
int mutex_clocklock(
        pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline, const void *site);

/* What the three below leave undone: any kind, contended or not, in any thread. */
int mutex_lock_slow(pthread_mutex_t *mutex, const void *site);
int mutex_trylock_slow(pthread_mutex_t *mutex, const void *site);
int mutex_unlock_slow(pthread_mutex_t *mutex, const void *site);

/* A plain mutex whose kind knows its owner. */
int mutex_lock_checked(
        pthread_mutex_t *mutex, const void *site, struct record_thread *self, int kind);
int mutex_unlock_checked(
        pthread_mutex_t *mutex, const void *site, struct record_thread *self, int kind);

/* Wakes one sleeper; the word is free already, and the mutex may be gone. acquired_at: the site of
 * its acquisition. */
int mutex_wake(pthread_mutex_t *mutex, const void *site, struct record_thread *self, int kind,
        uint64_t acquired_at);

static inline int mutex_trylock(pthread_mutex_t *mutex, const void *site)
{
	struct record_thread *self = thread_self;
	int kind = mutex_kind(mutex);
	if (__builtin_expect(self != NULL && mutex_is_plain_normal(kind), 1) &&
	        mutex_try(mutex, kind)) {
		mutex_own(mutex, self->tid, site);
		counter_add(&self->counters.mutex.acquired, 1);
		return 0;
	}
	return mutex_trylock_slow(mutex, site);
}

static inline int mutex_lock(pthread_mutex_t *mutex, const void *site)
{
	struct record_thread *self = thread_self;
	int kind = mutex_kind(mutex);
	if (__builtin_expect(self != NULL, 1)) {
		if (__builtin_expect(mutex_is_plain_normal(kind), 1)) {
			if (__builtin_expect(mutex_try(mutex, kind), 1)) {
				mutex_own(mutex, self->tid, site);
				counter_add(&self->counters.mutex.acquired, 1);
				return 0;
			}
		} else if (mutex_is_plain(kind)) {
			return mutex_lock_checked(mutex, site, self, kind);
		}
	}
	return mutex_lock_slow(mutex, site);
}

static inline int mutex_unlock(pthread_mutex_t *mutex, const void *site)
{
	struct record_thread *self = thread_self;
	int kind = mutex_kind(mutex);
	if (__builtin_expect(self != NULL, 1)) {
		if (__builtin_expect(mutex_is_plain_normal(kind), 1)) {
			uint64_t acquired_at = mutex_site(mutex);
			if (__builtin_expect(mutex_release(mutex, kind), 0))
				return mutex_wake(mutex, site, self, kind, acquired_at);
			return 0;
		}
		if (mutex_is_plain(kind))
			return mutex_unlock_checked(mutex, site, self, kind);
	}
	return mutex_unlock_slow(mutex, site);
}

#endif
