/*
 * Robust mutexes: the owner dies, as a thread or as a process, and what the next one may do.
 */
#include "conform.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void *lock_and_die(void *mutex)
{
	require(do_op(OP_LOCK, mutex) == 0, "lock");
	return NULL;
}

static void made_consistent(void)
{
	pthread_mutex_t *mutex = new_mutex();
	for (enum op op = 0; op < OP_ACQUIRING; op++) {
		pthread_join(start(lock_and_die, mutex), NULL);
		say_op(op, mutex);
		say_op_elsewhere(OP_TRY, mutex);
		say("consistent: %s", result_name(pthread_mutex_consistent(mutex)));
		say("consistent again: %s", result_name(pthread_mutex_consistent(mutex)));
		say_op(OP_UNLOCK, mutex);
		say_op(op, mutex);
		say_op(OP_UNLOCK, mutex);
	}
	say_op(OP_DESTROY, mutex);
}

static void not_made_consistent(void)
{
	pthread_mutex_t *mutex = new_mutex();
	pthread_join(start(lock_and_die, mutex), NULL);
	say_op(OP_LOCK, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op(OP_LOCK, mutex);
	say_op(OP_TRY, mutex);
	say_op_elsewhere(OP_TRY, mutex);
	say("consistent: %s", result_name(pthread_mutex_consistent(mutex)));
	say_op(OP_DESTROY, mutex);
}

struct dying {
	pthread_mutex_t *mutex;
	sem_t held, die;
};

static void *die_when_told(void *argument)
{
	struct dying *dying = argument;
	require(do_op(OP_LOCK, dying->mutex) == 0, "lock");
	sem_post(&dying->held);
	semaphore_wait(&dying->die);
	return NULL;
}

static void *wait_and_repair(void *mutex)
{
	int result = do_op(OP_LOCK, mutex);
	if (result == EOWNERDEAD)
		require(pthread_mutex_consistent(mutex) == 0, "consistent");
	require(do_op(OP_UNLOCK, mutex) == 0, "unlock");
	return (void *)(long)result;
}

/* Exactly one of those who wait learns of the death. */
static void dies_before_waiters(void)
{
	enum { WAITERS = 4 };
	struct dying dying = { .mutex = new_mutex() };
	pthread_t waiters[WAITERS];
	int told = 0, granted = 0;
	semaphore_init(&dying.held);
	semaphore_init(&dying.die);
	pthread_t owner = start(die_when_told, &dying);
	semaphore_wait(&dying.held);
	for (int i = 0; i < WAITERS; i++)
		waiters[i] = start(wait_and_repair, dying.mutex);
	sleep_ms(3);
	sem_post(&dying.die);
	pthread_join(owner, NULL);
	for (int i = 0; i < WAITERS; i++) {
		void *result;
		pthread_join(waiters[i], &result);
		told += (long)result == EOWNERDEAD;
		granted += result == NULL;
	}
	say("told %d, granted %d", told, granted);
	say_op(OP_DESTROY, dying.mutex);
}

static int lock_and_exit(void *mutex)
{
	_exit(do_op(OP_LOCK, mutex) == 0 ? 3 : 4);
}

static void process_dies(void)
{
	pthread_mutex_t *mutex = new_mutex();
	say("exit status: %d", in_child(lock_and_exit, mutex));
	say_op(OP_LOCK, mutex);
	say("consistent: %s", result_name(pthread_mutex_consistent(mutex)));
	say_op(OP_UNLOCK, mutex);
	say_op(OP_LOCK, mutex);
	say_op(OP_UNLOCK, mutex);
}

const struct conform_case robust_cases[] = {
	{ "robust-consistent", made_consistent, TRAIT_ROBUST | TRAIT_DEATHS },
	{ "robust-inconsistent", not_made_consistent, TRAIT_ROBUST | TRAIT_DEATHS },
	{ "robust-waiters", dies_before_waiters, TRAIT_ROBUST | TRAIT_DEATHS },
	{ "robust-process", process_dies, TRAIT_ROBUST | TRAIT_DEATHS | TRAIT_SHARED },
	{ NULL, NULL, 0 },
};
