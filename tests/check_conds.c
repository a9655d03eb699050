/*
 * Condition variables: the wait for the signal and the wait for the mutex are told apart. Sleeps
 * give lower bounds only; nothing here asserts that something was quick.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "shim/real.h"
#include "tests/sanitized.h"
#include "tests/totals.h"

#define SLEEP_NS 50000000L
#define LEAST_NS 45000000u

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int waiting, go;

static void sleep_once(void)
{
	nanosleep(&(struct timespec){ 0, SLEEP_NS }, NULL);
}

static void *wait_once(void *unused)
{
	pthread_mutex_lock(&mutex);
	waiting++;
	while (!go)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void start_waiters(pthread_t *threads, int count)
{
	for (int i = 0; i < count; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_once, NULL), 0);
	for (int seen = 0; seen < count;) {
		pthread_mutex_lock(&mutex);
		seen = waiting;
		pthread_mutex_unlock(&mutex);
	}
}

static void join_all(pthread_t *threads, int count)
{
	for (int i = 0; i < count; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

START_TEST(signal_and_mutex_are_two_numbers)
{
	pthread_t thread;
	start_waiters(&thread, 1);
	sleep_once(); /* for the signal */
	pthread_mutex_lock(&mutex);
	go = 1;
	pthread_cond_signal(&cond);
	sleep_once(); /* for the mutex */
	pthread_mutex_unlock(&mutex);
	join_all(&thread, 1);

	struct totals totals = totals_read();
	ck_assert_uint_eq(totals.counters.cond.waits, 1);
	ck_assert_uint_eq(totals.counters.cond.signals, 1);
	ck_assert_uint_eq(totals.counters.cond.unsplit, 0);
	ck_assert_uint_ge(totals.counters.cond.signal_wait_ns_total, LEAST_NS);
	ck_assert_uint_ge(totals.counters.cond.mutex_wait_ns_total, LEAST_NS);
	ck_assert_uint_eq(
	        totals.counters.cond.signal_wait_ns_max, totals.counters.cond.signal_wait_ns_total);
	ck_assert_uint_eq(
	        totals.counters.cond.mutex_wait_ns_max, totals.counters.cond.mutex_wait_ns_total);
}
END_TEST

START_TEST(broadcast_charges_every_waiter)
{
	pthread_t threads[12]; /* more than the table notes single times for */
	start_waiters(threads, 12);
	pthread_mutex_lock(&mutex);
	go = 1;
	pthread_cond_broadcast(&cond);
	sleep_once();
	pthread_mutex_unlock(&mutex);
	join_all(threads, 12);

	struct totals totals = totals_read();
	ck_assert_uint_eq(totals.counters.cond.waits, 12);
	ck_assert_uint_eq(totals.counters.cond.broadcasts, 1);
	ck_assert_uint_eq(totals.counters.cond.unsplit, 0);
	ck_assert_uint_ge(totals.counters.cond.mutex_wait_ns_total, 12 * (uint64_t)LEAST_NS);
}
END_TEST

static void *broadcast_once(void *unused)
{
	pthread_mutex_lock(&mutex);
	go = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	return unused;
}

START_TEST(signal_of_a_thread_without_a_slot_is_seen)
{
	pthread_t threads[2];
	start_waiters(threads, 1);
	record_places[REGION_THREADS].capacity = record_header->regions[REGION_THREADS].used;
	ck_assert_int_eq(pthread_create(&threads[1], NULL, broadcast_once, NULL), 0);
	join_all(threads, 2);
	struct totals totals = totals_read();
	ck_assert_uint_eq(record_header->threads_lost, 1);
	ck_assert_uint_eq(totals.counters.cond.waits, 1);
	ck_assert_uint_eq(totals.counters.cond.broadcasts, 0);
	ck_assert_uint_eq(totals.counters.cond.unsplit, 0);
}
END_TEST

