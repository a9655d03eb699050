/*
 * Runs what is to run once: libc decides who runs the function and who waits, we count and time
 * both. Whatever leaves the function early (an exception, a cancellation, longjmp) finds nothing of
 * ours to undo.
 */
#include "once.h"

#include "control.h"
#include "probes/clock.h"
#include "probes/counters.h"
#include "real.h"
#include "thread.h"
#include "waiting.h"

#define ONCE_DONE 2 /* a bit of libc's word: nptl/pthread_once.c */

/* A call that found the work not done. */
struct once_call {
	void (*function)(void);
	bool ran;
};

/* The thread's latest call. It is read right after it was written, by the same thread: a function
 * that never returned to us leaves an old one behind, which nobody reads. */
static __thread struct once_call *latest __attribute__((tls_model("initial-exec")));

static uint64_t time_now(void)
{
	return control_stats_on() ? clock_monotonic_ns() : 0;
}

/* What libc runs in place of the program's function. */
static void run(void)
{
	struct once_call *call = latest;
	struct record_thread *self = thread_current();
	uint64_t started_ns = self != NULL ? time_now() : 0;
	call->ran = true;
	if (self != NULL)
		counter_add(&self->counters.once.ran, 1);
	call->function();
	self = thread_current(); /* another one, if the function has forked */
	if (self == NULL || started_ns == 0)
		return;
	uint64_t run_ns = clock_monotonic_ns() - started_ns;
	counter_add(&self->counters.once.run_ns_total, run_ns);
	counter_max(&self->counters.once.run_ns_max, run_ns);
}

/* Another thread has run the function meanwhile; only now is it known that the call has waited. */
static void count_wait(pthread_once_t *once, const void *site, uint64_t started_ns)
{
	struct record_thread *self = thread_current();
	struct wait_event event = {
		.lock = (uint64_t)(uintptr_t)once,
		.site = (uint64_t)(uintptr_t)site,
		.family = FAMILY_once,
	};
	if (self == NULL || started_ns == 0)
		return;
	struct waiting waiting = waiting_begin(self, &event);
	if (waiting.started_ns == 0)
		return;
	waiting.started_ns = started_ns;
	uint64_t wait_ns = waiting_end(&waiting, false);
	struct once_counters *counters = &self->counters.once;
	counter_add(&counters->contended, 1);
	counter_add(&counters->wait_ns_total, wait_ns);
	counter_max(&counters->wait_ns_max, wait_ns);
	if (waiting.lost)
		counter_add(&counters->lost, 1);
}

static __attribute__((noinline)) int once_slow(
        pthread_once_t *once, void (*function)(void), const void *site)
{
	struct once_call call = { function, false }, *before = latest;
	uint64_t started_ns = time_now();
	latest = &call;
	int result = real_functions.pthread_once(once, run);
	latest = before;
	if (!call.ran)
		count_wait(once, site, started_ns);
	return result;
}

/* libc before 2.34 without libpthread has no such function, and no second thread. */
static int once_alone(pthread_once_t *once, void (*function)(void))
{
	if (*once == PTHREAD_ONCE_INIT) {
		function();
		*once = ONCE_DONE;
	}
	return 0;
}

int once_call(pthread_once_t *once, void (*function)(void), const void *site)
{
	struct record_thread *self = thread_current();
	if (__builtin_expect(REAL(pthread_once) == NULL, 0))
		return once_alone(once, function);
	if (self == NULL)
		return real_functions.pthread_once(once, function);
	/* Pairs with the release by which libc marks the work as done. */
	if (__builtin_expect((__atomic_load_n(once, __ATOMIC_ACQUIRE) & ONCE_DONE) == 0, 0))
		return once_slow(once, function, site);
	counter_add(&self->counters.once.calls, 1);
	return 0;
}
