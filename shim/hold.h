/*
 * ABSHIM_STATS=hold: how long locks are held, and how often each is acquired. Every call then goes
 * by the slow path, which alone knows of this; see thread_self.
 *
 * What a thread holds is noted in memory of its own, from the acquisition to the release, when it
 * is added to the row of the lock and to the thread's counters. An acquisition counts once in
 * either the row or hold_lost: that of a lock without a row, which is in the thread's times all the
 * same, and that of a lock released by another thread than its holder, or held with a great many
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

#define KNOWN 64u /* locks that a thread finds at once; a power of two */
#define HELD  16u /* locks that it may hold besides those mutexes, all of them timed */

/* A lock that the thread has used before. */
struct known {
	uint64_t lock;           /* its address, plus its family: that of mutexes is 0 */
	uint64_t since;          /* ticks, for a mutex that the thread holds; else 0 */
	struct record_lock *row; /* one that is marked as destroyed: there was no room */
	uint32_t rows;           /* how many there were then */
};

/* A reader-writer lock, or a mutex whose place among the known ones is taken by a held one. */
struct held {
	uint64_t lock;
	uint64_t since;
	enum record_mode mode;
};

/* Of one thread; only that thread and its signal handlers look at it. */
struct holder {
	struct record_thread *self;
	uint32_t count;
	struct held held[HELD]; /* 0 .. count - 1, the latest one last */
	struct known known[KNOWN];
} __attribute__((aligned(64)));

/* Whether holds are timed. */
extern bool hold_on __attribute__((visibility("hidden")));

/* The calling thread's, while the quick functions below may be used; else NULL. */
extern __thread struct holder *hold_quick
        __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Before the first thread enters. False when there is no memory for it. */
bool hold_start(void);

/* The calling thread has got its slot, and holds nothing that the record knows of. */
void hold_enter(struct record_thread *self);

/* The process is about to lose the right to read the time: no hold is timed from now on. */
void hold_stop(void);

/* The parts of the functions below for when holds are timed. */
void hold_mutex_begun(const struct record_thread *self, const pthread_mutex_t *mutex);
void hold_mutex_ended(struct record_thread *self, const pthread_mutex_t *mutex, bool released);
void hold_rwlock_begun(
        const struct record_thread *self, const pthread_rwlock_t *lock, enum record_mode mode);
void hold_rwlock_ended(struct record_thread *self, const pthread_rwlock_t *lock);

/* The thread has acquired the mutex, not recursively. */
static inline void hold_mutex_begins(const struct record_thread *self, const pthread_mutex_t *mutex)
{
	if (__builtin_expect(hold_on, 0))
		hold_mutex_begun(self, mutex);
}

/*
 * The mutex is about to be released, by whichever thread. released: for good; else by a wait for a
 * condition variable, after which the thread will have it again: one acquisition with two holds.
 */
static inline void hold_mutex_ends(
        struct record_thread *self, const pthread_mutex_t *mutex, bool released)
{
	if (__builtin_expect(hold_on, 0))
		hold_mutex_ended(self, mutex, released);
}

/* The thread has acquired the lock, a reader perhaps for one more time. */
static inline void hold_rwlock_begins(
        const struct record_thread *self, const pthread_rwlock_t *lock, enum record_mode mode)
{
	if (__builtin_expect(hold_on, 0))
		hold_rwlock_begun(self, lock, mode);
}

/* The thread is about to release the lock: its latest hold of it, for reading or writing, ends. */
static inline void hold_rwlock_ends(struct record_thread *self, const pthread_rwlock_t *lock)
{
	if (__builtin_expect(hold_on, 0))
		hold_rwlock_ended(self, lock);
}

/* Where the lock is, if it is known. lock: as in struct known. */
static inline struct known *hold_known(struct holder *holder, uint64_t lock)
{
	uint64_t hash = lock * UINT64_C(0x9e3779b97f4a7c15); /* as in waits.c */
	return &holder->known[hash >> 32 & (KNOWN - 1)];
}

/* hold_mutex_begins() for one that is known. */
static inline void hold_mutex_begins_quickly(struct known *known)
{
	known->since = clock_counter();
}

/* hold_mutex_ends(..., true), where all is as usual; else false, and nothing is done. */
static inline bool hold_mutex_ends_quickly(struct holder *holder, const pthread_mutex_t *mutex)
{
	uint64_t now = clock_counter(), lock = (uint64_t)(uintptr_t)mutex;
	struct record_thread *self = holder->self;
	struct known *known = hold_known(holder, lock);
	struct record_lock *row = known->row;
	if (known->lock != lock || known->since == 0 || row->destroyed != 0 ||
	        mutex_owner(mutex) != self->tid)
		return false;
	uint64_t hold_ns = clock_counter_ns(known->since, now);
	known->since = 0;
	/* The mutex keeps other writers out. */
	counter_add(&row->hold.acquired, 1);
	counter_add(&row->hold.hold_ns_total, hold_ns);
	counter_max(&row->hold.hold_ns_max, hold_ns);
	counter_add(&self->counters.mutex.hold_ns_total, hold_ns);
	counter_max(&self->counters.mutex.hold_ns_max, hold_ns);
	return true;
}

#endif
