/*
 * Enters threads into the record at their first lock and takes them out at their end, however it
 * comes: a thread-specific key's destructor sees return, pthread_exit and cancellation alike.
 */
#include "thread.h"

#include <pthread.h>
#include <sched.h>

#include "hold.h"
#include "probes/conds.h"
#include "probes/record_map.h"
#include "probes/sys.h"
#include "probes/threads.h"
#include "real.h"
#include "start.h"

/* libc calls destructors in up to this many rounds: PTHREAD_DESTRUCTOR_ITERATIONS. */
#define ROUNDS 4u

#define WAITS_BETWEEN_CHECKS 64u

__thread struct record_thread *thread_slot __attribute__((tls_model("initial-exec")));
__thread struct record_thread *thread_self __attribute__((tls_model("initial-exec")));

static __thread struct {
	uint32_t seed;
	uint16_t waits; /* since the affinity was looked up */
	bool may_poll;
	bool ended;    /* its last destructor has run */
	bool left_out; /* found no slot once: stay out, so that it is counted once */
	struct record_cond *waits_on;
} state __attribute__((tls_model("initial-exec")));

static pthread_key_t end_key;
static bool end_key_made;

void thread_waits_on(struct record_cond *cond)
{
	if (cond != NULL && state.waits_on != NULL)
		record_cond_leave(state.waits_on, 0, false); /* that wait was cancelled */
	state.waits_on = cond;
}

/* Other destructors of the thread may still lock: leave in the last round only. */
static void thread_ends(void *value)
{
	uintptr_t round = (uintptr_t)value;
	struct record_thread *self = thread_slot;
	if (round < ROUNDS) {
		real_functions.pthread_setspecific(end_key, (void *)(round + 1));
		return;
	}
	thread_forget();
	state.ended = true;
	if (state.waits_on != NULL)
		record_cond_leave(state.waits_on, 0, false);
	if (self != NULL)
		record_thread_retire(self);
}

bool thread_has_ended(void)
{
	return state.ended;
}

void thread_watch_ends(void)
{
	static uint32_t claimed;
	if (end_key_made || real_functions.pthread_key_create == NULL ||
	        __atomic_exchange_n(&claimed, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	if (real_functions.pthread_key_create(&end_key, thread_ends) == 0)
		__atomic_store_n(&end_key_made, true, __ATOMIC_RELEASE);
}

void thread_creates(void)
{
	if (!start_counting)
		return;
	/* libc before 2.34 has keys only when libpthread is there, as it is by now. */
	real_resolve_missing();
	thread_watch_ends();
}

void thread_created(void)
{
	if (start_counting)
		shared_add(&record_header->threads_created, 1);
}

static void watch_end(void)
{
	/* Pairs with the release above: the key is there. */
	if (__atomic_load_n(&end_key_made, __ATOMIC_ACQUIRE) &&
	        real_functions.pthread_setspecific != NULL)
		real_functions.pthread_setspecific(end_key, (void *)(uintptr_t)1);
}

/* The thread's kernel id as libc knows it, without a system call: libc writes it into a mutex. Also
 * right where libc and the kernel differ, in a child that was forked behind libc's back: there libc
 * goes on writing the old one, and takes ours for a stranger's. */
static uint32_t thread_id(void)
{
	pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	REAL(pthread_mutex_lock)(&mutex);
	uint32_t tid = (uint32_t)mutex.__data.__owner;
	REAL(pthread_mutex_unlock)(&mutex);
	return tid != 0 ? tid : (uint32_t)sys_gettid();
}

struct record_thread *thread_enter(void)
{
	if (state.left_out)
		return NULL;
	struct record_thread *self = record_thread_claim(thread_id());
	if (self == NULL) {
		state.left_out = true;
		return NULL;
	}
	hold_enter(self);
	thread_slot = self;
	thread_self = hold_on ? NULL : self;
	watch_end();
	return self;
}

struct thread_aside thread_step_aside(void)
{
	struct thread_aside aside = { thread_slot, thread_self, hold_quick };
	thread_slot = thread_self = NULL;
	hold_quick = NULL;
	state.left_out = true;
	return aside;
}

void thread_step_back(struct thread_aside aside)
{
	state.left_out = false;
	thread_slot = aside.slot;
	thread_self = aside.self;
	hold_quick = aside.quick;
}

void thread_forget(void)
{
	thread_slot = thread_self = NULL;
	hold_quick = NULL;
}

void thread_forked(void)
{
	thread_forget();
	state.left_out = false;
	state.waits_on = NULL;
	thread_current();
}

bool thread_may_poll(void)
{
	if (state.waits-- == 0 && !record_filtered()) {
		cpu_set_t cpus;
		CPU_ZERO(&cpus);
		sys_call3(SYS_sched_getaffinity, 0, sizeof(cpus), SYS_ARG(&cpus));
		state.may_poll = CPU_COUNT(&cpus) != 1; /* 0: the kernel did not say */
		state.waits = WAITS_BETWEEN_CHECKS;
	}
	return state.may_poll;
}

uint32_t *thread_seed(void)
{
	if (state.seed == 0)
		state.seed = thread_slot->tid * 2654435769u | 1;
	return &state.seed;
}
