/*
 * Waiting for a semaphore is a cancellation point: a cancellation that is pending at the call, or
 * comes during the wait, runs the cleanup handlers and takes no unit.
 */
#include "sem_ops.h"

#include <errno.h>

struct cancelled {
	sem_t *semaphore;
	enum sem_op op;
	int type, state; /* of cancellation */
	bool pending;    /* the thread cancels itself before the call */
	sem_t started;
	int error;      /* -1 when the call did not return */
	int cleaned_up; /* how often */
};

static void clean_up(void *argument)
{
	struct cancelled *cancelled = argument;
	cancelled->cleaned_up++;
}

static void *wait_to_be_cancelled(void *argument)
{
	struct cancelled *cancelled = argument;
	pthread_setcanceltype(cancelled->type, NULL);
	pthread_setcancelstate(cancelled->state, NULL);
	pthread_cleanup_push(clean_up, cancelled);
	sem_post(&cancelled->started);
	if (cancelled->pending)
		pthread_cancel(pthread_self());
	cancelled->error = sem_do_patiently(cancelled->op, cancelled->semaphore);
	pthread_cleanup_pop(0);
	return NULL;
}

/* units: those that are there at the call. later: post one when the cancellation had its time. */
static void cancel(struct cancelled *cancelled, unsigned units, bool later)
{
	void *value;
	cancelled->semaphore = new_sem(units);
	cancelled->error = -1;
	cancelled->cleaned_up = 0;
	semaphore_init(&cancelled->started);
	pthread_t thread = start(wait_to_be_cancelled, cancelled);
	semaphore_wait(&cancelled->started);
	if (!cancelled->pending) {
		sleep_ms(2);
		pthread_cancel(thread);
	}
	if (later) {
		sleep_ms(2);
		sem_post(cancelled->semaphore);
	}
	pthread_join(thread, &value);
	say("%s: %s, %s, cleaned up %d times", sem_names[cancelled->op],
	        value == PTHREAD_CANCELED ? "cancelled" : "returned",
	        cancelled->error == -1 ? "no answer" : result_name(cancelled->error),
	        cancelled->cleaned_up);
	say_value(cancelled->semaphore);
}

static void cancel_all(struct cancelled one, unsigned units, bool later)
{
	for (enum sem_op op = 0; op < SEM_OPS; op++) {
		one.op = op;
		if (op != SEM_TRY)
			cancel(&one, units, later);
	}
}

static void while_waiting(void)
{
	cancel_all((struct cancelled){ .pending = false }, 0, false);
}

static void pending_without_unit(void)
{
	cancel_all((struct cancelled){ .pending = true }, 0, false);
}

static void pending_with_unit(void)
{
	cancel_all((struct cancelled){ .pending = true }, 1, false);
	struct cancelled tries = { .pending = true, .op = SEM_TRY };
	cancel(&tries, 1, false);
}

static void asynchronous(void)
{
	cancel_all((struct cancelled){ .type = PTHREAD_CANCEL_ASYNCHRONOUS }, 0, false);
}

static void disabled(void)
{
	cancel_all((struct cancelled){ .state = PTHREAD_CANCEL_DISABLE, .pending = true }, 0, true);
	cancel_all((struct cancelled){ .state = PTHREAD_CANCEL_DISABLE }, 0, true);
}

/* A bad deadline is told before a pending cancellation is looked at. */
static void *give_bad_deadline(void *argument)
{
	struct cancelled *cancelled = argument;
	struct timespec bad = { 1, -1 };
	pthread_cancel(pthread_self());
	cancelled->error = sem_do_until(cancelled->op, cancelled->semaphore, &bad);
	return NULL;
}

static void bad_deadline_first(void)
{
	for (enum sem_op op = SEM_TIMED; op < SEM_OPS; op++) {
		struct cancelled one = { .semaphore = new_sem(1), .op = op, .error = -1 };
		void *value;
		pthread_join(start(give_bad_deadline, &one), &value);
		say("%s: %s, %s", sem_names[op],
		        value == PTHREAD_CANCELED ? "cancelled" : "returned",
		        one.error == -1 ? "no answer" : result_name(one.error));
	}
}

/* Threads that are cancelled while others post: no unit is lost. */
static void no_unit_is_lost(void)
{
	enum { WAITERS = 8, POSTS = 4 };
	pthread_t threads[WAITERS];
	struct cancelled all[WAITERS];
	sem_t *semaphore = new_sem(0);
	int took = 0, left = 0;
	for (int i = 0; i < WAITERS; i++) {
		all[i] = (struct cancelled){ .semaphore = semaphore, .error = -1 };
		all[i].op = i % 2 == 0 ? SEM_WAIT : SEM_CLOCK_MONO;
		semaphore_init(&all[i].started);
		threads[i] = start(wait_to_be_cancelled, &all[i]);
	}
	for (int i = 0; i < WAITERS; i++) {
		if (i < POSTS)
			sem_post(semaphore);
		pthread_cancel(threads[i]);
	}
	for (int i = 0; i < WAITERS; i++) {
		pthread_join(threads[i], NULL);
		took += all[i].error == 0;
	}
	while (sem_trywait(semaphore) == 0)
		left++;
	say("%d units", took + left);
}

const struct conform_case sem_cancel_cases[] = {
	{ "sem-cancelled-waiting", while_waiting, 0 },
	{ "sem-cancel-pending", pending_without_unit, 0 },
	{ "sem-cancel-pending-with-unit", pending_with_unit, 0 },
	{ "sem-cancel-asynchronous", asynchronous, 0 },
	{ "sem-cancel-disabled", disabled, 0 },
	{ "sem-bad-deadline-first", bad_deadline_first, 0 },
	{ "sem-no-unit-is-lost", no_unit_is_lost, 0 },
	{ NULL, NULL, 0 },
};
