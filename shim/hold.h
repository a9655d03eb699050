/*
 * ABSHIM_STATS=hold: how long locks are held, and how often each is acquired. Every call then goes
 * by the slow path, which alone knows of this; see thread_self.
 *
 * A thread's holds are in a list of its own, from the acquisition to the release, when they are
 * added to the row of their lock and to the thread's counters. An acquisition counts once in either
 * the row or hold_lost: that of a lock without a row, which is in the thread's times all the same,
 * and that of a lock released by another thread than its holder, or held beneath a great many
 * others, which is not timed.
 */
#ifndef SHIM_HOLD_H
#define SHIM_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "mutex.h"
#include "probes/clock.h"
#include "probes/counters.h"
#include "probes/record.h"

#define HELD  20u /* locks that a thread may hold at a time, all of them timed */
#define KNOWN 64u /* locks whose rows a thread finds at once; a power of two */

struct held {
	uint64_t lock;  /* its address, plus its enum record_mode */
	uint64_t since; /* ticks */
};

/* Where a lock's holds go. */
struct known {
	uint64_t lock;
	struct record_lock *row; /* NULL: there was no room for one */
	uint32_t rows;           /* how many there were then */
};

/* Of one thread; only that thread and its signal handlers look at it. */
struct holder {
	uint32_t count;
	struct held held[HELD]; /* the latest one last */
	struct known known[KNOWN];
} __attribute__((aligned(64)));

/* Whether holds are timed. */
extern bool hold_on __attribute__((visibility("hidden")));

/* By slot. */
extern struct holder *hold_holders __attribute__((visibility("hidden")));

/* Before the first thread enters. False when there is no memory for it. */
bool hold_start(void);

/* In a forked child, once its record is made: nothing is held that the record knows of. */
void hold_forked(void);

/* The process is about to lose the right to read the time: no hold is timed from now on. */
void hold_stop(void);

/* The thread has got its slot. */
void hold_enter(const struct record_thread *self);

/* What the functions below leave undone. */
void hold_make_room(struct holder *holder);
uint64_t hold_take_below(struct holder *holder, uint64_t lock);
struct record_lock *hold_find_row(
        struct known *known, uint64_t lock, enum record_family family, uint32_t kind);
void hold_rwlock_ended(struct record_thread *self, const void *lock);

/* The thread has acquired the lock, not recursively unless it is for reading. */
static inline void hold_begins(
        const struct record_thread *self, const void *lock, enum record_mode mode)
{
	if (__builtin_expect(!hold_on, 1))
		return;
	struct holder *holder = &hold_holders[self->slot];
	if (__builtin_expect(holder->count == HELD, 0))
		hold_make_room(holder);
	/* The entry is taken first: a signal handler's holds come above it. */
	struct held *held = &holder->held[holder->count++];
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	held->lock = (uint64_t)(uintptr_t)lock | mode;
	held->since = clock_ticks();
}

/* Takes the latest hold of the lock off the list: since when it lasts, 0 when it is not there. */
static inline uint64_t hold_take(struct holder *holder, uint64_t lock)
{
	uint32_t count = holder->count;
	if (count == 0 || holder->held[count - 1].lock != lock)
		return hold_take_below(holder, lock);
	holder->count = count - 1;
	return holder->held[count - 1].since;
}

/* The row of the lock, NULL when the table has no room for it. */
static inline struct record_lock *hold_row(
        struct holder *holder, uint64_t lock, enum record_family family, uint32_t kind)
{
	struct known *known =
	        &holder->known[lock * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (KNOWN - 1)];
	struct record_lock *row = known->row;
	if (known->lock == lock && row != NULL && row->address == lock && row->family == family &&
	        !row->destroyed)
		return row;
	return hold_find_row(known, lock, family, kind);
}

/*
 * The mutex is about to be released, by whichever thread. released: for good; else by a wait for a
 * condition variable, after which the thread will have it again: one acquisition with two holds.
 */
static inline void hold_mutex_ends(
        struct record_thread *self, const pthread_mutex_t *mutex, bool released)
{
	if (__builtin_expect(!hold_on, 1))
		return;
	uint64_t now = clock_ticks(), lock = (uint64_t)(uintptr_t)mutex;
	struct mutex_counters *counters = &self->counters.mutex;
	struct holder *holder = &hold_holders[self->slot];
	uint64_t since = mutex_owner(mutex) == self->tid ? hold_take(holder, lock) : 0;
	struct record_lock *row = NULL;
	if (__builtin_expect(since != 0, 1)) {
		uint64_t hold_ns = clock_ticks_ns(since, now);
		counter_add(&counters->hold_ns_total, hold_ns);
		counter_max(&counters->hold_ns_max, hold_ns);
		row = hold_row(holder, lock, FAMILY_mutex, (uint32_t)mutex_kind(mutex));
		if (row != NULL) {
			/* The mutex keeps other writers out. */
			counter_add(&row->hold.acquired, released);
			counter_add(&row->hold.hold_ns_total, hold_ns);
			counter_max(&row->hold.hold_ns_max, hold_ns);
		}
	}
	if (__builtin_expect(row == NULL, 0))
		counter_add(&counters->hold_lost, released);
}

/* A reader-writer lock has been released: the latest hold of it that the thread began, for reading
 * or writing. */
static inline void hold_rwlock_ends(struct record_thread *self, const void *lock)
{
	if (__builtin_expect(hold_on, 0))
		hold_rwlock_ended(self, lock);
}

#endif
