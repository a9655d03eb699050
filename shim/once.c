/*
 * Runs what is to run once: libc decides who runs the function and who waits, we count and time
 * both. Whatever unwinds the function's frames (an exception, a cancellation, pthread_exit) is seen
 * and let through; longjmp is not seen, and finds nothing of ours to undo.
 */
#include "once.h"

#include <unwind.h>

#include "control.h"
#include "probes/clock.h"
#include "probes/counters.h"
#include "real.h"
#include "start.h"
#include "thread.h"
#include "waiting.h"

/* libc's word, nptl/pthread_once.c: two bits, then how many forks came before the run. */
#define ONCE_RUNNING   1
#define ONCE_DONE      2
#define ONCE_FORK_BITS 2

#define NESTED 4u /* functions within functions whose early end is timed */

/* A call that found the work not done. */
struct once_call {
	pthread_once_t *once;
	void (*function)(void);
	const void *site;
	uint64_t started_ns; /* 0: statistics are off */
	bool waits;          /* another thread was running the function as the call came */
	bool ran;
};

/* The thread's latest call. It is read right after it was written, by the same thread: a function
 * that never returned to us leaves an old one behind, which nobody reads. */
static __thread struct once_call *latest __attribute__((tls_model("initial-exec")));

/* When the functions that the thread is in began, from the outermost; 0: not timed. A longjmp out
 * of one leaves its entry behind, which takes that place for good. */
static __thread struct {
	uint32_t depth;
	uint64_t started_ns[NESTED];
} running __attribute__((tls_model("initial-exec")));

static uint64_t time_now(void)
{
	return control_stats_on() ? clock_monotonic_ns() : 0;
}

/* The call has waited for another thread; only now is it known. */
static void count_wait(const struct once_call *call)
{
	struct record_thread *self = thread_current();
	struct wait_event event = {
		.lock = (uint64_t)(uintptr_t)call->once,
		.site = (uint64_t)(uintptr_t)call->site,
		.family = FAMILY_once,
	};
	if (self == NULL || call->started_ns == 0)
		return;
	struct waiting waiting = waiting_begin(self, &event);
	if (waiting.started_ns == 0)
		return;
	waiting.started_ns = call->started_ns;
	uint64_t wait_ns = waiting_end(&waiting, false);
	struct once_counters *counters = &self->counters.once;
	counter_add(&counters->contended, 1);
	counter_add(&counters->wait_ns_total, wait_ns);
	counter_max(&counters->wait_ns_max, wait_ns);
	if (waiting.lost)
		counter_add(&counters->lost, 1);
}

/* Another thread's run may have ended early: then this call waited for it, and runs all the same.
 */
static struct once_call *started(void)
{
	struct once_call *call = latest;
	struct record_thread *self = thread_current();
	call->ran = true;
	if (self == NULL)
		call->started_ns = 0;
	else
		counter_add(&self->counters.once.ran, 1);
	if (call->waits)
		count_wait(call);
	return call;
}

/* Whether another thread runs the function. A run that was under way at a fork is not the child's.
 */
static bool is_running(int word)
{
	return (word & ONCE_RUNNING) != 0 && (unsigned)word >> ONCE_FORK_BITS == start_era();
}

static void count_run(uint64_t started_ns)
{
	struct record_thread *self = thread_current(); /* another one, if the function has forked */
	if (self == NULL || started_ns == 0)
		return;
	uint64_t run_ns = clock_monotonic_ns() - started_ns;
	counter_add(&self->counters.once.run_ns_total, run_ns);
	counter_max(&self->counters.once.run_ns_max, run_ns);
}

/* The personality routine of run(), as the Itanium C++ ABI has it: the unwinder calls it as that
 * frame goes. It holds nothing up and needs no function of the unwinder's. */
_Unwind_Reason_Code once_unwinds(int version, _Unwind_Action actions,
        _Unwind_Exception_Class language, struct _Unwind_Exception *exception,
        struct _Unwind_Context *context) __attribute__((used, visibility("hidden")));

_Unwind_Reason_Code once_unwinds(int version, _Unwind_Action actions,
        _Unwind_Exception_Class language, struct _Unwind_Exception *exception,
        struct _Unwind_Context *context)
{
	(void)version, (void)language, (void)exception, (void)context;
	if ((actions & _UA_CLEANUP_PHASE) != 0 && running.depth > 0 && --running.depth < NESTED)
		count_run(running.started_ns[running.depth]);
	return _URC_CONTINUE_UNWIND;
}

/* What libc runs in place of the program's function. */
static __attribute__((noinline)) void run(void)
{
	/* 0x1b: relative to its place, 4 bytes. */
	__asm__ volatile(".cfi_personality 0x1b, once_unwinds");
	const struct once_call *call = started();
	uint32_t depth = running.depth;
	uint64_t started_ns = call->started_ns != 0 ? clock_monotonic_ns() : 0;
	if (depth < NESTED)
		running.started_ns[depth] = started_ns;
	running.depth = depth + 1;
	call->function();
	running.depth = depth;
	count_run(started_ns);
}

static __attribute__((noinline)) int once_slow(
        pthread_once_t *once, void (*function)(void), const void *site)
{
	struct once_call call = { once, function, site, time_now(), false, false },
	                 *before = latest;
	call.waits = is_running(__atomic_load_n(once, __ATOMIC_RELAXED));
	latest = &call;
	int result = real_functions.pthread_once(once, run);
	latest = before;
	if (!call.ran)
		count_wait(&call);
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
