/*
 * What each call on a semaphore answers, in its result and in errno, and what a signal handler or a
 * cancellation makes of a wait.
 */
#include "sem_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void answers(void)
{
	sem_t *semaphore = new_sem(0);
	for (enum sem_op op = SEM_TRY; op < SEM_OPS; op++)
		say_sem(op, semaphore);
	for (enum sem_op op = 0; op < SEM_OPS; op++) {
		say("post: %d", sem_post(semaphore));
		say_sem(op, semaphore);
	}
	say("destroy: %d", sem_destroy(semaphore));
	say("init: %d", sem_init(semaphore, 0, 2));
	for (enum sem_op op = SEM_TRY; op < SEM_OPS; op++)
		say_sem(op, semaphore);
}

static void limits(void)
{
	sem_t *semaphore = new_sem(0);
	errno = 0;
	say("init with more than a semaphore holds: %d", sem_init(semaphore, 0, UINT_MAX));
	say("errno %s", result_name(errno));
	say("init with all that it holds: %d", sem_init(semaphore, 0, SEM_VALUE_MAX));
	errno = 0;
	say("post: %d", sem_post(semaphore));
	say("errno %s", result_name(errno));
	say_sem(SEM_TRY, semaphore);
	say("post: %d", sem_post(semaphore));
	say_value(semaphore);
}

struct deadline {
	const char *name;
	struct timespec time;
};

/* A bad one is an error also where there is nothing to wait for, and before a cancellation. */
static void odd_deadlines(void)
{
	static const struct deadline deadlines[] = { { "the past", { 1, 0 } },
		{ "before 1970", { -1, 0 } }, { "negative ns", { LONG_MAX / 4, -1 } },
		{ "too many ns", { LONG_MAX / 4, 1000000000 } }, { "past, bad ns", { 1, -5 } } };
	sem_t *semaphore = new_sem(0);
	for (unsigned value = 0; value < 2; value++) {
		for (size_t i = 0; i < sizeof(deadlines) / sizeof(*deadlines); i++)
			for (enum sem_op op = SEM_TIMED; op < SEM_OPS; op++) {
				require(sem_init(semaphore, 1, value) == 0, "sem_init");
				int error = sem_do_until(op, semaphore, &deadlines[i].time);
				say("%s, %u units, %s: %s", sem_names[op], value, deadlines[i].name,
				        result_name(error));
			}
	}
}

static void odd_clocks(void)
{
	static const clockid_t clocks[] = { CLOCK_PROCESS_CPUTIME_ID, CLOCK_BOOTTIME, -1, 12345 };
	struct timespec past = { 1, 0 };
	sem_t *semaphore = new_sem(1);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		errno = 0;
		int result = sem_clockwait(semaphore, clocks[i], &past);
		say("clock %d: %d, errno %s", clocks[i], result, result_name(errno));
	}
	say_value(semaphore);
}

static void do_nothing(int signal)
{
	(void)signal;
}

/* Signals every ms until the wait ends. With SA_RESTART only a wait without a deadline goes on. */
static void interrupt(enum sem_op op, int flags)
{
	struct sigaction action = { .sa_handler = do_nothing, .sa_flags = flags };
	struct sem_waiter waiter;
	sem_t *semaphore = new_sem(0);
	sigaction(SIGUSR1, &action, NULL);
	sem_waiter_start(&waiter, op, semaphore);
	bool goes_on = flags != 0 && op == SEM_WAIT;
	for (int i = 0; i < 20 || (!goes_on && !waiter.done); i++) {
		pthread_kill(waiter.thread, SIGUSR1);
		sleep_ms(1);
	}
	if (!waiter.done)
		sem_post(semaphore);
	sem_waiter_end(&waiter);
	say("%s, SA_RESTART %d: %s", sem_names[op], flags != 0, result_name(waiter.error));
}

static void interrupted(void)
{
	for (enum sem_op op = 0; op < SEM_OPS; op++)
		if (op != SEM_TRY) {
			interrupt(op, 0);
			interrupt(op, SA_RESTART);
		}
}

static sem_t *posted_by_handler;

static void post(int signal)
{
	(void)signal;
	sem_post(posted_by_handler);
}

/* The handler of the waiting thread itself gives the unit. */
static void posted_in_handler(void)
{
	struct sigaction action = { .sa_handler = post };
	struct sem_waiter waiter;
	posted_by_handler = new_sem(0);
	sigaction(SIGUSR1, &action, NULL);
	for (enum sem_op op = 0; op < SEM_OPS; op++) {
		if (op == SEM_TRY)
			continue;
		sem_waiter_start(&waiter, op, posted_by_handler);
		sleep_ms(2);
		pthread_kill(waiter.thread, SIGUSR1);
		sem_waiter_end(&waiter);
		bool took = waiter.error == 0;
		int left = sem_trywait(posted_by_handler);
		say("%s: %s", sem_names[op],
		        took == (left != 0) ? "the unit is in one place" : "WRONG");
	}
}

static int be_child(void *semaphore)
{
	for (enum sem_op op = 0; op < SEM_OPS; op++)
		say_sem(op, semaphore);
	return sem_post(semaphore);
}

static void in_forked_children(void)
{
	sem_t *semaphore = new_sem(SEM_OPS);
	say("a child: %d", in_child(be_child, semaphore));
	say_value(semaphore);
}

static int answer_pings(void *argument)
{
	sem_t *semaphores = argument;
	for (int i = 0; i < 100; i++) {
		semaphore_wait(&semaphores[0]);
		sem_post(&semaphores[1]);
	}
	return 0;
}

static void *start_child(void *semaphores)
{
	say("a child: %d", in_child(answer_pings, semaphores));
	return NULL;
}

static void among_processes(void)
{
	sem_t *semaphores = shared_memory(2 * sizeof(sem_t));
	require(sem_init(&semaphores[0], 1, 0) == 0, "sem_init");
	require(sem_init(&semaphores[1], 1, 0) == 0, "sem_init");
	pthread_t thread = start(start_child, semaphores);
	for (int i = 0; i < 100; i++) {
		sem_post(&semaphores[0]);
		semaphore_wait(&semaphores[1]);
	}
	pthread_join(thread, NULL);
	say_value(&semaphores[0]);
	say_value(&semaphores[1]);
}

static void named(void)
{
	char name[64];
	snprintf(name, sizeof(name), "/conform-%d", getpid());
	sem_t *semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
	sem_unlink(name);
	if (semaphore == SEM_FAILED) {
		say("no named semaphores: %s", result_name(errno));
		return;
	}
	for (enum sem_op op = 0; op < SEM_OPS; op++) {
		say_sem(op, semaphore);
		say("post: %d", sem_post(semaphore));
	}
	say("close: %d", sem_close(semaphore));
}

const struct conform_case sems_cases[] = {
	{ "sem-answers", answers, 0 },
	{ "sem-limits", limits, 0 },
	{ "sem-deadlines", odd_deadlines, 0 },
	{ "sem-clocks", odd_clocks, 0 },
	{ "sem-interrupted", interrupted, 0 },
	{ "sem-posted-in-handler", posted_in_handler, 0 },
	{ "sem-forked", in_forked_children, TRAIT_SHARED },
	{ "sem-processes", among_processes, TRAIT_SHARED },
	{ "sem-named", named, TRAIT_SHARED },
	{ NULL, NULL, 0 },
};
