/*
 * What each call answers when the mutex is free, held by somebody else, held by the caller,
 * destroyed, or made anew.
 */
#include "conform.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static void free_mutex(void)
{
	pthread_mutex_t *mutex = new_mutex();
	for (enum op op = 0; op < OP_ACQUIRING; op++) {
		say_op(op, mutex);
		say_op(OP_UNLOCK, mutex);
	}
	say_op_elsewhere(OP_TRY, mutex);
	say_op(OP_DESTROY, mutex);
}

static void held_by_another(void)
{
	struct holder holder;
	pthread_mutex_t *mutex = new_mutex();
	holder_start(&holder, mutex);
	for (enum op op = OP_TRY; op < OP_ACQUIRING; op++)
		say_op(op, mutex);
	say_op(OP_DESTROY, mutex);
	holder_end(&holder);
	say("unlock by the holder: %s", result_name(holder.unlocked));
	say_op(OP_LOCK, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op(OP_DESTROY, mutex);
}

static void held_by_self(void)
{
	pthread_mutex_t *mutex = new_mutex();
	say_op(OP_LOCK, mutex);
	for (enum op op = OP_TRY; op < OP_ACQUIRING; op++)
		say_op(op, mutex);
	say_op_elsewhere(OP_TRY, mutex);
	say_op(OP_DESTROY, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op_elsewhere(OP_TRY, mutex);
}

static void relocked_by_owner(void)
{
	pthread_mutex_t *mutex = new_mutex();
	say_op(OP_LOCK, mutex);
	say_op(OP_LOCK, mutex);
	for (enum op op = OP_TRY; op < OP_ACQUIRING; op++)
		say_op(op, mutex);
	for (int i = 0; i < OP_ACQUIRING + 1; i++) {
		say_op_elsewhere(OP_TRY, mutex);
		say_op(OP_UNLOCK, mutex);
	}
	say_op_elsewhere(OP_TRY, mutex);
	say_op(OP_DESTROY, mutex);
}

static void deep_recursion(void)
{
	enum { DEPTH = 1000 };
	pthread_mutex_t *mutex = new_mutex();
	int locked = 0, unlocked = 0;
	for (int i = 0; i < DEPTH; i++)
		locked += do_op((enum op)(i % OP_ACQUIRING), mutex) == 0;
	say_op_elsewhere(OP_TRY, mutex);
	for (int i = 0; i < DEPTH - 1; i++)
		unlocked += do_op(OP_UNLOCK, mutex) == 0;
	say("locked %d, unlocked %d", locked, unlocked);
	say_op_elsewhere(OP_TRY, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op_elsewhere(OP_TRY, mutex);
	say_op(OP_UNLOCK, mutex);
}

/* The counter of depth is a word of glibc's mutex: no program locks four thousand million times. */
static void recursion_at_its_limit(void)
{
	pthread_mutex_t *mutex = new_mutex();
	say_op(OP_LOCK, mutex);
	mutex->__data.__count = UINT_MAX;
	for (enum op op = 0; op < OP_ACQUIRING; op++)
		say_op(op, mutex);
	say("the counter is %s", mutex->__data.__count == UINT_MAX ? "as before" : "CHANGED");
	mutex->__data.__count = UINT_MAX - 1;
	say_op(OP_LOCK, mutex);
	say_op(OP_LOCK, mutex);
	mutex->__data.__count = 1;
	say_op(OP_UNLOCK, mutex);
	say_op(OP_UNLOCK, mutex);
}

static int unlock_it(void *mutex)
{
	return do_op(OP_UNLOCK, mutex);
}

static void unlocked_by_another(void)
{
	pthread_mutex_t *mutex = new_mutex();
	say_op(OP_LOCK, mutex);
	say("unlock by another thread: %s", result_name(elsewhere(unlock_it, mutex)));
	say_op_elsewhere(OP_TRY, mutex);
	say_op(OP_TRY, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op(OP_DESTROY, mutex);
}

static void *lock_and_leave(void *mutex)
{
	require(do_op(OP_LOCK, mutex) == 0, "lock");
	return NULL;
}

/* One thread's lock and another's unlock, with waiters in between, as programs use a mutex for a
 * gate. */
static void gate(void)
{
	enum { TIMES = 20 };
	pthread_mutex_t *mutex = new_mutex();
	say_op(OP_LOCK, mutex);
	for (int i = 0; i < TIMES; i++) {
		pthread_t waiter = start(lock_and_leave, mutex);
		if (i % 4 == 0)
			sleep_ms(1);
		require(do_op(OP_UNLOCK, mutex) == 0, "unlock");
		pthread_join(waiter, NULL);
		require(do_op(OP_TRY, mutex) == EBUSY, "held by a thread that has ended");
	}
	say_op(OP_UNLOCK, mutex);
	say_op(OP_TRY, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op(OP_DESTROY, mutex);
}

static void unlocked_when_free(void)
{
	pthread_mutex_t *mutex = new_mutex();
	say_op(OP_UNLOCK, mutex);
	say_op(OP_LOCK, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op_elsewhere(OP_TRY, mutex);
}

static void destroyed(void)
{
	pthread_mutex_t *mutex = new_mutex();
	say_op(OP_LOCK, mutex);
	say_op(OP_DESTROY, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op(OP_DESTROY, mutex);
	for (enum op op = 0; op < OPS; op++)
		say_op(op, mutex);
	say("init: %s", result_name(kind_init(kind_under_test, mutex)));
	say_op(OP_LOCK, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op(OP_DESTROY, mutex);
}

static void made_anew(void)
{
	pthread_mutex_t *mutex = new_mutex();
	say_op(OP_LOCK, mutex);
	say("init: %s", result_name(kind_init(kind_under_test, mutex)));
	say_op(OP_TRY, mutex);
	say_op(OP_UNLOCK, mutex);
	memset(mutex, 0, sizeof(*mutex)); /* what static memory holds */
	say_op(OP_LOCK, mutex);
	say_op(OP_UNLOCK, mutex);
	pthread_mutex_init(mutex, NULL);
	say_op(OP_LOCK, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op(OP_DESTROY, mutex);
}

/* Programs copy mutexes that nobody holds, though they should not. */
static void copied(void)
{
	pthread_mutex_t *mutex = new_mutex(), *copy = shared_memory(sizeof(*copy));
	struct counting counting = {
		.mutex = mutex, .threads = 2, .rounds = 500, .once = count_once
	};
	say_count_all(&counting);
	memcpy(copy, mutex, sizeof(*copy));
	say_op(OP_LOCK, copy);
	say_op(OP_TRY, mutex);
	say_op(OP_UNLOCK, copy);
	say_op(OP_UNLOCK, mutex);
}

static void not_robust_or_protected(void)
{
	int ceiling = 0;
	pthread_mutex_t *mutex = new_mutex();
	say_op(OP_LOCK, mutex);
	say("consistent: %s", result_name(pthread_mutex_consistent(mutex)));
	say("getprioceiling: %s", result_name(pthread_mutex_getprioceiling(mutex, &ceiling)));
	say_op(OP_UNLOCK, mutex);
}

/* The words of a mutex that nobody holds are as glibc leaves them: programs compare and hash. */
static void idle_words(void)
{
	static const char zeros[sizeof(pthread_mutex_t)];
	pthread_mutex_t *mutex = new_mutex();
	struct counting counting = {
		.mutex = mutex, .threads = 4, .rounds = 500, .once = count_once
	};
	say_count_all(&counting);
	mutex->__data.__kind = 0;
	mutex->__data.__spins = 0; /* what was learned may stay */
	say("idle words: %s", memcmp(mutex, zeros, sizeof(zeros)) == 0 ? "zero" : "NOT ZERO");
}

const struct conform_case calls_cases[] = {
	{ "free", free_mutex, 0 },
	{ "held-by-another", held_by_another, 0 },
	{ "held-by-self", held_by_self, 0 },
	{ "relocked-by-owner", relocked_by_owner, TRAIT_ANSWERS },
	{ "deep-recursion", deep_recursion, TRAIT_RECURSIVE },
	{ "recursion-at-its-limit", recursion_at_its_limit, TRAIT_RECURSIVE },
	{ "unlocked-by-another", unlocked_by_another, TRAIT_PLAIN },
	{ "unlocked-by-another-robust", unlocked_by_another, TRAIT_ROBUST },
	{ "gate", gate, TRAIT_UNCHECKED },
	{ "unlocked-when-free", unlocked_when_free, TRAIT_PLAIN },
	{ "unlocked-when-free-robust", unlocked_when_free, TRAIT_ROBUST },
	{ "destroyed", destroyed, 0 },
	{ "made-anew", made_anew, 0 },
	{ "copied", copied, TRAIT_PLAIN },
	{ "not-robust-or-protected", not_robust_or_protected, 0 },
	{ "idle-words", idle_words, TRAIT_PLAIN },
	{ NULL, NULL, 0 },
};
