/*
 * The pthread_rwlock_ functions. libc keeps its lock in every way: whoever cannot have it at once
 * may poll it by libc's own try functions before libc's own function waits.
 */
#include <errno.h>
#include <pthread.h>

#include "control.h"
#include "export.h"
#include "hold.h"
#include "lifetime.h"
#include "limit.h"
#include "polling.h"
#include "probes/counters.h"
#include "probes/threads.h"
#include "real.h"
#include "rwlock.h"
#include "thread.h"
#include "waiting.h"

/* A call that may have to wait. */
struct call {
	pthread_rwlock_t *lock;
	struct record_thread *self;
	const void *site;
	enum record_mode mode;
	struct wait_limit limit;
};

/* The places where a lock changes hands. */
static inline void acquired_read(struct record_thread *self, const pthread_rwlock_t *lock)
{
	hold_rwlock_begins(self, lock, MODE_SHARED);
	counter_add(&self->counters.rwlock.read_acquired, 1);
}

static inline void signs_write(struct record_thread *self, pthread_rwlock_t *lock, const void *site)
{
	rwlock_set_site(lock, site);
	counter_add(&self->counters.rwlock.write_acquired, 1);
}

static inline void acquired_write(
        struct record_thread *self, pthread_rwlock_t *lock, const void *site)
{
	hold_rwlock_begins(self, lock, MODE_EXCLUSIVE);
	signs_write(self, lock, site);
}

static inline void releases(const struct record_thread *self, pthread_rwlock_t *lock)
{
	if (rwlock_writer(lock) == self->tid)
		rwlock_set_site(lock, NULL);
}

/* 0, EBUSY, or what else libc answered. libc's rdlock adds where its tryrdlock compares and swaps,
 * which fails whenever another reader comes or goes; so it is preferred where it does not wait. */
static inline int try_read(pthread_rwlock_t *lock)
{
	if (rwlock_is_read(lock))
		return REAL_THREADS(pthread_rwlock_rdlock)(lock);
	return REAL_THREADS(pthread_rwlock_tryrdlock)(lock);
}

static bool ready_to_read(void *lock)
{
	return REAL_THREADS(pthread_rwlock_tryrdlock)(lock) == 0;
}

static bool ready_to_write(void *lock)
{
	return REAL_THREADS(pthread_rwlock_trywrlock)(lock) == 0;
}

static int libc_wait(const struct call *call)
{
	const struct wait_limit *limit = &call->limit;
	bool reads = call->mode == MODE_SHARED;
	if (limit->deadline == NULL)
		return reads ? REAL_THREADS(pthread_rwlock_rdlock)(call->lock)
		             : REAL_THREADS(pthread_rwlock_wrlock)(call->lock);
	if (!limit->clocklock)
		return reads ? REAL_THREADS(pthread_rwlock_timedrdlock)(call->lock, limit->deadline)
		             : REAL_THREADS(pthread_rwlock_timedwrlock)(
		                       call->lock, limit->deadline);
	return reads ? REAL_THREADS(pthread_rwlock_clockrdlock)(
	                       call->lock, limit->clock, limit->deadline)
	             : REAL_THREADS(pthread_rwlock_clockwrlock)(
	                       call->lock, limit->clock, limit->deadline);
}

static void count_wait(
        const struct call *call, const struct waiting *waiting, uint64_t wait_ns, int result)
{
	struct rwlock_counters *counters = &call->self->counters.rwlock;
	bool reads = call->mode == MODE_SHARED;
	counter_add(reads ? &counters->read_contended : &counters->write_contended, 1);
	counter_add(
	        reads ? &counters->read_wait_ns_total : &counters->write_wait_ns_total, wait_ns);
	counter_max(reads ? &counters->read_wait_ns_max : &counters->write_wait_ns_max, wait_ns);
	if (result == ETIMEDOUT)
		counter_add(&counters->timed_out, 1);
	if (waiting->lost)
		counter_add(&counters->lost, 1);
}

