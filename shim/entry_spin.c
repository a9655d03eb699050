/*
 * The pthread_spin_ functions. A strategy decides how a waiter passes the time until libc's word is
 * free; like libc's own wait it never ends in a sleep.
 */
#include <errno.h>
#include <pthread.h>

#include "control.h"
#include "export.h"
#include "lifetime.h"
#include "polling.h"
#include "probes/counters.h"
#include "probes/sys.h"
#include "real.h"
#include "spinlock.h"
#include "strategy.h"
#include "thread.h"
#include "waiting.h"

static bool take_if_free(pthread_spinlock_t *lock)
{
	return spinlock_is_free(lock) && spinlock_take(lock);
}

static bool poll(pthread_spinlock_t *lock, struct polling *polling)
{
	polling->polls++;
	wait_pause(control_hint());
	return take_if_free(lock);
}

/* Under a seccomp filter a pause has to do. */
static bool yield(pthread_spinlock_t *lock, struct polling *polling)
{
	if (record_filtered())
		return poll(lock, polling);
	polling->yields++;
	sys_call3(SYS_sched_yield, 0, 0, 0);
	return take_if_free(lock);
}

/* Each of the three: a round of `count` steps; true once the lock is taken. */
static bool spin_round(pthread_spinlock_t *lock, struct polling *polling, uint32_t count)
{
	for (uint32_t i = 0; i < count && thread_may_poll(); i++)
		if (poll(lock, polling))
			return true;
	return yield(lock, polling);
}

static bool yield_round(pthread_spinlock_t *lock, struct polling *polling, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (yield(lock, polling))
			return true;
	return false;
}

static bool backoff_round(pthread_spinlock_t *lock, struct polling *polling, uint32_t count)
{
	struct wait_backoff backoff = { 0, thread_seed(), control_hint() };
	for (uint32_t i = 0; i < count && thread_may_poll(); i++) {
		wait_back_off(&backoff);
		if (poll(lock, polling))
			return true;
	}
	return yield(lock, polling);
}

/* The strategy is looked up anew for every round, since it may change while the thread waits. */
static struct polling wait_until_taken(pthread_spinlock_t *lock)
{
	const struct record_choice *choice = &control()->spinlock;
	struct polling polling = { 0, 0, false };
	while (!polling.useful) {
		uint32_t count = control_count(&choice->count);
		switch (polling_strategy(choice)) {
		case POLLING_spin:
			polling.useful = spin_round(lock, &polling, count);
			break;
		case POLLING_yield:
			polling.useful = yield_round(lock, &polling, count);
			break;
		case POLLING_backoff:
			polling.useful = backoff_round(lock, &polling, count);
			break;
		default:
			polling.useful = REAL_THREADS(pthread_spin_lock)(lock) == 0;
			break;
		}
	}
	return polling;
}

static __attribute__((noinline)) int wait_for_lock(
        pthread_spinlock_t *lock, struct record_thread *self, const void *site)
{
	struct wait_event event = {
		.lock = (uint64_t)(uintptr_t)lock,
		.site = (uint64_t)(uintptr_t)site,
		.family = FAMILY_spinlock,
	};
	struct waiting waiting = waiting_begin(self, &event);
	waiting_blame(&waiting, 0, 0);
	struct polling polling = wait_until_taken(lock);
	uint64_t wait_ns = waiting_end(&waiting, true);
	struct spinlock_counters *counters = &self->counters.spinlock;
	counter_add(&counters->acquired, 1);
	if (waiting.started_ns == 0)
		return 0;
	counter_add(&counters->contended, 1);
	counter_add(&counters->spun, polling.polls);
	counter_add(&counters->yielded, polling.yields);
	counter_add(&counters->wait_ns_total, wait_ns);
	counter_max(&counters->wait_ns_max, wait_ns);
	if (waiting.lost)
		counter_add(&counters->lost, 1);
	return 0;
}

EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
	lifetime_ends(lock, FAMILY_spinlock);
	spinlock_release(lock); /* for where libc's function is absent */
	int result = REAL_THREADS(pthread_spin_init)(lock, shared);
	if (result == 0)
		lifetime_begins(lock, CALL_SITE);
	return result;
}

EXPORT int pthread_spin_destroy(pthread_spinlock_t *lock)
{
	int result = REAL_THREADS(pthread_spin_destroy)(lock);
	if (result == 0)
		lifetime_ends(lock, FAMILY_spinlock);
	return result;
}

/* The thread's first call, or a lock that is taken. */
static __attribute__((noinline)) int lock_slow(pthread_spinlock_t *lock, const void *site)
{
	bool tried = thread_self != NULL;
	struct record_thread *self = thread_current();
	if (self == NULL)
		return REAL_THREADS(pthread_spin_lock)(lock);
	if (tried || !spinlock_take(lock))
		return wait_for_lock(lock, self, site);
	counter_add(&self->counters.spinlock.acquired, 1);
	return 0;
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
	struct record_thread *self = thread_self;
	if (__builtin_expect(self == NULL, 0))
		return lock_slow(lock, CALL_SITE);
	counter_add(&self->counters.spinlock.acquired, 1);
	if (__builtin_expect(spinlock_take(lock), 1))
		return 0;
	counter_take_back(&self->counters.spinlock.acquired);
	return lock_slow(lock, CALL_SITE);
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	struct record_thread *self = thread_current();
	if (__builtin_expect(self == NULL, 0))
		return REAL_THREADS(pthread_spin_trylock)(lock);
	if (!spinlock_take(lock)) {
		counter_add(&self->counters.spinlock.try_failed, 1);
		return EBUSY;
	}
	counter_add(&self->counters.spinlock.acquired, 1);
	return 0;
}

static __attribute__((noinline)) int libc_unlock(pthread_spinlock_t *lock)
{
	return REAL_THREADS(pthread_spin_unlock)(lock);
}

/* Does without the thread: that load would wait for the atomic operation of the acquisition. */
EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	if (__builtin_expect(!start_counting, 0))
		return libc_unlock(lock);
	spinlock_release(lock);
	return 0;
}
