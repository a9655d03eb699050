/*
 * Cancellation: waiting for a mutex is no cancellation point, waiting for a condition variable is
 * one, and the mutex is held again when the cleanup handlers run.
 */
#include "conform.h"

#include <errno.h>
#include <unistd.h>

struct cancelled {
	pthread_mutex_t *mutex;
	pthread_cond_t cond;
	enum op op;
	sem_t started;
	int result;          /* of the operation; -1 when it did not return */
	int tried, unlocked; /* by the cleanup handler */
	bool went_on;        /* past the cancellation point behind the operation */
	int (*wait)(struct cancelled *cancelled);
};

static void init(struct cancelled *cancelled, enum op op)
{
	static const pthread_cond_t no_cond = PTHREAD_COND_INITIALIZER;
	cancelled->cond = no_cond;
	cancelled->op = op;
	cancelled->result = cancelled->tried = cancelled->unlocked = -1;
	cancelled->went_on = false;
	semaphore_init(&cancelled->started);
}

static void clean_up(void *argument)
{
	struct cancelled *cancelled = argument;
	cancelled->unlocked = do_op(OP_UNLOCK, cancelled->mutex);
}

static void *acquire_then_test(void *argument)
{
	struct cancelled *cancelled = argument;
	sem_post(&cancelled->started);
	cancelled->result = do_op_patiently(cancelled->op, cancelled->mutex);
	pthread_cleanup_push(clean_up, cancelled);
	pthread_testcancel();
	cancelled->went_on = true;
	pthread_cleanup_pop(1);
	return NULL;
}

static const char *end_name(const void *value)
{
	return value == PTHREAD_CANCELED ? "cancelled" : "returned";
}

/* Cancels a thread that waits for a mutex; then lets it have the mutex. */
static void cancel_waiter(enum op op)
{
	struct holder holder;
	struct cancelled cancelled = { .mutex = new_mutex() };
	void *value;
	init(&cancelled, op);
	holder_start(&holder, cancelled.mutex);
	pthread_t thread = start(acquire_then_test, &cancelled);
	semaphore_wait(&cancelled.started);
	sleep_ms(2);
	require(pthread_cancel(thread) == 0, "pthread_cancel");
	sleep_ms(2);
	holder_end(&holder);
	pthread_join(thread, &value);
	say("%s: %s, %s, unlock %s, went on: %d", op_names[op], result_name(cancelled.result),
	        end_name(value), result_name(cancelled.unlocked), cancelled.went_on);
	say_op(OP_TRY, cancelled.mutex);
	say_op(OP_UNLOCK, cancelled.mutex);
}

static void cancelled_in_lock(void)
{
	cancel_waiter(OP_LOCK);
	cancel_waiter(OP_TIMED);
	cancel_waiter(OP_CLOCK_REAL);
	cancel_waiter(OP_CLOCK_MONO);
}

static void *use_with_cancel_pending(void *argument)
{
	struct cancelled *cancelled = argument;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	semaphore_wait(&cancelled->started); /* the request has been made */
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	for (enum op op = 0; op < OP_ACQUIRING; op++) {
		cancelled->result = do_op(op, cancelled->mutex);
		if (cancelled->result == 0)
			do_op(OP_UNLOCK, cancelled->mutex);
	}
	pthread_cond_signal(&cancelled->cond);
	pthread_cond_broadcast(&cancelled->cond);
	cancelled->tried = do_op(OP_TRY, cancelled->mutex);
	pthread_cleanup_push(clean_up, cancelled);
	pthread_testcancel();
	cancelled->went_on = true;
	pthread_cleanup_pop(1);
	return NULL;
}

/* The request is there before the calls; none of them acts on it. */
static void cancel_pending(void)
{
	struct cancelled cancelled = { .mutex = new_mutex() };
	void *value;
	init(&cancelled, OP_LOCK);
	pthread_t thread = start(use_with_cancel_pending, &cancelled);
	require(pthread_cancel(thread) == 0, "pthread_cancel");
	sem_post(&cancelled.started);
	pthread_join(thread, &value);
	say("%s, trylock %s, unlock %s, went on: %d", end_name(value), result_name(cancelled.tried),
	        result_name(cancelled.unlocked), cancelled.went_on);
	say_op(OP_TRY, cancelled.mutex);
	say_op(OP_UNLOCK, cancelled.mutex);
}

static int wait_plainly(struct cancelled *cancelled)
{
	return pthread_cond_wait(&cancelled->cond, cancelled->mutex);
}

