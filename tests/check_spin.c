/*
 * Spinlocks: what is counted and written, and that a waiter under any strategy gets the lock in the
 * end.
 */
#include <errno.h>
#include <sched.h>

#include "shim/spinlock.h"
#include "tests/locks.h"

static pthread_spinlock_t lock;

static void use(int row, uint32_t count)
{
	expect(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE), 0);
	locks_use(&locks_control()->spinlock, row, count);
}

static struct spinlock_counters counted(void)
{
	return locks_counted().spinlock;
}

/* Our calls on libc's word, and libc's on ours. */
START_TEST(words_are_those_that_libc_leaves)
{
	use(_i, 0);
	expect(pthread_spin_lock(&lock), 0);
	expect(real_functions.pthread_spin_trylock(&lock), EBUSY);
	expect(real_functions.pthread_spin_unlock(&lock), 0);
	expect(real_functions.pthread_spin_lock(&lock), 0);
	expect(pthread_spin_trylock(&lock), EBUSY);
	expect(pthread_spin_unlock(&lock), 0);
	expect(lock, SPINLOCK_FREE);
	expect(pthread_spin_trylock(&lock), 0);
	expect(pthread_spin_unlock(&lock), 0);
	struct spinlock_counters counts = counted();
	expect(counts.acquired, 2);
	expect(counts.try_failed, 1);
	expect(counts.contended + counts.wait_ns_total, 0);
	expect(record_header->regions[REGION_LOCKS].used, 0);
}
END_TEST

static void *wait_for_main(void *unused)
{
	if (pthread_spin_lock(&lock) != 0)
		return "not acquired";
	return pthread_spin_unlock(&lock) == 0 ? unused : "not released";
}

static void wait_until_waiting(void)
{
	while (record_header->regions[REGION_SITES].used == 0)
		sched_yield();
	locks_sleep_ms(2);
}

START_TEST(waiter_gets_it)
{
	use(_i, 2);
	expect(pthread_spin_lock(&lock), 0);
	pthread_t thread = locks_start(wait_for_main, NULL);
	wait_until_waiting();
	expect(pthread_spin_unlock(&lock), 0);
	locks_join(thread);
	struct spinlock_counters counts = counted();
	expect(counts.acquired, 2);
	expect(counts.contended, 1);
	expect(counts.lost, 0);
	expect(counts.spun + counts.yielded > 0, pollings[_i].count != 0);
	ck_assert_uint_ge(counts.wait_ns_total, 1000000);
	expect(counts.wait_ns_max, counts.wait_ns_total);
	locks_expect_wait(&lock, FAMILY_spinlock, MODE_EXCLUSIVE, wait_for_main);
}
END_TEST

static int row_of(const char *name)
{
	for (int i = 0; i < POLLINGS; i++)
		if (strcmp(pollings[i].name, name) == 0)
			return i;
	return -1;
}

/* A wait that never ends by itself follows a change of strategy. */
START_TEST(strategy_changes_during_the_wait)
{
	struct record_choice *choice = &locks_control()->spinlock;
	if (pollings[_i].count == 0)
		return; /* libc does not come back from its own */
	use(_i, 2);
	expect(pthread_spin_lock(&lock), 0);
	pthread_t thread = locks_start(wait_for_main, NULL);
	wait_until_waiting();
	for (int i = 0; i < POLLINGS; i++)
		if (locks_has(i, FOR_SPINLOCK) && pollings[i].count != 0) {
			__atomic_store_n(&choice->strategy, (uint32_t)i, __ATOMIC_RELAXED);
			locks_sleep_ms(2);
		}
	__atomic_store_n(&choice->strategy, (uint32_t)row_of("glibc"), __ATOMIC_RELAXED);
	locks_sleep_ms(2);
	expect(pthread_spin_unlock(&lock), 0);
	locks_join(thread);
	struct spinlock_counters counts = counted();
	expect(counts.acquired, 2);
	expect(counts.contended, 1);
	ck_assert_uint_gt(counts.yielded, 0);
}
END_TEST

