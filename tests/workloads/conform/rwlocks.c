/*
 * What each call on a reader-writer lock answers by the state of the lock: free, held by others, by
 * the caller, with writers waiting, full of readers, or destroyed.
 */
#include "rwlock_ops.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* libc leaves some words unused; nobody may be seen to have used them once the lock is free. */
static void say_idle(const pthread_rwlock_t *lock)
{
	say("unused words %u %u %lu, no writer: %d", lock->__data.__pad3, lock->__data.__pad4,
	        lock->__data.__pad2, lock->__data.__cur_writer);
}

static void free_lock(void)
{
	pthread_rwlock_t *lock = new_rwlock();
	for (int round = 0; round < 2; round++)
		for (enum rw_op op = 0; op < RW_ACQUIRING; op++)
			say_rw(op, lock);
	say_idle(lock);
	say("destroy: %s", result_name(pthread_rwlock_destroy(lock)));
	say("init: %s", result_name(pthread_rwlock_init(lock, NULL)));
	say_rw(RW_WRITE, lock);
	say_rw(RW_READ, lock);
	say("destroy: %s", result_name(pthread_rwlock_destroy(lock)));
}

/* Whether the call returns while somebody else has the lock. */
static bool returns_behind(enum rw_op op, enum rw_op holder)
{
	if (op == RW_WRITE)
		return false;
	return op != RW_READ || rw_reads(holder);
}

static void held_lock(void)
{
	static const enum rw_op ways[] = { RW_READ, RW_TRY_READ, RW_WRITE, RW_TRY_WRITE };
	pthread_rwlock_t *lock = new_rwlock();
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct rw_holder holder;
		rw_holder_start(&holder, ways[i], lock);
		say("held by %s", rw_names[ways[i]]);
		for (enum rw_op op = 0; op < RW_ACQUIRING; op++)
			if (returns_behind(op, ways[i]))
				say_rw(op, lock);
		rw_holder_end(&holder);
		say("released: %s", result_name(holder.unlocked));
		say_rw(RW_TRY_WRITE, lock);
	}
	say_idle(lock);
}

/* The caller has the lock itself: reading again is recursive, the rest is a deadlock, which libc
 * tells only from a writer. */
static void own_lock(void)
{
	pthread_rwlock_t *lock = new_rwlock();
	require(rw_do(RW_READ, lock) == 0, "rdlock");
	for (enum rw_op op = 0; op < RW_ACQUIRING; op++)
		if (op != RW_WRITE)
			say_rw(op, lock);
	say_rw(RW_UNLOCK, lock);
	require(rw_do(RW_WRITE, lock) == 0, "wrlock");
	for (enum rw_op op = 0; op < RW_ACQUIRING; op++)
		say_rw(op, lock);
	say_rw(RW_UNLOCK, lock);
	say_idle(lock);
}

static void *upgrade(void *argument)
{
	struct rw_holder *holder = argument;
	require(rw_do(RW_READ, holder->lock) == 0, "rdlock");
	holder->locked = rw_do(RW_WRITE, holder->lock);
	holder->unlocked = rw_do(RW_UNLOCK, holder->lock);
	return NULL;
}

/* A reader that wants to write waits for itself, until somebody else releases what it reads. */
static void upgraded_lock(void)
{
	struct rw_holder holder = { .lock = new_rwlock(), .locked = -1 };
	holder.thread = start(upgrade, &holder);
	while (!rw_writer_waits(holder.lock))
		sleep_ms(1);
	sleep_ms(5);
	say("the reader waits: %d", holder.locked == -1);
	say("unlock by another: %s", result_name(rw_do(RW_UNLOCK, holder.lock)));
	pthread_join(holder.thread, NULL);
	say("wrlock: %s, unlock: %s", result_name(holder.locked), result_name(holder.unlocked));
	say_rw(RW_TRY_WRITE, holder.lock);
}

struct deadline {
	const char *name;
	struct timespec time;
};

