/*
 * The calls on semaphores by name, and threads that wait for one.
 */
#include "sem_ops.h"

#include <errno.h>

#define SOON_MS         5
#define FAR_MS          3600000
#define ERRNO_UNTOUCHED 4095 /* no error has this number */

const char *const sem_names[SEM_OPS] = { "wait", "trywait", "timedwait", "clockwait realtime",
	"clockwait monotonic" };

sem_t *new_sem(unsigned value)
{
	sem_t *semaphore = shared_memory(sizeof(*semaphore));
	require(sem_init(semaphore, kind_under_test->shared, value) == 0, "sem_init");
	return semaphore;
}

static clockid_t op_clock(enum sem_op op)
{
	return op == SEM_CLOCK_MONO ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

static int call(enum sem_op op, sem_t *semaphore, const struct timespec *deadline)
{
	switch (op) {
	case SEM_WAIT:
		return sem_wait(semaphore);
	case SEM_TRY:
		return sem_trywait(semaphore);
	case SEM_TIMED:
		return sem_timedwait(semaphore, deadline);
	default:
		return sem_clockwait(semaphore, op_clock(op), deadline);
	}
}

int sem_do_until(enum sem_op op, sem_t *semaphore, const struct timespec *deadline)
{
	errno = ERRNO_UNTOUCHED;
	int result = call(op, semaphore, deadline);
	if (result != 0 && result != -1)
		say("%s answers %d", sem_names[op], result);
	if (result == 0 && errno != ERRNO_UNTOUCHED)
		say("%s sets errno to %s", sem_names[op], result_name(errno));
	return result == 0 ? 0 : errno;
}

int sem_do(enum sem_op op, sem_t *semaphore)
{
	struct timespec deadline = time_after_ms(op_clock(op), SOON_MS);
	int error = sem_do_until(op, semaphore, &deadline);
	if (error == ETIMEDOUT && !time_has_come(op_clock(op), &deadline))
		say("%s gives up before its deadline", sem_names[op]);
	return error;
}

int sem_do_patiently(enum sem_op op, sem_t *semaphore)
{
	struct timespec deadline = time_after_ms(op_clock(op), FAR_MS);
	return sem_do_until(op, semaphore, &deadline);
}

void say_value(sem_t *semaphore)
{
	int value = -1;
	int result = sem_getvalue(semaphore, &value);
	say("getvalue: %d, %d units", result, value);
}

void say_sem(enum sem_op op, sem_t *semaphore)
{
	int value = -1;
	int error = sem_do(op, semaphore);
	sem_getvalue(semaphore, &value);
	say("%s: %s, %d units left", sem_names[op], result_name(error), value);
}

static void *wait_once(void *argument)
{
	struct sem_waiter *waiter = argument;
	waiter->error = sem_do_patiently(waiter->op, waiter->semaphore);
	waiter->done = true;
	semaphore_wait(&waiter->end);
	return NULL;
}

void sem_waiter_start(struct sem_waiter *waiter, enum sem_op op, sem_t *semaphore)
{
	waiter->semaphore = semaphore;
	waiter->op = op;
	waiter->done = false;
	semaphore_init(&waiter->end);
	waiter->thread = start(wait_once, waiter);
}

void sem_waiter_end(struct sem_waiter *waiter)
{
	while (!waiter->done)
		sleep_ms(1);
	sem_post(&waiter->end);
	require(pthread_join(waiter->thread, NULL) == 0, "pthread_join");
}
