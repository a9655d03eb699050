/*
 * Forks: a child has the mutexes of its parent, but none of the threads that wait for them.
 */
#include "conform.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Not in memory that the child shares. */
static pthread_mutex_t private_mutex, other_mutex;

static void renew(pthread_mutex_t *mutex)
{
	require(kind_init(kind_under_test, mutex) == 0, "pthread_mutex_init");
}

/* What a child does with a mutex that its parent's thread held at the fork. */
static void release_in_child(pthread_mutex_t *mutex)
{
	if (kind_under_test->traits & TRAIT_UNCHECKED)
		require(do_op(OP_UNLOCK, mutex) == 0, "unlock in the child");
	else
		renew(mutex); /* the child's thread is not the owner */
}

static int use_held(void *unused)
{
	(void)unused;
	say_op(OP_TRY, &private_mutex);
	say_op(OP_UNLOCK, &private_mutex);
	renew(&private_mutex);
	for (enum op op = 0; op < OP_ACQUIRING; op++) {
		say_op(op, &private_mutex);
		say_op(OP_UNLOCK, &private_mutex);
	}
	say_op(OP_DESTROY, &private_mutex);
	return 6;
}

static void fork_by_owner(void)
{
	renew(&private_mutex);
	say_op(OP_LOCK, &private_mutex);
	say("exit status: %d", in_child(use_held, NULL));
	say_op(OP_UNLOCK, &private_mutex);
	say_op_elsewhere(OP_TRY, &private_mutex);
	say_op(OP_DESTROY, &private_mutex);
}

static void count_and_yield(struct counting *counting, unsigned round)
{
	(void)round;
	require(do_op(OP_LOCK, counting->mutex) == 0, "lock");
	count_up(counting);
	sched_yield();
	require(do_op(OP_UNLOCK, counting->mutex) == 0, "unlock");
}

static int count_here(void *mutex)
{
	struct counting counting = {
		.mutex = mutex, .threads = 4, .rounds = 50, .once = count_and_yield
	};
	return count_all(&counting) && do_op(OP_DESTROY, mutex) == 0 ? 7 : 8;
}

static int release_and_count(void *mutex)
{
	release_in_child(mutex);
	return count_here(mutex);
}

static void *wait_and_leave(void *mutex)
{
	require(do_op(OP_LOCK, mutex) == 0, "lock");
	require(do_op(OP_UNLOCK, mutex) == 0, "unlock");
	return NULL;
}

#define WAITERS 4

/* Holds the mutex while threads wait for it; forks; lets them go on. */
static int fork_among_waiters(int (*function)(void *mutex))
{
	pthread_t waiters[WAITERS];
	require(do_op(OP_LOCK, &private_mutex) == 0, "lock");
	for (int i = 0; i < WAITERS; i++)
		waiters[i] = start(wait_and_leave, &private_mutex);
	sleep_ms(3);
	int status = in_child(function, &private_mutex);
	require(do_op(OP_UNLOCK, &private_mutex) == 0, "unlock");
	for (int i = 0; i < WAITERS; i++)
		pthread_join(waiters[i], NULL);
	return status;
}

static void fork_with_waiters(void)
{
	renew(&private_mutex);
	say("exit status: %d", fork_among_waiters(release_and_count));
	say("counted in the parent: %d", count_here(&private_mutex));
}

static int fork_again(void *mutex)
{
	release_in_child(mutex);
	return fork_among_waiters(release_and_count) == 7 ? count_here(mutex) : 9;
}

/* The grandchild finds traces of the waiters of both. */
static void fork_twice(void)
{
	renew(&private_mutex);
	say("exit status: %d", fork_among_waiters(fork_again));
	say("counted in the parent: %d", count_here(&private_mutex));
}

static int fork_it(void *unused)
{
	(void)unused;
	return fork_among_waiters(release_and_count);
}

static void fork_by_thread(void)
{
	renew(&private_mutex);
	say("exit status: %d", elsewhere(fork_it, NULL));
	say("counted in the parent: %d", count_here(&private_mutex));
}

static bool handlers_active;

