/*
 * Barriers and pthread_once: counted and timed, whoever waits and however a function ends.
 */
#include <sched.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/locks.h"

static pthread_barrier_t barrier;
static pthread_once_t once, inner_once;
static sem_t entered;
static int runs, failures;

static void begin(void)
{
	thread_current();
	counted_before = totals_read().counters;
}

static void *meet(void *unused)
{
	int result = pthread_barrier_wait(&barrier);
	return result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD ? unused : "failed";
}

START_TEST(barriers_count)
{
	begin();
	expect(pthread_barrier_init(&barrier, NULL, 2), 0);
	ck_assert_uint_ne(record_lock_creation((uint64_t)(uintptr_t)&barrier), 0);
	pthread_t thread = locks_start(meet, NULL);
	locks_sleep_ms(5);
	locks_join(locks_start(meet, NULL));
	locks_join(thread);
	struct barrier_counters counts = locks_counted().barrier;
	expect(counts.waits, 2);
	expect(counts.serial, 1);
	expect(counts.lost, 0);
	ck_assert_uint_gt(counts.wait_ns_total, counts.wait_ns_max);
	const struct record_lock *row = locks_only(REGION_LOCKS);
	expect(row->address, (uintptr_t)&barrier);
	expect(row->family, FAMILY_barrier);
	expect(row->wait.waits, 2);
	expect(row->wait.wait_ns_total, counts.wait_ns_total);
	expect(pthread_barrier_destroy(&barrier), 0);
	expect(row->destroyed, 1);
}
END_TEST

static void run_a_while(void)
{
	runs++;
	sem_post(&entered);
	locks_sleep_ms(5);
}

static void *call(void *unused)
{
	int result = pthread_once(&once, run_a_while);
	__asm__ volatile("" : "+r"(result)); /* the call is not the last thing done */
	return result == 0 && runs == 1 ? unused : "failed";
}

START_TEST(waits_for_another_run)
{
	begin();
	sem_init(&entered, 0, 0);
	pthread_t first = locks_start(call, NULL);
	sem_wait(&entered);
	pthread_t second = locks_start(call, NULL);
	locks_join(first);
	locks_join(second);
	expect(pthread_once(&once, run_a_while), 0);
	expect(pthread_once(&once, run_a_while), 0);
	struct once_counters counts = locks_counted().once;
	expect(counts.ran, 1);
	ck_assert_uint_ge(counts.run_ns_total, 5000000);
	expect(counts.run_ns_max, counts.run_ns_total);
	/* The second thread may have come so late that nothing was left to wait for. */
	expect(counts.contended + counts.calls, 3);
	if (counts.contended == 0)
		return;
	expect(counts.wait_ns_max, counts.wait_ns_total);
	/* The sem_wait above may have waited as well. */
	const struct record_lock *row = record_entry(REGION_LOCKS, 0);
	while (row->family != FAMILY_once)
		row++;
	expect(row->address, (uintptr_t)&once);
	expect(row->wait.waits, 1);
	expect(row->wait.wait_ns_total, counts.wait_ns_total);
}
END_TEST

static void run_quickly(void)
{
	runs++;
}

static void run_nested(void)
{
	expect(pthread_once(&inner_once, run_quickly), 0);
	runs += 10;
}

START_TEST(nested_calls)
{
	begin();
	expect(pthread_once(&once, run_nested), 0);
	expect(runs, 11);
	expect(pthread_once(&inner_once, run_nested), 0);
	struct once_counters counts = locks_counted().once;
	expect(counts.ran, 2);
	expect(counts.calls, 1);
	expect(counts.contended, 0);
	expect(record_header->regions[REGION_LOCKS].used, 0);
}
END_TEST

static void end_the_thread(void)
{
	runs++;
	locks_sleep_ms(5);
	if (failures-- > 0)
		pthread_exit(NULL);
}

static void *call_ending(void *unused)
{
	pthread_once(&once, end_the_thread);
	return unused;
}

static void *end_at_once(void *unused)
{
	pthread_exit(unused);
}

