/*
 * Spinlocks: what each call answers, and that whoever waits gets the lock in the end.
 */
#include "conform.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>

#define ERRNO_UNTOUCHED 4095 /* no error has this number */

static pthread_spinlock_t *new_spinlock(void)
{
	pthread_spinlock_t *lock = shared_memory(sizeof(*lock));
	int shared = kind_under_test->shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;
	require(pthread_spin_init((pthread_spinlock_t *)lock, shared) == 0, "pthread_spin_init");
	return lock;
}

static void say_try(pthread_spinlock_t *lock)
{
	int result = pthread_spin_trylock(lock);
	say("trylock: %s", result_name(result));
	if (result == 0)
		say("unlock: %s", result_name(pthread_spin_unlock(lock)));
}

static void answers(void)
{
	pthread_spinlock_t *lock = new_spinlock();
	errno = ERRNO_UNTOUCHED;
	for (int round = 0; round < 2; round++) {
		say("lock: %s", result_name(pthread_spin_lock(lock)));
		say_try(lock);
		say_try(lock);
		say("unlock: %s", result_name(pthread_spin_unlock(lock)));
		say_try(lock);
		say("destroy: %s", result_name(pthread_spin_destroy(lock)));
		say("init: %s", result_name(pthread_spin_init(lock, PTHREAD_PROCESS_PRIVATE)));
	}
	say("errno untouched: %d", errno == ERRNO_UNTOUCHED);
}

struct waiter {
	pthread_spinlock_t *lock;
	sem_t started;
	int locked, unlocked;
};

static void *wait_for_it(void *argument)
{
	struct waiter *waiter = argument;
	sem_post(&waiter->started);
	waiter->locked = pthread_spin_lock(waiter->lock);
	waiter->unlocked = pthread_spin_unlock(waiter->lock);
	pthread_testcancel();
	return NULL;
}

static volatile sig_atomic_t handled;

static void count_signal(int signal)
{
	(void)signal;
	handled++;
}

/* Neither signals nor a pending cancellation end the wait. */
static void waiting(void)
{
	struct sigaction action = { .sa_handler = count_signal };
	struct waiter waiter = { .lock = new_spinlock(), .locked = -1, .unlocked = -1 };
	void *value;
	handled = 0;
	sigaction(SIGUSR1, &action, NULL);
	semaphore_init(&waiter.started);
	pthread_spin_lock(waiter.lock);
	pthread_t thread = start(wait_for_it, &waiter);
	semaphore_wait(&waiter.started);
	while (handled < 5) {
		pthread_kill(thread, SIGUSR1);
		sleep_ms(1);
	}
	pthread_cancel(thread);
	sleep_ms(2);
	say_try(waiter.lock);
	say("unlock by its owner: %s", result_name(pthread_spin_unlock(waiter.lock)));
	pthread_join(thread, &value);
	say("lock: %s, unlock: %s, then %s", result_name(waiter.locked),
	        result_name(waiter.unlocked), value == PTHREAD_CANCELED ? "cancelled" : "returned");
	say_try(waiter.lock);
}

struct count {
	pthread_spinlock_t *lock;
	unsigned rounds;
	volatile unsigned long counter, inside, overlaps;
};

static void *count_under_it(void *argument)
{
	struct count *count = argument;
	for (unsigned i = 0; i < count->rounds; i++) {
		if (i % 3 != 0 || pthread_spin_trylock(count->lock) != 0)
			pthread_spin_lock(count->lock);
		if (count->inside++ != 0)
			count->overlaps++;
		count->counter++;
		if (i % 64 == 0)
			sched_yield();
		count->inside--;
		pthread_spin_unlock(count->lock);
	}
	return NULL;
}

static void exclusion(void)
{
	enum { THREADS = 4 };
	struct count count = { .lock = new_spinlock(), .rounds = 500 };
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		threads[i] = start(count_under_it, &count);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	say("%lu counted, %lu overlaps", count.counter, count.overlaps);
	say_try(count.lock);
}

static int try_in_child(void *lock)
{
	say_try(lock);
	return 0;
}

static int unlock_in_child(void *lock)
{
	return pthread_spin_unlock(lock);
}

static void in_forked_children(void)
{
	pthread_spinlock_t *lock = new_spinlock();
	say("free: %d", in_child(try_in_child, (void *)lock));
	pthread_spin_lock(lock);
	say("held by the parent: %d", in_child(try_in_child, (void *)lock));
	say("released by the child: %d", in_child(unlock_in_child, (void *)lock));
	say_try(lock);
}

static int count_in_child(void *count)
{
	count_under_it(count);
	return 0;
}

static void *start_child(void *count)
{
	say("a child: %d", in_child(count_in_child, count));
	return NULL;
}

static void among_processes(void)
{
	struct count *count = shared_memory(sizeof(*count));
	count->lock = new_spinlock();
	count->rounds = 300;
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		threads[i] = start(start_child, count);
	count_under_it(count);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	say("%lu counted, %lu overlaps", count->counter, count->overlaps);
}

const struct conform_case spinlocks_cases[] = {
	{ "spin-answers", answers, 0 },
	{ "spin-waiting", waiting, 0 },
	{ "spin-exclusion", exclusion, 0 },
	{ "spin-forked", in_forked_children, 0 },
	{ "spin-processes", among_processes, TRAIT_SHARED },
	{ NULL, NULL, 0 },
};
