/*
 * Acquires and releases mutexes of all kinds: the plain ones on their words, the others by libc.
 */
#include "mutex_calls.h"

#include <errno.h>

#include "futex.h"
#include "hold.h"
#include "probes/record_map.h"
#include "probes/waits.h"
#include "real.h"
#include "stacks.h"
#include "wait.h"

static const struct wait_limit no_limit = { CLOCK_REALTIME, NULL, false };

/* Counts a call that libc carried out because of the mutex's kind. */
static int passed(struct record_thread *self, int result)
{
	counter_add(&self->counters.mutex.passed_through, 1);
	if (result == EOWNERDEAD)
		counter_add(&self->counters.mutex.owner_died, 1);
	return result;
}

/* A second acquisition by the owner: what the kind makes of it; 0 when there is none. */
static int relock(pthread_mutex_t *mutex, struct record_thread *self, int kind, bool *done)
{
	*done = mutex_owner(mutex) == self->tid;
	if (!*done)
		return 0;
	if ((kind & KIND_TYPE) == KIND_ERRORCHECK)
		return EDEADLK;
	if (mutex->__data.__count + 1 == 0)
		return EAGAIN; /* the counter is full */
	mutex->__data.__count++;
	counter_add(&self->counters.mutex.acquired, 1);
	return 0;
}

/* Plain mutexes of any type, contended or not. */
static int acquire(pthread_mutex_t *mutex, struct record_thread *self, const void *site,
        const struct wait_limit *limit)
{
	int kind = mutex_kind(mutex), type = kind & KIND_TYPE;
	int result = 0;
	if (type == KIND_RECURSIVE || type == KIND_ERRORCHECK) {
		bool done;
		result = relock(mutex, self, kind, &done);
		if (done)
			return result;
	}
	if (mutex_try(mutex, kind))
		mutex_own(mutex, self->tid, site);
	else
		result = wait_for_mutex(mutex, self, site, limit);
	if (result != 0)
		return result;
	hold_mutex_begins(self, mutex);
	if (type == KIND_RECURSIVE)
		mutex->__data.__count = 1;
	counter_add(&self->counters.mutex.acquired, 1);
	return 0;
}

int mutex_trylock_slow(pthread_mutex_t *mutex, const void *site)
{
	struct record_thread *self = thread_current();
	int kind = mutex_kind(mutex);
	if (self == NULL)
		return REAL(pthread_mutex_trylock)(mutex);
	if (!mutex_is_plain(kind))
		return passed(self, REAL(pthread_mutex_trylock)(mutex));
	if ((kind & KIND_TYPE) == KIND_RECURSIVE) {
		bool done;
		int result = relock(mutex, self, kind, &done);
		if (done)
			return result;
	}
	if (!mutex_try(mutex, kind)) {
		counter_add(&self->counters.mutex.try_failed, 1);
		return EBUSY;
	}
	mutex_own(mutex, self->tid, site);
	hold_mutex_begins(self, mutex);
	if ((kind & KIND_TYPE) == KIND_RECURSIVE)
		mutex->__data.__count = 1;
	counter_add(&self->counters.mutex.acquired, 1);
	return 0;
}

static __attribute__((noinline)) int lock_any(pthread_mutex_t *mutex, const void *site)
{
	struct record_thread *self = thread_current();
	if (self == NULL)
		return REAL(pthread_mutex_lock)(mutex);
	if (!mutex_is_plain(mutex_kind(mutex)))
		return passed(self, REAL(pthread_mutex_lock)(mutex));
	return acquire(mutex, self, site, &no_limit);
}

int mutex_lock_slow(pthread_mutex_t *mutex, const void *site)
{
	struct holder *holder = hold_quick;
	int kind = mutex_kind(mutex);
	if (holder != NULL && mutex_is_plain_normal(kind)) {
		uint64_t lock = (uint64_t)(uintptr_t)mutex;
		struct known *known = hold_known(holder, lock);
		if (known->lock == lock && mutex_try(mutex, kind)) {
			mutex_own(mutex, holder->self->tid, site);
			counter_add(&holder->self->counters.mutex.acquired, 1);
			hold_mutex_begins_quickly(known);
			return 0;
		}
	}
	return lock_any(mutex, site);
}

