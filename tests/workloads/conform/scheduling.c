/*
 * CPUs and priorities: one CPU for all, affinities that change, and a waiter that the scheduler
 * prefers to the owner.
 */
#include "conform.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

static int first_cpu(const cpu_set_t *cpus)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus))
			return cpu;
	require(false, "no CPU");
	return -1;
}

static void stay_on(int cpu)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	require(sched_setaffinity(0, sizeof(one), &one) == 0, "sched_setaffinity");
}

static void count_slowly(struct counting *counting, unsigned round)
{
	require(do_op(OP_LOCK, counting->mutex) == 0, "lock");
	count_up(counting);
	if (round % 2 == 0)
		sched_yield();
	require(do_op(OP_UNLOCK, counting->mutex) == 0, "unlock");
}

static void one_cpu(void)
{
	cpu_set_t before;
	struct counting counting = {
		.mutex = new_mutex(), .threads = 4, .rounds = 100, .once = count_slowly
	};
	require(sched_getaffinity(0, sizeof(before), &before) == 0, "sched_getaffinity");
	stay_on(first_cpu(&before));
	say_count_all(&counting);
	require(sched_setaffinity(0, sizeof(before), &before) == 0, "sched_setaffinity");
	say_op(OP_DESTROY, counting.mutex);
}

static cpu_set_t all_cpus;

/* Now on one CPU, now on all, also while the mutex is held. */
static void count_and_move(struct counting *counting, unsigned round)
{
	if (round % 10 == 0)
		stay_on(first_cpu(&all_cpus));
	require(do_op(OP_LOCK, counting->mutex) == 0, "lock");
	count_up(counting);
	if (round % 10 == 5)
		sched_setaffinity(0, sizeof(all_cpus), &all_cpus);
	require(do_op(OP_UNLOCK, counting->mutex) == 0, "unlock");
}

static void affinity_changes(void)
{
	struct counting counting = {
		.mutex = new_mutex(), .threads = 4, .rounds = 200, .once = count_and_move
	};
	require(sched_getaffinity(0, sizeof(all_cpus), &all_cpus) == 0, "sched_getaffinity");
	say_count_all(&counting);
	say_op(OP_DESTROY, counting.mutex);
}

struct race {
	pthread_mutex_t *mutex;
	sem_t held, waiter_comes, waiter_leaves;
	int waits, refusal;
};

static bool prefer_self(int *refusal)
{
	struct sched_param param = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };
	*refusal = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	return *refusal == 0;
}

static void *own_as_the_lesser(void *argument)
{
	struct race *race = argument;
	for (int i = 0; i < race->waits; i++) {
		require(do_op(OP_LOCK, race->mutex) == 0, "lock");
		sem_post(&race->held);
		semaphore_wait(&race->waiter_comes); /* it preempts this thread from here on */
		for (int j = 0; j < 10; j++)
			sched_yield();
		require(do_op(OP_UNLOCK, race->mutex) == 0, "unlock");
		semaphore_wait(&race->waiter_leaves);
	}
	return NULL;
}

static void *wait_as_the_preferred(void *argument)
{
	struct race *race = argument;
	bool preferred = prefer_self(&race->refusal);
	for (int i = 0; i < race->waits; i++) {
		semaphore_wait(&race->held);
		sem_post(&race->waiter_comes);
		if (preferred)
			require(do_op(OP_LOCK, race->mutex) == 0, "lock");
		if (preferred)
			require(do_op(OP_UNLOCK, race->mutex) == 0, "unlock");
		sem_post(&race->waiter_leaves);
	}
	return NULL;
}

/* The owner can only run when the waiter sleeps: a waiter that spins for ever would hang both. */
static void waiter_of_higher_priority(void)
{
	cpu_set_t before;
	struct race race = { .mutex = new_mutex(), .waits = 10 };
	semaphore_init(&race.held);
	semaphore_init(&race.waiter_comes);
	semaphore_init(&race.waiter_leaves);
	require(sched_getaffinity(0, sizeof(before), &before) == 0, "sched_getaffinity");
	stay_on(first_cpu(&before));
	pthread_t owner = start(own_as_the_lesser, &race);
	pthread_t waiter = start(wait_as_the_preferred, &race);
	pthread_join(waiter, NULL);
	pthread_join(owner, NULL);
	require(sched_setaffinity(0, sizeof(before), &before) == 0, "sched_setaffinity");
	if (race.refusal != 0)
		say("SCHED_FIFO is not granted: %s", result_name(race.refusal));
	say_op(OP_DESTROY, race.mutex);
}

/* The same with two owners and two waiters of one mutex. */
static void waiters_of_higher_priority(void)
{
	cpu_set_t before;
	enum { PAIRS = 2 };
	struct race races[PAIRS];
	pthread_t threads[PAIRS * 2];
	pthread_mutex_t *mutex = new_mutex();
	require(sched_getaffinity(0, sizeof(before), &before) == 0, "sched_getaffinity");
	stay_on(first_cpu(&before));
	for (int i = 0; i < PAIRS; i++) {
		races[i] = (struct race){ .mutex = mutex, .waits = 5 };
		semaphore_init(&races[i].held);
		semaphore_init(&races[i].waiter_comes);
		semaphore_init(&races[i].waiter_leaves);
		threads[i * 2] = start(own_as_the_lesser, &races[i]);
		threads[i * 2 + 1] = start(wait_as_the_preferred, &races[i]);
	}
	for (int i = 0; i < PAIRS * 2; i++)
		pthread_join(threads[i], NULL);
	require(sched_setaffinity(0, sizeof(before), &before) == 0, "sched_setaffinity");
	say_op(OP_DESTROY, mutex);
}

const struct conform_case scheduling_cases[] = {
	{ "one-cpu", one_cpu, 0 },
	{ "affinity-changes", affinity_changes, 0 },
	{ "fifo-waiter", waiter_of_higher_priority, TRAIT_PLAIN },
	{ "fifo-waiters", waiters_of_higher_priority, TRAIT_PLAIN },
	{ NULL, NULL, 0 },
};
