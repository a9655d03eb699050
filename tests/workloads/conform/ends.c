/*
 * Threads end in every way while they use mutexes, up to the last destructor.
 */
#include "conform.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *lock_and_end(void *mutex)
{
	require(do_op(OP_LOCK, mutex) == 0, "lock");
	return NULL;
}

/* The owner has ended without unlock: a plain mutex stays held for ever. */
static void owner_ended(void)
{
	pthread_mutex_t *mutex = new_mutex();
	pthread_join(start(lock_and_end, mutex), NULL);
	for (enum op op = OP_TRY; op < OPS; op++)
		if (op != OP_UNLOCK)
			say_op(op, mutex);
}

static pthread_mutex_t *ended_mutex;
static unsigned long ended_counter;
static pthread_key_t ended_key;

static void count_one(void)
{
	require(do_op(OP_LOCK, ended_mutex) == 0, "lock");
	ended_counter++;
	require(do_op(OP_UNLOCK, ended_mutex) == 0, "unlock");
}

static void count_in_cleanup(void *unused)
{
	(void)unused;
	count_one();
}

/* A destructor that asks to be called again: the thread's other destructors have long run. */
static void count_in_destructor(void *rounds)
{
	unsigned long left = (unsigned long)rounds;
	count_one();
	if (left > 1)
		pthread_setspecific(ended_key, (void *)(left - 1));
}

static void *end_by_return(void *unused)
{
	pthread_setspecific(ended_key, (void *)PTHREAD_DESTRUCTOR_ITERATIONS);
	count_one();
	return unused;
}

static void *end_by_exit(void *unused)
{
	pthread_cleanup_push(count_in_cleanup, NULL);
	end_by_return(unused);
	pthread_exit(unused);
	pthread_cleanup_pop(1);
}

static void *end_by_cancellation(void *unused)
{
	pthread_cleanup_push(count_in_cleanup, NULL);
	end_by_return(unused);
	for (;;)
		pause();
	pthread_cleanup_pop(1);
	return unused;
}

/* The first lock of the thread comes in its last destructor. */
static void *end_before_any_lock(void *unused)
{
	pthread_setspecific(ended_key, (void *)1ul);
	return unused;
}

static void begin_to_count(void)
{
	ended_mutex = new_mutex();
	ended_counter = 0;
	require(pthread_key_create(&ended_key, count_in_destructor) == 0, "pthread_key_create");
}

static void end_counting(const char *what)
{
	pthread_key_delete(ended_key);
	say("%s: counted %lu", what, ended_counter);
	say_op(OP_DESTROY, ended_mutex);
}

static void ends_and_destructors(void)
{
	begin_to_count();
	pthread_join(start(end_by_return, NULL), NULL);
	pthread_join(start(end_by_exit, NULL), NULL);
	pthread_t thread = start(end_by_cancellation, NULL);
	require(pthread_cancel(thread) == 0, "pthread_cancel");
	pthread_join(thread, NULL);
	pthread_join(start(end_before_any_lock, NULL), NULL);
	end_counting("return, pthread_exit, cancellation, no lock before the end");
}

static unsigned long counted_so_far(void)
{
	require(do_op(OP_LOCK, ended_mutex) == 0, "lock");
	unsigned long counted = ended_counter;
	require(do_op(OP_UNLOCK, ended_mutex) == 0, "unlock");
	return counted;
}

static void detached(void)
{
	enum { THREADS = 8 };
	begin_to_count();
	for (int i = 0; i < THREADS; i++)
		pthread_detach(start(i % 2 == 0 ? end_by_return : end_by_exit, NULL));
	unsigned long wanted = THREADS * (1 + PTHREAD_DESTRUCTOR_ITERATIONS) + THREADS / 2;
	while (counted_so_far() < wanted)
		sleep_ms(1);
	sleep_ms(2); /* the last one's last unlock */
	end_counting("detached");
}

/* All end at the same time, in all ways, with all destructors. */
static void crowd(void)
{
	enum { THREADS = 24 };
	pthread_t threads[THREADS];
	begin_to_count();
	for (int i = 0; i < THREADS; i++)
		threads[i] = start(i % 3 == 0   ? end_by_return
		                   : i % 3 == 1 ? end_by_exit
		                                : end_by_cancellation,
		        NULL);
	for (int i = 2; i < THREADS; i += 3)
		require(pthread_cancel(threads[i]) == 0, "pthread_cancel");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	end_counting("a crowd");
}

static void short_threads(void)
{
	int count = (system_traits() & TRAIT_CHILD_THREADS) != 0 ? 2000 : 400; /* emulated */
	begin_to_count();
	for (int i = 0; i < count; i += 4) {
		pthread_t threads[4];
		for (int j = 0; j < 4; j++)
			threads[j] = start(end_before_any_lock, NULL);
		for (int j = 0; j < 4; j++)
			pthread_join(threads[j], NULL);
	}
	end_counting("short threads");
}

static void *count_and_exit(void *main_thread)
{
	pthread_join(*(pthread_t *)main_thread, NULL);
	count_one();
	exit(ended_counter == 2 ? 7 : 8);
}

static int end_main_first(void *unused)
{
	static pthread_t main_thread;
	(void)unused;
	main_thread = pthread_self();
	count_one();
	start(count_and_exit, &main_thread);
	pthread_exit(NULL);
}

static void main_ends_first(void)
{
	begin_to_count();
	say("exit status: %d", in_child(end_main_first, NULL));
	end_counting("in the parent");
}

static void *hold_for_ever(void *mutex)
{
	require(do_op(OP_LOCK, mutex) == 0, "lock");
	for (;;)
		pause();
	return NULL;
}

static void *wait_for_ever(void *mutex)
{
	do_op(OP_LOCK, mutex);
	_exit(9);
}

/* exit() does not care for threads that wait or hold. */
static int exit_among_waiters(void *mutex)
{
	start(hold_for_ever, mutex);
	while (do_op(OP_TRY, mutex) == 0)
		do_op(OP_UNLOCK, mutex);
	for (int i = 0; i < 3; i++)
		start(wait_for_ever, mutex);
	sleep_ms(2);
	return 5;
}

static void exit_while_others_wait(void)
{
	say("exit status: %d", in_child(exit_among_waiters, new_mutex()));
}

const struct conform_case ends_cases[] = {
	{ "owner-ended", owner_ended, TRAIT_PLAIN },
	{ "ends-and-destructors", ends_and_destructors, 0 },
	{ "ends-detached", detached, 0 },
	{ "ends-in-a-crowd", crowd, 0 },
	{ "short-threads", short_threads, TRAIT_FIRST },
	{ "main-ends-first", main_ends_first, TRAIT_CHILD_THREADS },
	{ "exit-while-others-wait", exit_while_others_wait, TRAIT_CHILD_THREADS },
	{ NULL, NULL, 0 },
};