/* Readers that hold a lock are not known. The site is an address of the writer's own process. */
static void blame_writer(struct waiting *waiting, const pthread_rwlock_t *lock)
{
	uint32_t writer = rwlock_writer(lock);
	uint64_t site = rwlock_site(lock);
	bool is_ours = writer != 0 && record_thread_find(writer) != NULL;
	waiting_blame(waiting, is_ours ? writer : 0, is_ours ? site : 0);
}

static int wait_contended(const struct call *call)
{
	struct wait_event event = {
		.lock = (uint64_t)(uintptr_t)call->lock,
		.site = (uint64_t)(uintptr_t)call->site,
		.family = FAMILY_rwlock,
		.mode = call->mode,
	};
	struct waiting waiting = waiting_begin(call->self, &event);
	blame_writer(&waiting, call->lock);
	struct polling polling = polling_run(&control()->rwlock,
	        call->mode == MODE_SHARED ? ready_to_read : ready_to_write, call->lock);
	int result = polling.useful ? 0 : libc_wait(call);
	uint64_t wait_ns = waiting_end(&waiting, result == 0);
	if (waiting.started_ns != 0) {
		polling_count(&polling, &call->self->counters.rwlock.spun);
		count_wait(call, &waiting, wait_ns, result);
	}
	return result;
}

/* tried: what an attempt to have the lock at once has answered. */
static __attribute__((noinline)) int acquire(const struct call *call, int tried)
{
	int result = tried;
	if (tried == EBUSY && rwlock_writer(call->lock) != call->self->tid)
		result = wait_contended(call);
	else if (tried != 0) /* libc knows better: a deadlock, too many readers */
		result = libc_wait(call);
	if (result != 0)
		return result;
	if (call->mode == MODE_SHARED)
		acquired_read(call->self, call->lock);
	else
		acquired_write(call->self, call->lock, call->site);
	return 0;
}

static int acquire_until(const struct call *call)
{
	if (!limit_is_valid(&call->limit))
		return libc_wait(call);
	if (call->mode == MODE_SHARED)
		return acquire(call, try_read(call->lock));
	return acquire(call, REAL_THREADS(pthread_rwlock_trywrlock)(call->lock));
}

EXPORT int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
	lifetime_ends(lock, FAMILY_rwlock);
	int result = REAL_THREADS(pthread_rwlock_init)(lock, attributes);
	if (result == 0)
		lifetime_begins(lock, CALL_SITE);
	return result;
}
EXPORT_AS(__pthread_rwlock_init, pthread_rwlock_init);

EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
	int result = REAL_THREADS(pthread_rwlock_destroy)(lock);
	if (result == 0)
		lifetime_ends(lock, FAMILY_rwlock);
	return result;
}
EXPORT_AS(__pthread_rwlock_destroy, pthread_rwlock_destroy);

/* A lock that is not idle, or the thread's first call. */
static __attribute__((noinline)) int rdlock_slow(pthread_rwlock_t *lock, const void *site)
{
	struct record_thread *self = thread_current();
	if (self == NULL)
		return REAL_THREADS(pthread_rwlock_rdlock)(lock);
	struct call call = { lock, self, site, MODE_SHARED, limit_none() };
	return acquire(&call, try_read(lock));
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	struct record_thread *self = thread_self;
	if (__builtin_expect(self == NULL, 0))
		return rdlock_slow(lock, CALL_SITE);
	counter_add(&self->counters.rwlock.read_acquired, 1);
	if (rwlock_read_idle(lock))
		return 0;
	counter_take_back(&self->counters.rwlock.read_acquired);
	return rdlock_slow(lock, CALL_SITE);
}
EXPORT_AS(__pthread_rwlock_rdlock, pthread_rwlock_rdlock);

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
	struct record_thread *self = thread_current();
	int result = REAL_THREADS(pthread_rwlock_tryrdlock)(lock);
	if (self != NULL && result == 0)
		acquired_read(self, lock);
	else if (self != NULL && result == EBUSY)
		counter_add(&self->counters.rwlock.try_failed, 1);
	return result;
}
EXPORT_AS(__pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock);

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *deadline)
{
	struct record_thread *self = thread_current();
	if (self == NULL)
		return REAL_THREADS(pthread_rwlock_timedrdlock)(lock, deadline);
	return acquire_until(
	        &(struct call){ lock, self, CALL_SITE, MODE_SHARED, limit_real(deadline) });
}