/* A free mutex whose kind knows its owner; anything else is left to mutex_lock_slow. */
int mutex_lock_checked(
        pthread_mutex_t *mutex, const void *site, struct record_thread *self, int kind)
{
	if (mutex_owner(mutex) == self->tid || !mutex_try(mutex, kind))
		return mutex_lock_slow(mutex, site);
	mutex_own(mutex, self->tid, site);
	if ((kind & KIND_TYPE) == KIND_RECURSIVE)
		mutex->__data.__count = 1;
	counter_add(&self->counters.mutex.acquired, 1);
	return 0;
}

int mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline, const void *site)
{
	struct record_thread *self = thread_current();
	struct wait_limit limit = { CLOCK_REALTIME, deadline, false };
	if (self == NULL)
		return REAL(pthread_mutex_timedlock)(mutex, deadline);
	if (!mutex_is_plain(mutex_kind(mutex)))
		return passed(self, REAL(pthread_mutex_timedlock)(mutex, deadline));
	return acquire(mutex, self, site, &limit);
}

int mutex_clocklock(
        pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline, const void *site)
{
	struct record_thread *self = thread_current();
	struct wait_limit limit = { clock, deadline, true };
	if (self == NULL)
		return REAL(pthread_mutex_clocklock)(mutex, clock, deadline);
	if (!mutex_is_plain(mutex_kind(mutex)))
		return passed(self, REAL(pthread_mutex_clocklock)(mutex, clock, deadline));
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return EINVAL;
	return acquire(mutex, self, site, &limit);
}

int mutex_wake(pthread_mutex_t *mutex, const void *site, struct record_thread *self, int kind,
        uint64_t acquired_at)
{
	counter_add(&self->counters.mutex.woken, 1);
	futex_wake_one(&mutex->__data.__lock, mutex_is_shared(kind));
	record_wait_flush(self);
	stacks_released(acquired_at, site);
	return 0;
}

static __attribute__((noinline)) int unlock_any(pthread_mutex_t *mutex, const void *site)
{
	struct record_thread *self = thread_current();
	int kind = mutex_kind(mutex), type = kind & KIND_TYPE;
	if (self == NULL)
		return REAL(pthread_mutex_unlock)(mutex);
	if (!mutex_is_plain(kind)) {
		/* Acquired by us before libc chose elision for it: libc would leave these set. */
		if ((kind & KIND_ELISION) != 0 && mutex_owner(mutex) == self->tid)
			mutex_disown(mutex);
		return passed(self, REAL(pthread_mutex_unlock)(mutex));
	}
	if (type == KIND_RECURSIVE) {
		if (mutex_owner(mutex) != self->tid)
			return EPERM;
		if (--mutex->__data.__count != 0)
			return 0;
	} else if (type == KIND_ERRORCHECK) {
		if (mutex_owner(mutex) != self->tid || mutex->__data.__lock == WORD_FREE)
			return EPERM;
	}
	hold_mutex_ends(self, mutex, true);
	uint64_t acquired_at = mutex_site(mutex);
	return mutex_release(mutex, kind) ? mutex_wake(mutex, site, self, kind, acquired_at) : 0;
}

int mutex_unlock_slow(pthread_mutex_t *mutex, const void *site)
{
	struct holder *holder = hold_quick;
	int kind = mutex_kind(mutex);
	if (holder == NULL || !mutex_is_plain_normal(kind) ||
	        !hold_mutex_ends_quickly(holder, mutex))
		return unlock_any(mutex, site);
	uint64_t acquired_at = mutex_site(mutex);
	if (__builtin_expect(mutex_release(mutex, kind), 0))
		return mutex_wake(mutex, site, holder->self, kind, acquired_at);
	return 0;
}

/* A mutex whose kind knows its owner, released for good by it; anything else is left to
 * mutex_unlock_slow. */
int mutex_unlock_checked(
        pthread_mutex_t *mutex, const void *site, struct record_thread *self, int kind)
{
	uint64_t acquired_at = mutex_site(mutex);
	if (mutex_owner(mutex) != self->tid || mutex->__data.__count > 1)
		return mutex_unlock_slow(mutex, site);
	mutex->__data.__count = 0;
	if (__builtin_expect(mutex_release(mutex, kind), 0))
		return mutex_wake(mutex, site, self, kind, acquired_at);
	return 0;
}
