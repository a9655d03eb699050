/*
 * pthread_once: the function runs once, whoever calls; one that does not return is run again by the
 * next caller, in a forked child as well.
 */
#include "conform.h"

#include <sys/wait.h>
#include <unistd.h>

static pthread_once_t once, inner_once;
static unsigned runs, inner_runs;
static sem_t entered, may_return;
static unsigned failures; /* of how many runs still to come */

static void renew(unsigned failing)
{
	static const pthread_once_t initialiser = PTHREAD_ONCE_INIT;
	once = inner_once = initialiser;
	runs = inner_runs = 0;
	failures = failing;
	semaphore_init(&entered);
	semaphore_init(&may_return);
}

static void count_run(void)
{
	runs++;
	sleep_ms(2);
}

static void *call_once_now(void *argument)
{
	require(pthread_once(&once, count_run) == 0, "pthread_once");
	require(runs == 1, "one run before the return");
	return argument;
}

static void many_callers(void)
{
	enum { THREADS = 6 };
	pthread_t threads[THREADS];
	renew(0);
	for (int i = 0; i < THREADS; i++)
		threads[i] = start(call_once_now, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	say("%u runs; called again: %d, %u runs", runs, pthread_once(&once, count_run), runs);
}

static void count_inner(void)
{
	inner_runs++;
}

static void call_inner(void)
{
	runs++;
	say("inside: %d", pthread_once(&inner_once, count_inner));
	say("inside again: %d", pthread_once(&inner_once, count_inner));
}

static void nested(void)
{
	renew(0);
	for (int i = 0; i < 2; i++)
		say("outside: %d", pthread_once(&once, call_inner));
	say("%u and %u runs", runs, inner_runs);
}

static void end_or_return(void)
{
	runs++;
	if (failures == 0)
		return;
	failures--;
	pthread_exit(NULL);
}

static void *call_ending(void *argument)
{
	pthread_once(&once, end_or_return);
	return argument;
}

static void ended_inside(void)
{
	int here;
	renew(2);
	for (int i = 0; i < 4; i++) {
		void *value;
		pthread_t thread = start(call_ending, &here);
		pthread_join(thread, &value);
		say("caller %d %s, %u runs", i, value == &here ? "returns" : "ends", runs);
	}
}

static void wait_inside(void)
{
	runs++;
	sem_post(&entered);
	if (failures == 0)
		return;
	failures--;
	semaphore_wait(&may_return); /* a cancellation point */
}

static void *call_waiting(void *argument)
{
	pthread_once(&once, wait_inside);
	return argument;
}

/* One caller is cancelled inside; another, which waits for it, runs the function instead. */
static void cancelled_inside(void)
{
	int here;
	void *first_value, *second_value;
	renew(1);
	pthread_t first = start(call_waiting, &here);
	semaphore_wait(&entered);
	pthread_t second = start(call_waiting, &here);
	sleep_ms(2);
	pthread_cancel(first);
	pthread_join(first, &first_value);
	pthread_join(second, &second_value);
	say("first %s, second %s, %u runs",
	        first_value == PTHREAD_CANCELED ? "cancelled" : "returned",
	        second_value == &here ? "returned" : "cancelled", runs);
}

/* Waiting for another's run is no cancellation point. */
static void cancelled_outside(void)
{
	int here;
	void *value;
	renew(1);
	pthread_t first = start(call_waiting, &here);
	semaphore_wait(&entered);
	pthread_t second = start(call_waiting, &here);
	sleep_ms(2);
	pthread_cancel(second);
	sleep_ms(2);
	sem_post(&may_return);
	pthread_join(first, NULL);
	pthread_join(second, &value);
	say("the waiting caller %s, %u runs", value == &here ? "returned" : "cancelled", runs);
}

static int call_in_child(void *argument)
{
	(void)argument;
	int result = pthread_once(&once, count_run);
	say("in the child: %d, %u runs", result, runs);
	return 0;
}

/* The child has no thread that could end the run it finds begun: it runs the function itself. */
static void forked_meanwhile(void)
{
	renew(1);
	pthread_t first = start(call_waiting, NULL);
	semaphore_wait(&entered);
	say("a child: %d", in_child(call_in_child, NULL));
	sem_post(&may_return);
	pthread_join(first, NULL);
	say("in the parent: %d, %u runs", pthread_once(&once, count_run), runs);
}

static pid_t forked;

static void fork_inside(void)
{
	runs++;
	forked = fork();
	if (forked == 0)
		runs += 10;
}

static int call_forking(void *argument)
{
	int status = -1;
	(void)argument;
	bool good = pthread_once(&once, fork_inside) == 0 && pthread_once(&once, count_run) == 0;
	if (forked == 0)
		_exit(good && runs == 11 ? 0 : 1);
	require(waitpid(forked, &status, 0) == forked, "waitpid");
	say("the child went on: %d, %u runs here", status, runs);
	return good ? 0 : 1;
}

static void forked_inside(void)
{
	renew(0);
	say("all: %d", in_child(call_forking, NULL));
}

const struct conform_case onces_cases[] = {
	{ "once-many-callers", many_callers, 0 },
	{ "once-nested", nested, 0 },
	{ "once-ended-inside", ended_inside, 0 },
	{ "once-cancelled-inside", cancelled_inside, 0 },
	{ "once-cancelled-outside", cancelled_outside, 0 },
	{ "once-forked-meanwhile", forked_meanwhile, 0 },
	{ "once-forked-inside", forked_inside, 0 },
	{ NULL, NULL, 0 },
};
