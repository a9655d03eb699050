/*
 * What the cases of reader-writer locks share.
 */
#ifndef CONFORM_RWLOCK_OPS_H
#define CONFORM_RWLOCK_OPS_H

#include "conform.h"

enum rw_op {
	RW_READ,
	RW_TRY_READ,
	RW_TIMED_READ,
	RW_CLOCK_REAL_READ,
	RW_CLOCK_MONO_READ,
	RW_WRITE,
	RW_TRY_WRITE,
	RW_TIMED_WRITE,
	RW_CLOCK_REAL_WRITE,
	RW_CLOCK_MONO_WRITE,
	RW_UNLOCK,
	RW_OPS,
};
#define RW_ACQUIRING RW_UNLOCK /* all before it acquire */

extern const char *const rw_names[RW_OPS];

static inline bool rw_reads(enum rw_op op)
{
	return op < RW_WRITE;
}

static inline bool rw_is_timed(enum rw_op op)
{
	return op < RW_ACQUIRING && op != RW_READ && op != RW_TRY_READ && op != RW_WRITE &&
	       op != RW_TRY_WRITE;
}

clockid_t rw_clock(enum rw_op op);

/* A new lock of the kind under test, in memory that child processes share. */
pthread_rwlock_t *new_rwlock(void);

/* As do_op and its like. */
int rw_do(enum rw_op op, pthread_rwlock_t *lock);
int rw_do_patiently(enum rw_op op, pthread_rwlock_t *lock);
int rw_do_until(enum rw_op op, pthread_rwlock_t *lock, const struct timespec *deadline);
int rw_do_and_undo(enum rw_op op, pthread_rwlock_t *lock);
void say_rw(enum rw_op op, pthread_rwlock_t *lock);

/* Whether a writer has the lock, or sleeps in libc until it can have it. */
bool rw_writer_waits(const pthread_rwlock_t *lock);

/* A thread that acquires, and holds until its end. */
struct rw_holder {
	pthread_t thread;
	pthread_rwlock_t *lock;
	enum rw_op op;
	sem_t held, release;
	int locked, unlocked; /* results */
};

/* begin: does not wait until it has the lock. */
void rw_holder_begin(struct rw_holder *holder, enum rw_op op, pthread_rwlock_t *lock);
void rw_holder_start(struct rw_holder *holder, enum rw_op op, pthread_rwlock_t *lock);
void rw_holder_end(struct rw_holder *holder);

#endif