/* libgcc, which unwinds the ending thread's stack, calls pthread_once for itself as well. */
START_TEST(functions_that_end_the_thread)
{
	locks_join(locks_start(end_at_once, NULL));
	begin();
	failures = 2;
	for (int i = 0; i < 4; i++)
		locks_join(locks_start(call_ending, NULL));
	struct once_counters counts = locks_counted().once;
	expect(runs, 3);
	expect(counts.ran, 3);
	ck_assert_uint_ge(counts.calls, 1);
	expect(counts.contended, 0);
	ck_assert_uint_ge(counts.run_ns_total, 3 * 5000000);
}
END_TEST

static void end_inside(void)
{
	pthread_once(&inner_once, end_the_thread);
}

static void *call_nested(void *unused)
{
	pthread_once(&once, end_inside);
	return unused;
}

/* Both functions are left. */
START_TEST(nested_functions_that_end_the_thread)
{
	locks_join(locks_start(end_at_once, NULL));
	begin();
	failures = 1;
	locks_join(locks_start(call_nested, NULL));
	struct once_counters counts = locks_counted().once;
	expect(counts.ran, 2);
	ck_assert_uint_ge(counts.run_ns_total, 2 * 5000000);
	locks_join(locks_start(call_nested, NULL));
	counts = locks_counted().once;
	expect(counts.ran, 4);
	ck_assert_uint_ge(counts.run_ns_total, 4 * 5000000);
}
END_TEST

static void end_first_run(void)
{
	sem_post(&entered);
	locks_sleep_ms(20);
	if (runs++ == 0)
		pthread_exit(NULL);
}

static void *call_ended(void *unused)
{
	pthread_once(&once, end_first_run);
	return unused;
}

START_TEST(waits_for_a_run_that_ends_early)
{
	locks_join(locks_start(end_at_once, NULL));
	begin();
	sem_init(&entered, 0, 0);
	pthread_t first = locks_start(call_ended, NULL);
	sem_wait(&entered);
	pthread_t second = locks_start(call_ended, NULL);
	locks_join(first);
	locks_join(second);
	struct once_counters counts = locks_counted().once;
	expect(runs, 2);
	expect(counts.ran, 2);
	ck_assert_uint_ge(counts.run_ns_total, 2 * 20000000);
	/* The second thread may have come so late that nothing was left to wait for. */
	ck_assert_uint_le(counts.contended, 1);
	expect(counts.wait_ns_max, counts.wait_ns_total);
	expect(counts.wait_ns_total > 0, counts.contended);
}
END_TEST

static pid_t child;

static void fork_inside(void)
{
	child = fork();
}

/* The child is a process of its own, whose record begins within the function. */
START_TEST(functions_that_fork)
{
	int status;
	begin();
	expect(pthread_once(&once, fork_inside), 0);
	expect(pthread_once(&once, fork_inside), 0);
	if (child == 0)
		_exit(totals_read().counters.once.calls == 1 ? 0 : 1);
	expect(waitpid(child, &status, 0), child);
	expect(status, 0);
	expect(locks_counted().once.ran, 1);
	expect(locks_counted().once.calls, 1);
}
END_TEST

START_TEST(statistics_off)
{
	begin();
	locks_control()->stats = STATS_OFF;
	expect(pthread_once(&once, run_quickly), 0);
	expect(pthread_barrier_init(&barrier, NULL, 1), 0);
	expect(pthread_barrier_wait(&barrier), PTHREAD_BARRIER_SERIAL_THREAD);
	struct counters counts = locks_counted();
	expect(counts.once.ran, 1);
	expect(counts.barrier.waits, 1);
	expect(counts.once.run_ns_total + counts.barrier.wait_ns_total, 0);
	expect(record_header->regions[REGION_LOCKS].used, 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("barriers and once");
	tcase_add_test(cases, barriers_count);
	tcase_add_test(cases, waits_for_another_run);
	tcase_add_test(cases, nested_calls);
	tcase_add_test(cases, functions_that_end_the_thread);
	tcase_add_test(cases, nested_functions_that_end_the_thread);
	tcase_add_test(cases, waits_for_a_run_that_ends_early);
	tcase_add_test(cases, functions_that_fork);
	tcase_add_test(cases, statistics_off);
	return locks_run(cases, "check_once");
}
