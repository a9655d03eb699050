/*
 * Signals: a handler that runs while a thread waits changes nothing; no call says EINTR, no
 * deadline moves.
 */
#include "conform.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

static volatile sig_atomic_t handled;

static void count_signal(int signal)
{
	(void)signal;
	handled++;
}

/* Sends a signal every millisecond to all targets, until stopped. */
struct sender {
	pthread_t thread;
	pthread_t targets[8];
	int count;
	volatile bool stop;
};

static void *send_signals(void *argument)
{
	struct sender *sender = argument;
	while (!sender->stop) {
		for (int i = 0; i < sender->count; i++)
			pthread_kill(sender->targets[i], SIGUSR1);
		sleep_ms(1);
	}
	return NULL;
}

static void sender_start(struct sender *sender)
{
	struct sigaction action = { .sa_handler = count_signal }; /* no SA_RESTART */
	handled = 0;
	sigaction(SIGUSR1, &action, NULL);
	sender->stop = false;
	sender->thread = start(send_signals, sender);
}

static void sender_stop(struct sender *sender)
{
	sender->stop = true;
	pthread_join(sender->thread, NULL);
}

static void wait_until_handled(int times)
{
	while (handled < times)
		sleep_ms(1);
}

struct waiter {
	pthread_mutex_t *mutex;
	enum op op;
	int result, unlocked;
	sem_t done, end;
};

/* Stays until told, so that signals find the thread. */
static void *wait_under_signals(void *argument)
{
	struct waiter *waiter = argument;
	waiter->result = do_op_patiently(waiter->op, waiter->mutex);
	if (waiter->result == 0)
		waiter->unlocked = do_op(OP_UNLOCK, waiter->mutex);
	sem_post(&waiter->done);
	semaphore_wait(&waiter->end);
	return NULL;
}

static void signalled_waiters(void)
{
	enum { WAITERS = 4 };
	static const enum op ops[WAITERS] = { OP_LOCK, OP_TIMED, OP_CLOCK_REAL, OP_CLOCK_MONO };
	struct holder holder;
	struct waiter waiters[WAITERS];
	struct sender sender = { .count = WAITERS };
	pthread_mutex_t *mutex = new_mutex();
	holder_start(&holder, mutex);
	for (int i = 0; i < WAITERS; i++) {
		waiters[i] = (struct waiter){ .mutex = mutex, .op = ops[i], .unlocked = -1 };
		semaphore_init(&waiters[i].done);
		semaphore_init(&waiters[i].end);
		sender.targets[i] = start(wait_under_signals, &waiters[i]);
	}
	sender_start(&sender);
	wait_until_handled(WAITERS * 10);
	holder_end(&holder);
	for (int i = 0; i < WAITERS; i++)
		semaphore_wait(&waiters[i].done);
	sender_stop(&sender);
	for (int i = 0; i < WAITERS; i++) {
		sem_post(&waiters[i].end);
		pthread_join(sender.targets[i], NULL);
		say("%s: %s, unlock %s", op_names[ops[i]], result_name(waiters[i].result),
		        result_name(waiters[i].unlocked));
	}
	say_op(OP_DESTROY, mutex);
}

static void *time_out_under_signals(void *argument)
{
	struct waiter *waiter = argument;
	clockid_t clock = waiter->op == OP_CLOCK_MONO ? CLOCK_MONOTONIC : CLOCK_REALTIME;
	struct timespec deadline = time_after_ms(clock, 20);
	waiter->result = do_op_until(waiter->op, waiter->mutex, &deadline);
	waiter->unlocked = time_has_come(clock, &deadline) ? 0 : -1;
	sem_post(&waiter->done);
	semaphore_wait(&waiter->end);
	return NULL;
}

static void signalled_timeouts(void)
{
	struct holder holder;
	pthread_mutex_t *mutex = new_mutex();
	holder_start(&holder, mutex);
	for (enum op op = OP_TIMED; op < OP_ACQUIRING; op++) {
		struct sender sender = { .count = 1 };
		struct waiter waiter = { .mutex = mutex, .op = op };
		semaphore_init(&waiter.done);
		semaphore_init(&waiter.end);
		sender.targets[0] = start(time_out_under_signals, &waiter);
		sender_start(&sender);
		semaphore_wait(&waiter.done);
		wait_until_handled(1);
		sender_stop(&sender);
		sem_post(&waiter.end);
		pthread_join(sender.targets[0], NULL);
		say("%s: %s, %s", op_names[op], result_name(waiter.result),
		        waiter.unlocked == 0 ? "at its deadline" : "EARLY");
	}
	holder_end(&holder);
}

static void *count_under_signals(void *argument)
{
	struct counting *counting = argument;
	say_count_all(counting);
	return NULL;
}

static void *stay(void *semaphore)
{
	semaphore_wait(semaphore);
	return NULL;
}

static void count_and_yield(struct counting *counting, unsigned round)
{
	require(do_op(OP_LOCK, counting->mutex) == 0, "lock");
	count_up(counting);
	if (round % 8 == 0)
		sleep_ms(0);
	require(do_op(OP_UNLOCK, counting->mutex) == 0, "unlock");
}

/* Signals to the process: the kernel gives them to any thread that does not block them. */
static void signalled_exclusion(void)
{
	sem_t end;
	struct sender sender = { .count = 1 };
	struct counting counting = {
		.mutex = new_mutex(), .threads = 4, .rounds = 500, .once = count_and_yield
	};
	semaphore_init(&end);
	sender.targets[0] = start(stay, &end);
	sender_start(&sender);
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec every_ms = { { 0, 1000000 }, { 0, 1000000 } };
	require(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
	require(timer_settime(timer, 0, &every_ms, NULL) == 0, "timer_settime");
	pthread_t thread = start(count_under_signals, &counting);
	pthread_join(thread, NULL);
	wait_until_handled(1);
	timer_delete(timer);
	sender_stop(&sender);
	sem_post(&end);
	pthread_join(sender.targets[0], NULL);
	say_op(OP_DESTROY, counting.mutex);
}

const struct conform_case signals_cases[] = {
	{ "signalled-waiters", signalled_waiters, 0 },
	{ "signalled-timeouts", signalled_timeouts, 0 },
	{ "signalled-exclusion", signalled_exclusion, 0 },
	{ NULL, NULL, 0 },
};