static void before_fork(void)
{
	if (!handlers_active)
		return;
	require(do_op(OP_LOCK, &private_mutex) == 0, "lock");
	require(do_op(OP_LOCK, &other_mutex) == 0, "lock");
}

static void after_fork_in_parent(void)
{
	if (!handlers_active)
		return;
	require(do_op(OP_UNLOCK, &other_mutex) == 0, "unlock");
	require(do_op(OP_UNLOCK, &private_mutex) == 0, "unlock");
}

static void after_fork_in_child(void)
{
	if (!handlers_active)
		return;
	release_in_child(&other_mutex);
	release_in_child(&private_mutex);
}

static volatile bool hammering;
static unsigned long hammered;

static void *hammer(void *unused)
{
	while (hammering) {
		require(do_op(OP_LOCK, &private_mutex) == 0, "lock");
		require(do_op(OP_LOCK, &other_mutex) == 0, "lock");
		hammered++;
		require(do_op(OP_UNLOCK, &other_mutex) == 0, "unlock");
		require(do_op(OP_UNLOCK, &private_mutex) == 0, "unlock");
		sched_yield();
	}
	return unused;
}

static int count_under_both(void *unused)
{
	(void)unused;
	int status = count_here(&private_mutex);
	return status == 7 ? count_here(&other_mutex) : status;
}

/* Handlers take every lock before the fork, so that the child finds them in order. */
static void fork_with_handlers(void)
{
	enum { THREADS = 3, FORKS = 8 };
	pthread_t threads[THREADS];
	int good = 0;
	renew(&private_mutex);
	renew(&other_mutex);
	require(pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0,
	        "pthread_atfork");
	handlers_active = hammering = true;
	for (int i = 0; i < THREADS; i++)
		threads[i] = start(hammer, NULL);
	for (int i = 0; i < FORKS; i++)
		good += in_child(count_under_both, NULL) == 7;
	hammering = handlers_active = false;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	say("%d of %d children good", good, FORKS);
	say("counted in the parent: %d", count_under_both(NULL));
}

/* The child has one thread, however many its parent had. */
static int use_alone(void *mutex)
{
	for (int i = 0; i < 100; i++) {
		require(do_op(OP_LOCK, mutex) == 0, "lock");
		require(do_op(OP_UNLOCK, mutex) == 0, "unlock");
	}
	return count_here(mutex);
}

static void fork_alone(void)
{
	renew(&private_mutex);
	say("exit status: %d", in_child(use_alone, &private_mutex));
	say("exit status: %d", in_child(use_alone, &private_mutex));
	say_op(OP_DESTROY, &private_mutex);
}

/* A mutex for two processes: parent and child count under it. */
struct shared_count {
	pthread_mutex_t *mutex;
	unsigned long counter;
};

static void count_in_both(struct shared_count *shared)
{
	for (int i = 0; i < 500; i++) {
		require(do_op(OP_LOCK, shared->mutex) == 0, "lock");
		shared->counter++;
		if (i % 16 == 0)
			sched_yield();
		require(do_op(OP_UNLOCK, shared->mutex) == 0, "unlock");
	}
}

static void *count_in_parent(void *shared)
{
	count_in_both(shared);
	return NULL;
}

static int count_in_child(void *shared)
{
	count_in_both(shared);
	return 4;
}

static void fork_and_share(void)
{
	struct shared_count *shared = shared_memory(sizeof(*shared));
	shared->mutex = new_mutex();
	pthread_t thread = start(count_in_parent, shared);
	say("exit status: %d", in_child(count_in_child, shared));
	pthread_join(thread, NULL);
	say("counted %lu", shared->counter);
	say_op(OP_DESTROY, shared->mutex);
}

const struct conform_case forks_cases[] = {
	{ "fork-by-owner", fork_by_owner, 0 },
	{ "fork-alone", fork_alone, 0 },
	{ "fork-with-waiters", fork_with_waiters, 0 },
	{ "fork-twice", fork_twice, TRAIT_CHILD_THREADS },
	{ "fork-by-thread", fork_by_thread, 0 },
	{ "fork-with-handlers", fork_with_handlers, 0 },
	{ "fork-and-share", fork_and_share, TRAIT_SHARED },
	{ NULL, NULL, 0 },
};
