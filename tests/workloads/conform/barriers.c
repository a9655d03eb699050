/*
 * Barriers: every round lets all go, and tells exactly one that it was the last.
 */
#include "conform.h"

#include <limits.h>
#include <signal.h>

static int init_barrier(pthread_barrier_t *barrier, unsigned count)
{
	pthread_barrierattr_t attributes;
	pthread_barrierattr_init(&attributes);
	pthread_barrierattr_setpshared(&attributes,
	        kind_under_test->shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
	int result = pthread_barrier_init(barrier, &attributes, count);
	pthread_barrierattr_destroy(&attributes);
	return result;
}

static const char *wait_name(int result)
{
	return result == PTHREAD_BARRIER_SERIAL_THREAD ? "serial" : result_name(result);
}

static void answers(void)
{
	pthread_barrier_t *barrier = shared_memory(sizeof(*barrier));
	say("init of none: %s", result_name(init_barrier(barrier, 0)));
	say("init of too many: %s", result_name(init_barrier(barrier, UINT_MAX)));
	say("init of one: %s", result_name(init_barrier(barrier, 1)));
	for (int i = 0; i < 3; i++)
		say("wait alone: %s", wait_name(pthread_barrier_wait(barrier)));
	say("destroy: %s", result_name(pthread_barrier_destroy(barrier)));
	say("init again: %s", result_name(pthread_barrier_init(barrier, NULL, 1)));
	say("wait alone: %s", wait_name(pthread_barrier_wait(barrier)));
}

struct rounds {
	pthread_barrier_t barrier;
	unsigned threads, rounds, serial, early, failed;
	unsigned long arrived;
};

/* Nobody leaves a round before all have arrived in it. */
static void *take_part(void *argument)
{
	struct rounds *all = argument;
	for (unsigned round = 1; round <= all->rounds; round++) {
		__atomic_fetch_add(&all->arrived, 1, __ATOMIC_RELAXED);
		int result = pthread_barrier_wait(&all->barrier);
		if (result == PTHREAD_BARRIER_SERIAL_THREAD)
			__atomic_fetch_add(&all->serial, 1, __ATOMIC_RELAXED);
		else if (result != 0)
			__atomic_fetch_add(&all->failed, 1, __ATOMIC_RELAXED);
		if (__atomic_load_n(&all->arrived, __ATOMIC_RELAXED) < round * all->threads)
			__atomic_fetch_add(&all->early, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void say_rounds(const struct rounds *all)
{
	say("%u rounds, %u serial, %u early, %u failed", all->rounds, all->serial, all->early,
	        all->failed);
}

static void rounds_of_threads(void)
{
	enum { THREADS = 4 };
	struct rounds *all = shared_memory(sizeof(*all));
	pthread_t threads[THREADS];
	all->threads = THREADS;
	all->rounds = 50;
	require(init_barrier(&all->barrier, THREADS) == 0, "pthread_barrier_init");
	for (int i = 0; i < THREADS; i++)
		threads[i] = start(take_part, all);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	say_rounds(all);
	say("destroy: %s", result_name(pthread_barrier_destroy(&all->barrier)));
}

static int take_part_in_child(void *all)
{
	take_part(all);
	return 0;
}

static void *start_child(void *all)
{
	say("a child: %d", in_child(take_part_in_child, all));
	return NULL;
}

static void rounds_of_processes(void)
{
	struct rounds *all = shared_memory(sizeof(*all));
	pthread_t threads[2];
	all->threads = 3;
	all->rounds = 20;
	require(init_barrier(&all->barrier, 3) == 0, "pthread_barrier_init");
	for (int i = 0; i < 2; i++)
		threads[i] = start(start_child, all);
	take_part(all);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	say_rounds(all);
}

static volatile sig_atomic_t handled;

static void count_signal(int signal)
{
	(void)signal;
	handled++;
}

static void *wait_then_test(void *argument)
{
	struct rounds *all = argument;
	if (pthread_barrier_wait(&all->barrier) > 0)
		all->failed++;
	pthread_testcancel();
	return NULL;
}

/* Neither a signal nor a cancellation ends a wait. */
static void undisturbed(void)
{
	struct sigaction action = { .sa_handler = count_signal };
	struct rounds *all = shared_memory(sizeof(*all));
	void *value;
	handled = 0;
	sigaction(SIGUSR1, &action, NULL);
	require(init_barrier(&all->barrier, 2) == 0, "pthread_barrier_init");
	pthread_t thread = start(wait_then_test, all);
	while (handled < 5) {
		pthread_kill(thread, SIGUSR1);
		sleep_ms(1);
	}
	pthread_cancel(thread);
	sleep_ms(2);
	int result = pthread_barrier_wait(&all->barrier);
	pthread_join(thread, &value);
	say("wait: %s, %u failed, then %s", result > 0 ? result_name(result) : "done", all->failed,
	        value == PTHREAD_CANCELED ? "cancelled" : "returned");
}

const struct conform_case barriers_cases[] = {
	{ "barrier-answers", answers, 0 },
	{ "barrier-threads", rounds_of_threads, 0 },
	{ "barrier-processes", rounds_of_processes, TRAIT_SHARED },
	{ "barrier-undisturbed", undisturbed, 0 },
	{ NULL, NULL, 0 },
};