static int wait_with_deadline(struct cancelled *cancelled)
{
	struct timespec deadline = time_after_ms(CLOCK_REALTIME, 3600000);
	return pthread_cond_timedwait(&cancelled->cond, cancelled->mutex, &deadline);
}

static int wait_on_clock(struct cancelled *cancelled)
{
	struct timespec deadline = time_after_ms(CLOCK_MONOTONIC, 3600000);
	return pthread_cond_clockwait(
	        &cancelled->cond, cancelled->mutex, CLOCK_MONOTONIC, &deadline);
}

static int try_it(void *mutex)
{
	int result = do_op(OP_TRY, mutex);
	if (result == 0)
		do_op(OP_UNLOCK, mutex);
	return result;
}

static void look_and_clean_up(void *argument)
{
	struct cancelled *cancelled = argument;
	cancelled->tried = elsewhere(try_it, cancelled->mutex);
	cancelled->unlocked = do_op(OP_UNLOCK, cancelled->mutex);
}

static void *wait_for_cond(void *argument)
{
	struct cancelled *cancelled = argument;
	require(do_op(OP_LOCK, cancelled->mutex) == 0, "lock");
	pthread_cleanup_push(look_and_clean_up, cancelled);
	sem_post(&cancelled->started);
	for (;;)
		cancelled->result = cancelled->wait(cancelled);
	pthread_cleanup_pop(1);
	return NULL;
}

static void cancel_cond_waiter(const char *name, int (*wait)(struct cancelled *cancelled))
{
	struct cancelled cancelled = { .mutex = new_mutex(), .wait = wait };
	void *value;
	init(&cancelled, OP_LOCK);
	pthread_t thread = start(wait_for_cond, &cancelled);
	semaphore_wait(&cancelled.started);
	require(do_op(OP_LOCK, cancelled.mutex) == 0, "lock"); /* the thread waits */
	require(pthread_cancel(thread) == 0, "pthread_cancel");
	sleep_ms(1);
	require(do_op(OP_UNLOCK, cancelled.mutex) == 0, "unlock");
	pthread_join(thread, &value);
	say("%s: %s, trylock by another thread in the cleanup handler %s, unlock there %s", name,
	        end_name(value), result_name(cancelled.tried), result_name(cancelled.unlocked));
	say_op(OP_TRY, cancelled.mutex);
	say_op(OP_UNLOCK, cancelled.mutex);
	say("cond_destroy: %s", result_name(pthread_cond_destroy(&cancelled.cond)));
}

static void cancelled_in_cond_wait(void)
{
	cancel_cond_waiter("cond_wait", wait_plainly);
	cancel_cond_waiter("cond_timedwait", wait_with_deadline);
	cancel_cond_waiter("cond_clockwait", wait_on_clock);
}

static void *use_with_asynchronous_type(void *argument)
{
	struct cancelled *cancelled = argument;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	sem_post(&cancelled->started);
	cancelled->result = do_op(OP_LOCK, cancelled->mutex);
	for (int i = 0; i < 100; i++) {
		do_op(OP_UNLOCK, cancelled->mutex);
		cancelled->result = do_op(OP_LOCK, cancelled->mutex);
	}
	cancelled->unlocked = do_op(OP_UNLOCK, cancelled->mutex);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL); /* acts at once */
	cancelled->went_on = true;
	return NULL;
}

static void cancel_disabled(void)
{
	struct holder holder;
	struct cancelled cancelled = { .mutex = new_mutex() };
	void *value;
	init(&cancelled, OP_LOCK);
	holder_start(&holder, cancelled.mutex);
	pthread_t thread = start(use_with_asynchronous_type, &cancelled);
	semaphore_wait(&cancelled.started);
	require(pthread_cancel(thread) == 0, "pthread_cancel");
	sleep_ms(1);
	holder_end(&holder);
	pthread_join(thread, &value);
	say("%s: %s, unlock %s, went on: %d", end_name(value), result_name(cancelled.result),
	        result_name(cancelled.unlocked), cancelled.went_on);
	say_op(OP_TRY, cancelled.mutex);
	say_op(OP_UNLOCK, cancelled.mutex);
}

const struct conform_case cancel_cases[] = {
	{ "cancelled-in-lock", cancelled_in_lock, 0 },
	{ "cancel-pending", cancel_pending, 0 },
	{ "cancelled-in-cond-wait", cancelled_in_cond_wait, 0 },
	{ "cancel-disabled", cancel_disabled, 0 },
	{ NULL, NULL, 0 },
};
