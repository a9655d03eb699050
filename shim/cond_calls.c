/*
 * Waits for condition variables: libc waits, we count and time. The mutex stays libc's for the
 * length of the call; the site written on it is taken off before and put on again after.
 */
#include "cond_calls.h"

#include <errno.h>
#include <stdbool.h>

#include "hold.h"
#include "mutex.h"
#include "probes/clock.h"
#include "probes/conds.h"
#include "probes/counters.h"
#include "probes/record_map.h"
#include "real.h"
#include "thread.h"

/* One wait on its way. */
struct cond_wait {
	struct record_thread *self;
	struct record_cond *cond;
	uint64_t started_ns;
	bool timed; /* statistics are on */
	bool ours;  /* the mutex is a plain one that the thread owns */
	bool frees; /* and that is released for the wait: libc takes back one lock of a recursive
	               one */
};

static bool stats_on(void)
{
	const struct record_control *control = record_entry(REGION_CONTROL, 0);
	return control->stats != STATS_OFF;
}

static struct cond_wait wait_begins(
        struct record_thread *self, pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	struct cond_wait wait = { .self = self, .timed = stats_on() };
	wait.ours = mutex_is_plain(mutex_kind(mutex)) && mutex_owner(mutex) == self->tid;
	wait.frees = wait.ours && mutex_depth(mutex) <= 1;
	if (wait.ours)
		mutex_set_site(mutex, NULL);
	if (wait.frees)
		hold_mutex_ends(self, mutex, false);
	if (wait.timed) {
		wait.started_ns = clock_monotonic_ns();
		wait.cond = record_cond_enter((uint64_t)(uintptr_t)cond);
		thread_waits_on(wait.cond);
	}
	return wait;
}

static void count_times(struct record_thread *self, uint64_t signal_ns, uint64_t mutex_ns)
{
	counter_add(&self->counters.cond.signal_wait_ns_total, signal_ns);
	counter_max(&self->counters.cond.signal_wait_ns_max, signal_ns);
	counter_add(&self->counters.cond.mutex_wait_ns_total, mutex_ns);
	counter_max(&self->counters.cond.mutex_wait_ns_max, mutex_ns);
}

static int wait_ends(
        const struct cond_wait *wait, pthread_mutex_t *mutex, const void *site, int result)
{
	struct record_thread *self = wait->self;
	bool waited = result == 0 || result == ETIMEDOUT;
	if (wait->ours)
		mutex_set_site(mutex, site);
	if (wait->frees)
		hold_mutex_begins(self, mutex);
	if (wait->timed) {
		thread_waits_on(NULL);
		uint64_t signalled_ns =
		        record_cond_leave(wait->cond, wait->started_ns, result == 0);
		uint64_t now = clock_monotonic_ns();
		bool split = signalled_ns != 0 && signalled_ns <= now;
		if (!waited)
			return result;
		if (!split)
			signalled_ns = now;
		if (!split && result == 0)
			counter_add(&self->counters.cond.unsplit, 1);
		count_times(self, signalled_ns - wait->started_ns, now - signalled_ns);
	}
	if (waited)
		counter_add(&self->counters.cond.waits, 1);
	if (result == ETIMEDOUT)
		counter_add(&self->counters.cond.timed_out, 1);
	return result;
}

/* Waiters want to know of the signals of threads that are not counted themselves. */
static void note_signal(const pthread_cond_t *cond, bool broadcast)
{
	if (start_counting)
		record_cond_signal((uint64_t)(uintptr_t)cond, broadcast);
}

int cond_signal(pthread_cond_t *cond, __typeof__(pthread_cond_signal) *libc)
{
	struct record_thread *self = thread_current();
	if (self != NULL)
		counter_add(&self->counters.cond.signals, 1);
	note_signal(cond, false);
	return libc(cond);
}

int cond_broadcast(pthread_cond_t *cond, __typeof__(pthread_cond_broadcast) *libc)
{
	struct record_thread *self = thread_current();
	if (self != NULL)
		counter_add(&self->counters.cond.broadcasts, 1);
	note_signal(cond, true);
	return libc(cond);
}

int cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const void *site,
        __typeof__(pthread_cond_wait) *libc)
{
	struct record_thread *self = thread_current();
	if (self == NULL)
		return libc(cond, mutex);
	struct cond_wait wait = wait_begins(self, cond, mutex);
	return wait_ends(&wait, mutex, site, libc(cond, mutex));
}

int cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline,
        const void *site, __typeof__(pthread_cond_timedwait) *libc)
{
	struct record_thread *self = thread_current();
	if (self == NULL)
		return libc(cond, mutex, deadline);
	struct cond_wait wait = wait_begins(self, cond, mutex);
	return wait_ends(&wait, mutex, site, libc(cond, mutex, deadline));
}

int cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
        const struct timespec *deadline, const void *site)
{
	struct record_thread *self = thread_current();
	if (self == NULL)
		return REAL(pthread_cond_clockwait)(cond, mutex, clock, deadline);
	struct cond_wait wait = wait_begins(self, cond, mutex);
	return wait_ends(
	        &wait, mutex, site, REAL(pthread_cond_clockwait)(cond, mutex, clock, deadline));
}
