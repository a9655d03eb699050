/*
 * Operations by name, threads that hold a mutex or count under it, and times.
 */
#include "conform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define SOON_MS         5
#define FAR_MS          3600000
#define ERRNO_UNTOUCHED 4095 /* no error has this number */
#define MOST_THREADS    64

const char *const op_names[OPS] = { "lock", "trylock", "timedlock", "clocklock realtime",
	"clocklock monotonic", "unlock", "destroy" };

const char *result_name(int result)
{
	const char *name = result == 0 ? "0" : strerrorname_np(result);
	return name != NULL ? name : "an unknown number";
}

static clockid_t op_clock(enum op op)
{
	return op == OP_CLOCK_MONO ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

static int call(enum op op, pthread_mutex_t *mutex, const struct timespec *deadline)
{
	switch (op) {
	case OP_LOCK:
		return pthread_mutex_lock(mutex);
	case OP_TRY:
		return pthread_mutex_trylock(mutex);
	case OP_TIMED:
		return pthread_mutex_timedlock(mutex, deadline);
	case OP_CLOCK_REAL:
	case OP_CLOCK_MONO:
		return pthread_mutex_clocklock(mutex, op_clock(op), deadline);
	case OP_UNLOCK:
		return pthread_mutex_unlock(mutex);
	case OP_DESTROY:
		return pthread_mutex_destroy(mutex);
	default:
		require(false, "no such operation");
		return -1;
	}
}

int do_op_until(enum op op, pthread_mutex_t *mutex, const struct timespec *deadline)
{
	int before = errno;
	errno = ERRNO_UNTOUCHED;
	int result = call(op, mutex, deadline);
	if (errno != ERRNO_UNTOUCHED)
		say("%s sets errno to %s", op_names[op], result_name(errno));
	errno = before;
	return result;
}

int do_op(enum op op, pthread_mutex_t *mutex)
{
	struct timespec deadline = time_after_ms(op_clock(op), SOON_MS);
	int result = do_op_until(op, mutex, &deadline);
	if (result == ETIMEDOUT && !time_has_come(op_clock(op), &deadline))
		say("%s gives up before its deadline", op_names[op]);
	return result;
}

int do_op_patiently(enum op op, pthread_mutex_t *mutex)
{
	struct timespec deadline = time_after_ms(op_clock(op), FAR_MS);
	return do_op_until(op, mutex, &deadline);
}

void say_op(enum op op, pthread_mutex_t *mutex)
{
	say("%s: %s", op_names[op], result_name(do_op(op, mutex)));
}

struct one_op {
	enum op op;
	pthread_mutex_t *mutex;
};

static int do_and_undo(void *argument)
{
	const struct one_op *one = argument;
	int result = do_op(one->op, one->mutex);
	if (result == 0 && one->op < OP_ACQUIRING)
		do_op(OP_UNLOCK, one->mutex);
	return result;
}

void say_op_elsewhere(enum op op, pthread_mutex_t *mutex)
{
	struct one_op one = { op, mutex };
	int result = elsewhere(do_and_undo, &one);
	say("%s by another thread: %s", op_names[op], result_name(result));
}

pthread_t start(void *(*function)(void *argument), void *argument)
{
	pthread_t thread;
	require(pthread_create(&thread, NULL, function, argument) == 0, "pthread_create");
	return thread;
}

struct errand {
	int (*function)(void *argument);
	void *argument;
	int result;
};

static void *run_errand(void *argument)
{
	struct errand *errand = argument;
	errand->result = errand->function(errand->argument);
	return NULL;
}

int elsewhere(int (*function)(void *argument), void *argument)
{
	struct errand errand = { function, argument, 0 };
	pthread_t thread = start(run_errand, &errand);
	require(pthread_join(thread, NULL) == 0, "pthread_join");
	return errand.result;
}

static void *hold(void *argument)
{
	struct holder *holder = argument;
	holder->locked = do_op(OP_LOCK, holder->mutex);
	sem_post(&holder->held);
	semaphore_wait(&holder->release);
	holder->unlocked = do_op(OP_UNLOCK, holder->mutex);
	return NULL;
}

void holder_start(struct holder *holder, pthread_mutex_t *mutex)
{
	holder->mutex = mutex;
	semaphore_init(&holder->held);
	semaphore_init(&holder->release);
	holder->thread = start(hold, holder);
	semaphore_wait(&holder->held);
	require(holder->locked == 0, "the holder's lock");
}

void holder_end(struct holder *holder)
{
	sem_post(&holder->release);
	require(pthread_join(holder->thread, NULL) == 0, "pthread_join");
}

struct timespec time_after_ms(clockid_t clock, long ms)
{
	struct timespec time;
	clock_gettime(clock, &time);
	time.tv_sec += ms / 1000;
	time.tv_nsec += ms % 1000 * 1000000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_nsec -= 1000000000;
		time.tv_sec++;
	}
	return time;
}

bool time_has_come(clockid_t clock, const struct timespec *time)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec > time->tv_sec ||
	       (now.tv_sec == time->tv_sec && now.tv_nsec >= time->tv_nsec);
}

void sleep_ms(long ms)
{
	struct timespec wake = time_after_ms(CLOCK_MONOTONIC, ms);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL) == EINTR)
		;
}

void semaphore_init(sem_t *semaphore)
{
	require(sem_init(semaphore, 1, 0) == 0, "sem_init");
}

void semaphore_wait(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		require(errno == EINTR, "sem_wait");
}

void count_up(struct counting *counting)
{
	if (counting->inside++ != 0)
		counting->overlaps++;
	counting->counter++;
	counting->inside--;
}

void count_once(struct counting *counting, unsigned round)
{
	(void)round;
	require(do_op(OP_LOCK, counting->mutex) == 0, "lock");
	count_up(counting);
	require(do_op(OP_UNLOCK, counting->mutex) == 0, "unlock");
}

static void *count(void *argument)
{
	struct counting *counting = argument;
	for (unsigned i = 0; i < counting->rounds; i++)
		counting->once(counting, i);
	return NULL;
}

static void count_in_threads(struct counting *counting)
{
	pthread_t threads[MOST_THREADS];
	require(counting->threads <= MOST_THREADS, "too many threads");
	for (unsigned i = 0; i < counting->threads; i++)
		threads[i] = start(count, counting);
	for (unsigned i = 0; i < counting->threads; i++)
		require(pthread_join(threads[i], NULL) == 0, "pthread_join");
}

bool count_all(struct counting *counting)
{
	unsigned long wanted =
	        counting->counter + (unsigned long)counting->threads * counting->rounds;
	if (!is_child() || (system_traits() & TRAIT_CHILD_THREADS) != 0)
		count_in_threads(counting);
	else
		for (unsigned i = 0; i < counting->threads; i++)
			count(counting);
	return counting->counter == wanted && counting->overlaps == 0;
}

void say_count_all(struct counting *counting)
{
	bool exact = count_all(counting);
	say("%u threads count %lu, %lu overlaps: %s", counting->threads, counting->counter,
	        counting->overlaps, exact ? "exact" : "WRONG");
}
