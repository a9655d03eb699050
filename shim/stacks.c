/*
 * Stacks are sampled: one is taken of the first wait at a site for a lock, and then of one event in
 * so many that taking them costs a hundredth of the time that passes, whatever the number of
 * threads: a waiter's stack is taken while it holds the lock.
 */
#include "stacks.h"

#include "descriptors.h"
#include "probes/clock.h"
#include "probes/counters.h"
#include "probes/stacks.h"
#include "probes/sys.h"
#include "settings.h"
#include "rules.h"
#include "signals.h"
#include "start.h"
#include "thread.h"

#define COST_SHARE   100u       /* a stack's cost lies this many times under the time between two */
#define INTERVAL_MAX 65536u     /* events to a stack, at most */
#define QUIET_NS     100000000u /* after so long without any, the next event's is taken */

#define TAKING UINT32_MAX

/* Who may take stacks: 0 anybody, TAKING one thread does; else how many threads hold them off. */
static uint32_t gate;

static bool loaded;

/* Written by the thread that takes a stack. */
static struct {
	uint32_t interval; /* events to a stack */
	uint64_t last_ns;  /* when the last was taken */
} rate = { .interval = 1 };

static __thread struct {
	uint32_t left;     /* events until the next stack */
	uint32_t held_off; /* nested calls of stacks_hold_off */
} own __attribute__((tls_model("initial-exec")));