static void *wait_under_a_filter(void *unused)
{
	thread_current(); /* under a filter the record takes nobody in, nor keeps who ends */
	__atomic_fetch_or(&record_header->flags, RECORD_SECCOMP, __ATOMIC_RELAXED);
	void *result = wait_for_main(unused);
	__atomic_fetch_and(&record_header->flags, ~(uint32_t)RECORD_SECCOMP, __ATOMIC_RELAXED);
	return result;
}

/* Nor does the record take new rows, so that nothing tells when the other thread waits. */
START_TEST(under_a_seccomp_filter_nobody_yields)
{
	int tries = pollings[_i].count != 0 ? 50 : 0;
	use(_i, 2);
	while (tries > 0 && counted().contended == 0) {
		expect(--tries > 0, true);
		expect(pthread_spin_lock(&lock), 0);
		pthread_t thread = locks_start(wait_under_a_filter, NULL);
		locks_sleep_ms(5);
		expect(pthread_spin_unlock(&lock), 0);
		locks_join(thread);
	}
	expect(counted().yielded, 0);
	expect(counted().spun > 0, pollings[_i].count != 0);
}
END_TEST

START_TEST(new_lock_at_an_old_address)
{
	use(_i, 0);
	ck_assert_uint_ne(record_lock_creation((uint64_t)(uintptr_t)&lock), 0);
	expect(pthread_spin_lock(&lock), 0);
	pthread_t thread = locks_start(wait_for_main, NULL);
	wait_until_waiting();
	expect(pthread_spin_unlock(&lock), 0);
	locks_join(thread);
	const struct record_lock *row = locks_only(REGION_LOCKS);
	expect(row->destroyed, 0);
	expect(pthread_spin_destroy(&lock), 0);
	expect(row->destroyed, 1);
	expect(record_lock_creation((uint64_t)(uintptr_t)&lock), 0);
}
END_TEST

START_TEST(statistics_off)
{
	use(_i, 2);
	locks_control()->stats = STATS_OFF;
	expect(pthread_spin_lock(&lock), 0);
	pthread_t thread = locks_start(wait_for_main, NULL);
	locks_sleep_ms(5);
	expect(pthread_spin_unlock(&lock), 0);
	locks_join(thread);
	struct spinlock_counters counts = counted();
	expect(counts.acquired, 2);
	expect(counts.contended + counts.spun + counts.yielded + counts.wait_ns_total, 0);
	expect(record_header->regions[REGION_LOCKS].used, 0);
}
END_TEST

#define THREADS 4
#define ROUNDS  1000

static uint64_t guarded; /* not atomic: the lock guards it */

static void *count(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_spin_lock(&lock);
		guarded++;
		if (i % 128 == 0)
			sched_yield();
		pthread_spin_unlock(&lock);
	}
	return unused;
}

START_TEST(many_threads_add_up)
{
	pthread_t threads[THREADS];
	use(_i, 0);
	for (int i = 0; i < THREADS; i++)
		threads[i] = locks_start(count, NULL);
	for (int i = 0; i < THREADS; i++)
		locks_join(threads[i]);
	struct spinlock_counters counts = counted();
	expect(guarded, THREADS * ROUNDS);
	expect(counts.acquired, THREADS * ROUNDS);
	expect(lock, SPINLOCK_FREE);
	if (counts.contended == 0)
		return;
	const struct record_lock *row = locks_only(REGION_LOCKS);
	expect(row->wait.waits, counts.contended);
	expect(row->wait.wait_ns_total, counts.wait_ns_total);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("spinlocks");
	tcase_set_timeout(cases, 60);
	for (int i = 0; i < POLLINGS; i++) {
		if (!locks_has(i, FOR_SPINLOCK))
			continue;
		tcase_add_loop_test(cases, words_are_those_that_libc_leaves, i, i + 1);
		tcase_add_loop_test(cases, waiter_gets_it, i, i + 1);
		tcase_add_loop_test(cases, strategy_changes_during_the_wait, i, i + 1);
		tcase_add_loop_test(cases, under_a_seccomp_filter_nobody_yields, i, i + 1);
		tcase_add_loop_test(cases, new_lock_at_an_old_address, i, i + 1);
		tcase_add_loop_test(cases, statistics_off, i, i + 1);
		tcase_add_loop_test(cases, many_threads_add_up, i, i + 1);
	}
	return locks_run(cases, "check_spin");
}
