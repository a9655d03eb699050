/*
 * What the tests of locks other than mutexes share: strategies by number, what has been counted
 * since the test began, and what the record says of the only lock that was waited for.
 */
#ifndef TESTS_LOCKS_H
#define TESTS_LOCKS_H

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probes/created.h"
#include "shim/choice.h"
#include "shim/real.h"
#include "shim/thread.h"
#include "tests/sanitized.h"
#include "tests/totals.h"

#define CODE_NEAR 1024u /* a call site lies no further behind its function's start */

static const struct polling_row {
	const char *name;
	uint32_t count;
	unsigned families;
} pollings[] = {
#define POLLING(name, count, families, help) { #name, count, families },
#include "shim/pollings.def"
#undef POLLING
};

#define POLLINGS ((int)(sizeof(pollings) / sizeof(*pollings)))

static const struct timespec long_past = { 1, 0 };
static struct counters counted_before;

/* In place of ck_assert_int_eq, which takes a mutex: for where they are counted. */
#define expect(found, wanted) expect_at(__LINE__, (int64_t)(found), (int64_t)(wanted))

static inline void expect_at(int line, int64_t found, int64_t wanted)
{
	if (found != wanted)
		ck_abort_msg(
		        "line %d: found %jd, wanted %jd", line, (intmax_t)found, (intmax_t)wanted);
}

static inline struct record_control *locks_control(void)
{
	return record_entry(REGION_CONTROL, 0);
}

/* Whether the row is for the family; a loop test over all rows leaves the others alone. */
static inline bool locks_has(int row, enum choice_family family)
{
	return (pollings[row].families & (unsigned)family) != 0;
}

/* Whether a thread polls under the row; on one CPU it does not spin. */
static inline bool locks_polls(int row)
{
	return pollings[row].count != 0 &&
	       (strcmp(pollings[row].name, "spin") != 0 || thread_may_poll());
}

/* The row is in force from now on, with a count of its own (0: the default one), and counting
 * begins. */
static inline void locks_use(struct record_choice *choice, int row, uint32_t count)
{
	__atomic_store_n(
	        &choice->count, count != 0 ? count : pollings[row].count, __ATOMIC_RELAXED);
	__atomic_store_n(&choice->strategy, (uint32_t)row, __ATOMIC_RELAXED);
	thread_current();
	counted_before = totals_read().counters;
}

/* Counted since; the longest times are of the whole process. */
static inline struct counters locks_counted(void)
{
	struct counters now = totals_read().counters;
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		if (!counter_table[i].is_max)
			((uint64_t *)&now)[i] -= ((const uint64_t *)&counted_before)[i];
	return now;
}

/* The only row of a table that has one; threads that came at the same moment may have claimed
 * others, which stay empty. */
static inline const void *locks_only(enum record_region_id region)
{
	const uint64_t *only = NULL;
	for (uint32_t i = 0; i < record_header->regions[region].used; i++) {
		const uint64_t *row = record_entry(region, i);
		expect(*row != 0 && only != NULL, false);
		if (*row != 0)
			only = row;
	}
	expect(only != NULL, true);
	return only;
}

/* What the record says of a single wait, for the lock at the address, in the function. */
static inline void locks_expect_wait(const volatile void *address, enum record_family family,
        enum record_mode mode, void *(*function)(void *))
{
	const struct record_lock *lock = locks_only(REGION_LOCKS);
	const struct record_site *site = locks_only(REGION_SITES);
	expect(lock->address, (uintptr_t)address);
	expect(lock->family, family);
	expect(lock->kind, 0);
	expect(lock->wait.waits, 1);
	expect(site->lock, 0);
	expect(site->mode, mode);
	expect(site->wait.waits, 1);
	expect(site->wait.wait_ns_total, lock->wait.wait_ns_total);
	ck_assert_uint_lt(site->address - (uint64_t)(uintptr_t)function, CODE_NEAR);
}

static inline void locks_sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static inline pthread_t locks_start(void *(*function)(void *), void *argument)
{
	pthread_t thread;
	expect(pthread_create(&thread, NULL, function, argument), 0);
	return thread;
}

/* NULL, or what the thread complains of. */
static inline void locks_join(pthread_t thread)
{
	void *complaint;
	expect(pthread_join(thread, &complaint), 0);
	if (complaint != NULL)
		ck_abort_msg("%s", (const char *)complaint);
}

/* Runs the tests; not under the thread sanitizer, which knows libc's locks by their calls, and so
 * neither ours nor those inside of libc. */
static inline int locks_run(TCase *cases, const char *name)
{
	if (THREAD_SANITIZER) {
		printf("%s: the thread sanitizer does not see these locks\n", name);
		return 77;
	}
	Suite *suite = suite_create(name);
	suite_add_tcase(suite, cases);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