static bool gate_enter(void)
{
	uint32_t expected = 0;
	/* Pairs with the releases in gate_leave and stacks_allow. */
	return __atomic_compare_exchange_n(
	        &gate, &expected, TAKING, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void gate_leave(void)
{
	__atomic_store_n(&gate, 0, __ATOMIC_RELEASE); /* pairs with the acquires */
}

void stacks_hold_off(void)
{
	struct timespec pause = { 0, 20000 };
	uint32_t threads = __atomic_load_n(&gate, __ATOMIC_RELAXED);
	if (!loaded || own.held_off++ != 0)
		return;
	/* Whoever takes a stack waits for nothing and nobody, and needs no more than a CPU, which a
	 * thread of a higher priority leaves it only by sleeping. */
	do {
		while (threads == TAKING) {
			sys_call3(SYS_nanosleep, SYS_ARG(&pause), 0, 0);
			threads = __atomic_load_n(&gate, __ATOMIC_RELAXED);
		}
	} while (!__atomic_compare_exchange_n(
	        &gate, &threads, threads + 1, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
}

void stacks_allow(void)
{
	if (own.held_off == 0 || --own.held_off != 0)
		return;
	rules_forget();
	__atomic_fetch_sub(&gate, 1, __ATOMIC_RELEASE); /* pairs with gate_enter */
}

bool stacks_forked(void)
{
	static bool lost;
	if (gate == TAKING) {
		lost = true;
		loaded = false;
		settings.stack_depth = 0;
	}
	gate = own.held_off != 0;
	return !lost;
}

static uint32_t random_below(uint32_t limit)
{
	uint32_t *seed = thread_seed();
	/* Numerical Recipes' linear congruential generator; its low bits are poor. */
	*seed = (*seed * 1664525u + 1013904223u) | 1;
	return (*seed >> 8) % limit;
}

/* One event in rate.interval, at random, so that no pattern of the program's is in step with it. */
static bool is_drawn(uint64_t now_ns)
{
	uint32_t interval = __atomic_load_n(&rate.interval, __ATOMIC_RELAXED);
	/* Another thread's last one may have ended after this event. */
	if (now_ns > __atomic_load_n(&rate.last_ns, __ATOMIC_RELAXED) + QUIET_NS)
		return true;
	if (own.left > 2 * interval) /* drawn when stacks were fewer */
		own.left = 0;
	if (own.left > 1) {
		own.left--;
		return false;
	}
	own.left = 1 + random_below(2 * interval - 1);
	return true;
}

static void adapt_rate(uint64_t now_ns, uint64_t cost_ns)
{
	uint64_t since_ns = now_ns - rate.last_ns;
	uint32_t interval = rate.interval;
	if (since_ns < cost_ns * COST_SHARE && interval < INTERVAL_MAX)
		interval *= 2;
	else if (since_ns > cost_ns * COST_SHARE * 4 && interval > 1)
		interval /= 2;
	__atomic_store_n(&rate.interval, interval, __ATOMIC_RELAXED);
	__atomic_store_n(&rate.last_ns, now_ns, __ATOMIC_RELAXED);
}

/* Whether the first stack of a wait at the site (entry of REGION_SITES) has yet to be taken. */
static bool is_first(uint32_t site)
{
	const struct record_site *entry = record_entry(REGION_SITES, site);
	return __atomic_load_n(&entry->sampled, __ATOMIC_RELAXED) == 0;
}

/* A handler's own waits would come while the stack of what it interrupted is being taken: signals
 * are blocked. */
struct session {
	uint64_t signals;
	struct thread_aside aside;
};

static bool session_begin(struct session *session)
{
	session->signals = signals_set_mask(SIGNALS_ALL);
	if (!gate_enter()) {
		signals_set_mask(session->signals);
		shared_add(&record_header->stacks_skipped, 1);
		return false;
	}
	session->aside = thread_step_aside();
	return true;
}

static void session_end(const struct session *session, uint64_t began_ns)
{
	uint64_t now_ns = clock_monotonic_ns();
	shared_add(&record_header->stacks_taken, 1);
	shared_add(&record_header->stack_ns_total, now_ns - began_ns);
	adapt_rate(now_ns, now_ns - began_ns);
	thread_step_back(session->aside);
	gate_leave();
	signals_set_mask(session->signals);
}

/* The depth in force, 0 where none may be taken. */
static uint32_t count_due(void)
{
	uint32_t depth = __atomic_load_n(&control()->stack_depth, __ATOMIC_RELAXED);
	if (!loaded || depth > RECORD_MAX_STACK || record_filtered() || !control_stats_on())
		return 0;
	shared_add(&record_header->stacks_due, 1);
	return depth;
}

void stacks_take_waiter(const struct unwind_registers *from, const struct record_pending *pending,
        uint64_t ended_ns, uint64_t wait_ns)
{
	static struct unwind_stack stack;
	struct session session;
	uint32_t depth = count_due();
	if (depth == 0 || pending->site == 0)
		return;
	uint32_t site = pending->site - 1;
	if ((!is_drawn(ended_ns) && !is_first(site)) || !session_begin(&session))
		return;
	struct record_site *entry = record_entry(REGION_SITES, site);
	__atomic_store_n(&entry->sampled, 1, __ATOMIC_RELAXED);
	unwind_take(from, (const void *)(uintptr_t)entry->address, depth, &stack);
	uint32_t row = record_stack_add(stack.frames, stack.depth, stack.end);
	if (row != 0)
		record_sample_add(site, row - 1, wait_ns);
	session_end(&session, ended_ns);
}

/* A holder's stack is that of its release. The acquisition becomes frame 0, so that it is found
 * where waiters at the same place are: instead of the release in the same function, else before it.
 * That is mostly the caller's, since compilers like to end a function with a jump to the release.
 */
static void put_acquisition(struct unwind_stack *stack, uint64_t acquired_at, uint32_t limit)
{
	bool beside = acquired_at > stack->start && acquired_at <= stack->end_of_first;
	if (acquired_at == 0)
		return;
	if (!beside) {
		if (stack->depth == limit)
			stack->end = STACK_DEPTH;
		else
			stack->depth++;
		for (uint32_t i = stack->depth - 1; i > 0; i--)
			stack->frames[i] = stack->frames[i - 1];
	}
	stack->frames[0] = acquired_at;
}

void stacks_take_holder(const struct unwind_registers *from, uint64_t acquired_at, const void *site)
{
	static struct unwind_stack stack;
	struct session session;
	uint32_t depth = count_due();
	if (depth == 0)
		return;
	uint64_t began_ns = clock_monotonic_ns();
	if (!is_drawn(began_ns) || !session_begin(&session))
		return;
	unwind_take(from, site, depth, &stack);
	put_acquisition(&stack, acquired_at, depth);
	uint32_t row = record_stack_add(stack.frames, stack.depth, stack.end);
	if (row != 0)
		record_stack_held(row - 1);
	session_end(&session, began_ns);
}

void stacks_load(void)
{
	if (settings.stack_depth == 0)
		return;
	struct thread_aside aside = thread_step_aside();
	struct descriptors descriptors;
	descriptors_take(&descriptors); /* libunwind opens a pipe and keeps it */
	const char *wrong = unwind_load();
	descriptors_give_back(&descriptors);
	thread_step_back(aside);
	if (wrong != NULL) {
		if (start_has_record())
			record_unlink();
		settings_refuse((const char *const[]){ "ABSHIM_STACKS: ", wrong, NULL });
	}
	loaded = true;
}