START_TEST(signal_of_libc_leaves_the_wait_unsplit)
{
	pthread_t thread;
	start_waiters(&thread, 1);
	pthread_mutex_lock(&mutex);
	go = 1;
	real_functions.pthread_cond_signal(&cond);
	sleep_once();
	pthread_mutex_unlock(&mutex);
	join_all(&thread, 1);

	struct totals totals = totals_read();
	ck_assert_uint_eq(totals.counters.cond.waits, 1);
	ck_assert_uint_eq(totals.counters.cond.unsplit, 1);
	ck_assert_uint_eq(totals.counters.cond.mutex_wait_ns_total, 0);
	ck_assert_uint_ge(totals.counters.cond.signal_wait_ns_total, LEAST_NS);
}
END_TEST

START_TEST(timeout_is_a_wait_for_the_signal)
{
	struct timespec deadline;
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_nsec += SLEEP_NS;
	deadline.tv_sec += deadline.tv_nsec / 1000000000;
	deadline.tv_nsec %= 1000000000;
	pthread_mutex_lock(&mutex);
	ck_assert_int_eq(pthread_cond_timedwait(&cond, &mutex, &deadline), ETIMEDOUT);
	pthread_mutex_unlock(&mutex);

	struct totals totals = totals_read();
	ck_assert_uint_eq(totals.counters.cond.waits, 1);
	ck_assert_uint_eq(totals.counters.cond.timed_out, 1);
	ck_assert_uint_ge(totals.counters.cond.signal_wait_ns_total, LEAST_NS);
	ck_assert_uint_eq(totals.counters.cond.mutex_wait_ns_total, 0);
}
END_TEST

static void unlock(void *unused)
{
	(void)unused;
	pthread_mutex_unlock(&mutex);
}

static void *wait_for_cancellation(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, NULL);
	waiting++;
	for (;;)
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
	return unused;
}

START_TEST(cancelled_waiter_leaves_the_table)
{
	pthread_t thread;
	void *result;
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_cancellation, NULL), 0);
	for (int seen = 0; seen == 0;) {
		pthread_mutex_lock(&mutex);
		seen = waiting;
		pthread_mutex_unlock(&mutex);
	}
	ck_assert_int_eq(pthread_cancel(thread), 0);
	ck_assert_int_eq(pthread_join(thread, &result), 0);
	ck_assert_ptr_eq(result, PTHREAD_CANCELED);

	const struct record_region *region = &record_header->regions[REGION_CONDS];
	uint32_t waiters = 0, rows = 0;
	for (uint32_t i = 0; i < region->capacity; i++) {
		const struct record_cond *row = record_entry(REGION_CONDS, i);
		waiters += row->waiters;
		rows += row->address == (uint64_t)(uintptr_t)&cond;
	}
	ck_assert_uint_eq(rows, 1);
	ck_assert_uint_eq(waiters, 0);
	ck_assert_uint_eq(totals_read().counters.cond.waits, 0);
}
END_TEST

START_TEST(more_condition_variables_than_rows)
{
	enum { CONDS = 3000 };
	static pthread_cond_t conds[CONDS];
	static const struct timespec past = { 1, 0 };
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < CONDS; i++) {
		pthread_cond_init(&conds[i], NULL);
		ck_assert_int_eq(pthread_cond_timedwait(&conds[i], &mutex, &past), ETIMEDOUT);
		ck_assert_int_eq(pthread_cond_signal(&conds[i]), 0);
	}
	pthread_mutex_unlock(&mutex);
	ck_assert_uint_eq(totals_read().counters.cond.waits, CONDS);
	ck_assert_uint_eq(totals_read().counters.cond.signals, CONDS);
}
END_TEST

int main(void)
{
	if (THREAD_SANITIZER) {
		puts("the thread sanitizer does not see that a condition wait takes its mutex");
		return 77;
	}
	Suite *suite = suite_create("condition variables");
	TCase *tcase = tcase_create("split");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, signal_and_mutex_are_two_numbers);
	tcase_add_test(tcase, broadcast_charges_every_waiter);
	tcase_add_test(tcase, signal_of_a_thread_without_a_slot_is_seen);
	tcase_add_test(tcase, signal_of_libc_leaves_the_wait_unsplit);
	tcase_add_test(tcase, timeout_is_a_wait_for_the_signal);
	tcase_add_test(tcase, cancelled_waiter_leaves_the_table);
	tcase_add_test(tcase, more_condition_variables_than_rows);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