static void say_deadline(enum rw_op op, pthread_rwlock_t *lock, const struct deadline *deadline)
{
	int result = rw_do_until(op, lock, &deadline->time);
	if (result == 0)
		require(rw_do(RW_UNLOCK, lock) == 0, "unlock");
	say("%s, %s: %s", rw_names[op], deadline->name, result_name(result));
}

static void odd_deadlines(void)
{
	static const struct deadline deadlines[] = { { "the past", { 1, 0 } },
		{ "before 1970", { -1, 0 } }, { "negative ns", { LONG_MAX / 4, -1 } },
		{ "too many ns", { LONG_MAX / 4, 1000000000 } }, { "past, bad ns", { 1, -5 } } };
	static const enum rw_op holders[] = { RW_UNLOCK, RW_READ, RW_WRITE };
	pthread_rwlock_t *lock = new_rwlock();
	for (size_t i = 0; i < sizeof(holders) / sizeof(*holders); i++) {
		struct rw_holder holder;
		bool held = holders[i] != RW_UNLOCK;
		say("%s", held ? rw_names[holders[i]] : "free");
		if (held)
			rw_holder_start(&holder, holders[i], lock);
		for (enum rw_op op = 0; op < RW_ACQUIRING; op++)
			for (size_t k = 0; k < sizeof(deadlines) / sizeof(*deadlines); k++)
				if (rw_is_timed(op))
					say_deadline(op, lock, &deadlines[k]);
		if (held)
			rw_holder_end(&holder);
	}
}

static void odd_clocks(void)
{
	static const clockid_t clocks[] = { CLOCK_PROCESS_CPUTIME_ID, CLOCK_BOOTTIME, -1, 12345 };
	struct timespec past = { 1, 0 };
	pthread_rwlock_t *lock = new_rwlock();
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		say("clock %d: %s, %s", clocks[i],
		        result_name(pthread_rwlock_clockrdlock(lock, clocks[i], &past)),
		        result_name(pthread_rwlock_clockwrlock(lock, clocks[i], &past)));
	}
	say_rw(RW_TRY_WRITE, lock);
}

/* A writer waits for a reader. Who reads already may do so again, unless the kind says that nobody
 * ever will. */
static void behind_a_writer(void)
{
	struct rw_holder writer;
	pthread_rwlock_t *lock = new_rwlock();
	require(rw_do(RW_READ, lock) == 0, "rdlock");
	rw_holder_begin(&writer, RW_WRITE, lock);
	while (!rw_writer_waits(lock))
		sleep_ms(1);
	for (enum rw_op op = 0; op < RW_ACQUIRING; op++)
		if (op != RW_WRITE &&
		        (op != RW_READ || (kind_under_test->traits & TRAIT_RECURSIVE)))
			say_rw(op, lock);
	say_rw(RW_UNLOCK, lock);
	semaphore_wait(&writer.held);
	say("the writer: %s", result_name(writer.locked));
	say_rw(RW_TRY_READ, lock);
	rw_holder_end(&writer);
	say_rw(RW_TRY_READ, lock);
	say_idle(lock);
}

/* As many readers as the word can count; without the threads. */
static void too_many_readers(void)
{
	pthread_rwlock_t *lock = new_rwlock();
	require(rw_do(RW_READ, lock) == 0, "rdlock");
	unsigned one = lock->__data.__readers;
	lock->__data.__readers = (UINT_MAX / 2 + 1) - one;
	for (enum rw_op op = 0; op < RW_ACQUIRING; op++)
		if (op != RW_WRITE)
			say_rw(op, lock);
	lock->__data.__readers = one;
	say_rw(RW_UNLOCK, lock);
	say_rw(RW_TRY_WRITE, lock);
}

const struct conform_case rwlocks_cases[] = {
	{ "rw-free", free_lock, 0 },
	{ "rw-held", held_lock, 0 },
	{ "rw-own", own_lock, 0 },
	{ "rw-upgrade", upgraded_lock, 0 },
	{ "rw-deadlines", odd_deadlines, 0 },
	{ "rw-clocks", odd_clocks, 0 },
	{ "rw-behind-a-writer", behind_a_writer, 0 },
	{ "rw-too-many-readers", too_many_readers, 0 },
	{ NULL, NULL, 0 },
};
