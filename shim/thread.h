/*
 * The calling thread as the shim knows it: its slot in the record.
 */
#ifndef SHIM_THREAD_H
#define SHIM_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/counters.h"
#include "probes/record.h"
#include "start.h"

/* NULL before the thread's first lock, after its last destructor, and wherever the shim keeps out:
 * then calls go to libc and are not counted. */
extern __thread struct record_thread *thread_slot
        __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The same for the fast paths, but NULL where all calls have to go by the slow ones. */
extern __thread struct record_thread *thread_self
        __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Gives the thread a slot. NULL when it is to be left alone. */
struct record_thread *thread_enter(void);

static inline struct record_thread *thread_current(void)
{
	struct record_thread *self = thread_slot;
	if (__builtin_expect(self != NULL, 1))
		return self;
	return start_counting ? thread_enter() : NULL;
}

/* Whether a poll can help: false when the thread's affinity leaves it one CPU. Asks the kernel
 * again now and then, since the affinity may change. */
bool thread_may_poll(void);

/* State of the random numbers of a thread that has a slot, never 0. */
uint32_t *thread_seed(void);

struct record_cond;

/* The thread begins a wait for a condition variable, or (NULL) has ended it. A cancelled wait never
 * ends: it is left at the next one or at the thread's end. */
void thread_waits_on(struct record_cond *cond);

/* Until the thread steps back, its calls go to libc and are not counted: for code of others that
 * the shim calls. The thread must have a slot, or be the only one and before its first call. */
struct thread_aside {
	struct record_thread *slot, *self;
	struct holder *quick; /* see hold.h */
};
struct thread_aside thread_step_aside(void);
void thread_step_back(struct thread_aside aside);

/* The calling thread has no slot any more, without giving it back. */
void thread_forget(void);

/* The calling thread is the only one of a forked child, whose record is new and empty. */
void thread_forked(void);

/* Whether the thread has given its slot back: what libc does after that, as to free memory, is not
 * counted. */
bool thread_has_ended(void);

/* A call of libc's that makes a thread is ahead; it has made one. */
void thread_creates(void);
void thread_created(void);

/* Makes thread ends known from now on; a no-op where libc cannot yet. */
void thread_watch_ends(void);

#endif
