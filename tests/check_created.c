/*
 * Where locks were initialised: found again, forgotten, replaced, counted where there was no room,
 * and known in forked children. Runs without the shim's own notes.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/created.h"
#include "probes/record_map.h"
#include "probes/waits.h"
#include "shim/start.h"
#include "shim/thread.h"

#define TOO_MANY 200000u
#define THREADS  4u
#define ROUNDS   20u
#define PART     500u

static uint64_t lock_number(uint64_t number)
{
	return 0x10000 + number * 40;
}

static uint64_t site_of(uint64_t lock)
{
	return lock ^ 0x5555;
}

static void keep_out(void)
{
	start_counting = false;
	thread_forget();
}

START_TEST(found_replaced_and_forgotten)
{
	ck_assert_uint_eq(record_lock_creation(0x1000), 0);
	record_lock_forget(0x1000);
	record_lock_created(0x1000, 0x20);
	record_lock_created(0x1008, 0x30);
	ck_assert_uint_eq(record_lock_creation(0x1000), 0x20);
	record_lock_created(0x1000, 0x40); /* initialised again without having been destroyed */
	ck_assert_uint_eq(record_lock_creation(0x1000), 0x40);
	record_lock_gone(0x1000, FAMILY_mutex);
	ck_assert_uint_eq(record_lock_creation(0x1000), 0);
	ck_assert_uint_eq(record_lock_creation(0x1008), 0x30);
	ck_assert_uint_eq(record_header->created_lost, 0);
}
END_TEST

/* Each lock is either found or was counted as lost. */
START_TEST(more_locks_than_room)
{
	uint64_t found = 0;
	for (uint64_t i = 0; i < TOO_MANY; i++)
		record_lock_created(lock_number(i), site_of(lock_number(i)));
	for (uint64_t i = 0; i < TOO_MANY; i++) {
		uint64_t site = record_lock_creation(lock_number(i));
		ck_assert(site == 0 || site == site_of(lock_number(i)));
		found += site != 0;
	}
	ck_assert_uint_eq(found + record_header->created_lost, TOO_MANY);
	ck_assert_uint_gt(found, record_header->regions[REGION_CREATED].capacity / 2);
	/* What goes makes room. */
	for (uint64_t i = 0; i < TOO_MANY; i++)
		record_lock_forget(lock_number(i));
	uint64_t lost = record_header->created_lost;
	for (uint64_t i = 0; i < 1000; i++)
		record_lock_created(lock_number(i), site_of(lock_number(i)));
	ck_assert_uint_eq(record_header->created_lost, lost);
}
END_TEST

/* Locks that come and go leave no more behind than those that are there at a time. */
START_TEST(short_lived_locks_take_little_room)
{
	for (uint64_t i = 0; i < TOO_MANY; i++) {
		record_lock_created(lock_number(i), site_of(lock_number(i)));
		ck_assert_uint_eq(record_lock_creation(lock_number(i)), site_of(lock_number(i)));
		record_lock_forget(lock_number(i));
	}
	ck_assert_uint_eq(record_header->created_lost, 0);
	ck_assert_uint_le(record_header->regions[REGION_CREATED].used, 1024);
}
END_TEST

/* Locks of its own, among those of the others; the last round's stay. */
static void *create_and_forget(void *number)
{
	uint64_t first = (uint64_t)(uintptr_t)number * PART;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (uint64_t i = first; i < first + PART; i++)
			record_lock_created(lock_number(i), site_of(lock_number(i)) + round);
		for (uint64_t i = first; i < first + PART; i++)
			if (record_lock_creation(lock_number(i)) != site_of(lock_number(i)) + round)
				return "a lock has another one's creation";
		for (uint64_t i = first; round + 1 < ROUNDS && i < first + PART; i++)
			record_lock_forget(lock_number(i));
	}
	return NULL;
}

START_TEST(threads_at_the_same_time)
{
	pthread_t threads[THREADS];
	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(
		        pthread_create(&threads[i], NULL, create_and_forget, (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		void *complaint;
		ck_assert_int_eq(pthread_join(threads[i], &complaint), 0);
		ck_assert_msg(complaint == NULL, "%s", (const char *)complaint);
	}
	for (uint64_t i = 0; i < (uint64_t)THREADS * PART; i++)
		ck_assert_uint_ne(record_lock_creation(lock_number(i)), 0);
	ck_assert_uint_eq(record_header->created_lost, 0);
}
END_TEST

START_TEST(forked_child_knows_them)
{
	int status;
	for (uint64_t i = 0; i < 5000; i++)
		record_lock_created(lock_number(i), site_of(lock_number(i)));
	record_lock_forget(lock_number(7));
	pid_t child = fork(); /* makes a new record, which counts */
	if (child == 0) {
		for (uint64_t i = 0; i < 5000; i++)
			if (record_lock_creation(lock_number(i)) !=
			        (i == 7 ? 0 : site_of(lock_number(i))))
				_exit(1);
		record_lock_forget(lock_number(8));
		_exit(record_header->pid != getpid() || record_header->created_lost != 0);
	}
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(record_lock_creation(lock_number(8)), site_of(lock_number(8)));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("creation of locks");
	TCase *tcase = tcase_create("creation of locks");
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, keep_out, NULL);
	tcase_add_test(tcase, found_replaced_and_forgotten);
	tcase_add_test(tcase, more_locks_than_room);
	tcase_add_test(tcase, short_lived_locks_take_little_room);
	tcase_add_test(tcase, threads_at_the_same_time);
	tcase_add_test(tcase, forked_child_knows_them);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