EXPORT int pthread_rwlock_clockrdlock(
        pthread_rwlock_t *lock, clockid_t clock, const struct timespec *deadline)
{
	struct record_thread *self = thread_current();
	if (self == NULL)
		return REAL_THREADS(pthread_rwlock_clockrdlock)(lock, clock, deadline);
	return acquire_until(
	        &(struct call){ lock, self, CALL_SITE, MODE_SHARED, limit_clock(clock, deadline) });
}

static __attribute__((noinline)) int wrlock_tried(
        pthread_rwlock_t *lock, struct record_thread *self, const void *site, int tried)
{
	return acquire(&(struct call){ lock, self, site, MODE_EXCLUSIVE, limit_none() }, tried);
}

static __attribute__((noinline)) int wrlock_slow(pthread_rwlock_t *lock, const void *site)
{
	struct record_thread *self = thread_current();
	if (self == NULL)
		return REAL_THREADS(pthread_rwlock_wrlock)(lock);
	return wrlock_tried(lock, self, site, REAL_THREADS(pthread_rwlock_trywrlock)(lock));
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	struct record_thread *self = thread_self;
	if (__builtin_expect(self == NULL, 0))
		return wrlock_slow(lock, CALL_SITE);
	int tried = REAL_THREADS(pthread_rwlock_trywrlock)(lock);
	if (__builtin_expect(tried != 0, 0))
		return wrlock_tried(lock, self, CALL_SITE, tried);
	signs_write(self, lock, CALL_SITE);
	return 0;
}
EXPORT_AS(__pthread_rwlock_wrlock, pthread_rwlock_wrlock);

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
	struct record_thread *self = thread_current();
	int result = REAL_THREADS(pthread_rwlock_trywrlock)(lock);
	if (self != NULL && result == 0)
		acquired_write(self, lock, CALL_SITE);
	else if (self != NULL && result == EBUSY)
		counter_add(&self->counters.rwlock.try_failed, 1);
	return result;
}
EXPORT_AS(__pthread_rwlock_trywrlock, pthread_rwlock_trywrlock);

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *deadline)
{
	struct record_thread *self = thread_current();
	if (self == NULL)
		return REAL_THREADS(pthread_rwlock_timedwrlock)(lock, deadline);
	return acquire_until(
	        &(struct call){ lock, self, CALL_SITE, MODE_EXCLUSIVE, limit_real(deadline) });
}

EXPORT int pthread_rwlock_clockwrlock(
        pthread_rwlock_t *lock, clockid_t clock, const struct timespec *deadline)
{
	struct record_thread *self = thread_current();
	if (self == NULL)
		return REAL_THREADS(pthread_rwlock_clockwrlock)(lock, clock, deadline);
	return acquire_until(&(struct call){
	        lock, self, CALL_SITE, MODE_EXCLUSIVE, limit_clock(clock, deadline) });
}

static __attribute__((noinline)) int unlock_slow(pthread_rwlock_t *lock)
{
	struct record_thread *self = thread_current();
	if (self != NULL) {
		hold_rwlock_ends(self, lock);
		releases(self, lock);
	}
	return REAL_THREADS(pthread_rwlock_unlock)(lock);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	const struct record_thread *self = thread_self;
	if (__builtin_expect(self == NULL, 0))
		return unlock_slow(lock);
	releases(self, lock);
	return REAL_THREADS(pthread_rwlock_unlock)(lock);
}
EXPORT_AS(__pthread_rwlock_unlock, pthread_rwlock_unlock);
