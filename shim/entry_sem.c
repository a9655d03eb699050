/*
 * The sem_ functions. A unit that is there is taken at once; else libc waits, after polls.
 */
#include <errno.h>
#include <semaphore.h>

#include "control.h"
#include "export.h"
#include "lifetime.h"
#include "limit.h"
#include "polling.h"
#include "probes/counters.h"
#include "real.h"
#include "semaphore.h"
#include "thread.h"
#include "waiting.h"

/* Where libc acts upon a pending cancellation, also when it need not wait. */
static inline void cancellation_point(void)
{
	if (__builtin_expect(real_functions.pthread_testcancel != NULL, 1))
		real_functions.pthread_testcancel();
}

static inline int acquired(struct record_thread *self)
{
	counter_add(&self->counters.sem.acquired, 1);
	return 0;
}

static bool ready(void *semaphore)
{
	return semaphore_take(semaphore);
}

static int libc_wait(sem_t *semaphore, const struct wait_limit *limit)
{
	if (limit->deadline == NULL)
		return REAL_THREADS(sem_wait)(semaphore);
	if (limit->clocklock)
		return REAL_THREADS(sem_clockwait)(semaphore, limit->clock, limit->deadline);
	return REAL_THREADS(sem_timedwait)(semaphore, limit->deadline);
}

/* error: errno of a wait that failed, else 0. */
static void count_wait(
        struct record_thread *self, const struct waiting *waiting, uint64_t wait_ns, int error)
{
	struct sem_counters *counters = &self->counters.sem;
	counter_add(&counters->contended, 1);
	counter_add(&counters->wait_ns_total, wait_ns);
	counter_max(&counters->wait_ns_max, wait_ns);
	if (error == ETIMEDOUT)
		counter_add(&counters->timed_out, 1);
	if (error == EINTR)
		counter_add(&counters->interrupted, 1);
	if (waiting->lost)
		counter_add(&counters->lost, 1);
}

/* There is no unit. May be left by a cancellation wherever libc's function may. */
static __attribute__((noinline)) int wait_for_unit(sem_t *semaphore, struct record_thread *self,
        const void *site, const struct wait_limit *limit)
{
	struct wait_event event = {
		.lock = (uint64_t)(uintptr_t)semaphore,
		.site = (uint64_t)(uintptr_t)site,
		.family = FAMILY_sem,
	};
	cancellation_point();
	struct waiting waiting = waiting_begin(self, &event);
	struct polling polling = polling_run(&control()->sem, ready, semaphore);
	int result = polling.useful ? 0 : libc_wait(semaphore, limit);
	uint64_t wait_ns = waiting_end(&waiting, result == 0);
	if (waiting.started_ns != 0) {
		polling_count(&polling, &self->counters.sem.spun);
		count_wait(self, &waiting, wait_ns, result != 0 ? errno : 0);
	}
	return result == 0 ? acquired(self) : result;
}

EXPORT int sem_init(sem_t *semaphore, int shared, unsigned value)
{
	lifetime_ends(semaphore, FAMILY_sem);
	int result = REAL_THREADS(sem_init)(semaphore, shared, value);
	if (result == 0)
		lifetime_begins(semaphore, CALL_SITE);
	return result;
}

EXPORT int sem_destroy(sem_t *semaphore)
{
	int result = REAL_THREADS(sem_destroy)(semaphore);
	if (result == 0)
		lifetime_ends(semaphore, FAMILY_sem);
	return result;
}

static __attribute__((noinline)) int wait_slow(
        sem_t *semaphore, struct record_thread *self, const void *site)
{
	struct wait_limit limit = limit_none();
	return wait_for_unit(semaphore, self, site, &limit);
}

EXPORT int sem_wait(sem_t *semaphore)
{
	struct record_thread *self = thread_current();
	if (__builtin_expect(self == NULL, 0))
		return REAL_THREADS(sem_wait)(semaphore);
	cancellation_point();
	if (__builtin_expect(!semaphore_take(semaphore), 0))
		return wait_slow(semaphore, self, CALL_SITE);
	return acquired(self);
}

EXPORT int sem_trywait(sem_t *semaphore)
{
	struct record_thread *self = thread_current();
	if (__builtin_expect(self == NULL, 0))
		return REAL_THREADS(sem_trywait)(semaphore);
	if (semaphore_take(semaphore))
		return acquired(self);
	counter_add(&self->counters.sem.try_failed, 1);
	errno = EAGAIN;
	return -1;
}

EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *deadline)
{
	struct record_thread *self = thread_current();
	struct wait_limit limit = limit_real(deadline);
	if (self == NULL || !limit_is_valid(&limit))
		return REAL_THREADS(sem_timedwait)(semaphore, deadline);
	cancellation_point();
	if (semaphore_take(semaphore))
		return acquired(self);
	return wait_for_unit(semaphore, self, CALL_SITE, &limit);
}

/* libc acts upon a pending cancellation here only when it has to wait. */
EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *deadline)
{
	struct record_thread *self = thread_current();
	struct wait_limit limit = limit_clock(clock, deadline);
	if (self == NULL || !limit_is_valid(&limit))
		return REAL_THREADS(sem_clockwait)(semaphore, clock, deadline);
	if (semaphore_take(semaphore))
		return acquired(self);
	return wait_for_unit(semaphore, self, CALL_SITE, &limit);
}

/* Programs call it in signal handlers: a handler may have interrupted any of the shim's functions.
 * The semaphore may be gone when libc's function returns. */
EXPORT int sem_post(sem_t *semaphore)
{
	struct record_thread *self = thread_current();
	int result = REAL_THREADS(sem_post)(semaphore);
	if (self != NULL && result == 0)
		counter_add(&self->counters.sem.posts, 1);
	return result;
}
