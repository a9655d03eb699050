/*
 * Reader-writer locks: what is counted, written and blamed, and that readers share under every
 * strategy.
 */
#include <errno.h>
#include <sched.h>

#include "shim/rwlock.h"
#include "tests/locks.h"

#define SLEEPS 2u /* a bit of __writers_futex: a writer sleeps behind another */

static pthread_rwlock_t lock;

static void use(int row, uint32_t count)
{
	expect(pthread_rwlock_init(&lock, NULL), 0);
	locks_use(&locks_control()->rwlock, row, count);
}

static struct rwlock_counters counted(void)
{
	return locks_counted().rwlock;
}

static uint32_t state_of(void)
{
	return __atomic_load_n(&lock.__data.__readers, __ATOMIC_RELAXED);
}

START_TEST(uncontended_calls_count)
{
	struct timespec future = { INT32_MAX, 0 };
	use(_i, 0);
	expect(pthread_rwlock_rdlock(&lock), 0);
	expect(pthread_rwlock_rdlock(&lock), 0);
	expect(pthread_rwlock_tryrdlock(&lock), 0);
	expect(pthread_rwlock_timedrdlock(&lock, &long_past), 0);
	expect(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &future), 0);
	expect(pthread_rwlock_trywrlock(&lock), EBUSY);
	for (int i = 0; i < 5; i++)
		expect(pthread_rwlock_unlock(&lock), 0);
	expect(pthread_rwlock_wrlock(&lock), 0);
	expect(pthread_rwlock_rdlock(&lock), EDEADLK);
	expect(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &future), EDEADLK);
	expect(pthread_rwlock_tryrdlock(&lock), EBUSY);
	expect(pthread_rwlock_unlock(&lock), 0);
	expect(pthread_rwlock_trywrlock(&lock), 0);
	expect(pthread_rwlock_unlock(&lock), 0);
	expect(pthread_rwlock_timedwrlock(&lock, &long_past), 0);
	expect(pthread_rwlock_unlock(&lock), 0);
	expect(pthread_rwlock_clockwrlock(&lock, CLOCK_TAI, &future), EINVAL);
	/* The first after a writer takes another way than those before. */
	expect(pthread_rwlock_rdlock(&lock), 0);
	expect(pthread_rwlock_unlock(&lock), 0);
	struct rwlock_counters counts = counted();
	expect(counts.read_acquired, 6);
	expect(counts.write_acquired, 3);
	expect(counts.try_failed, 2);
	expect(counts.read_contended + counts.write_contended + counts.timed_out, 0);
	expect(record_header->regions[REGION_LOCKS].used, 0);
}
END_TEST

START_TEST(timeouts_count)
{
	use(_i, 3);
	expect(pthread_rwlock_rdlock(&lock), 0);
	expect(pthread_rwlock_timedwrlock(&lock, &long_past), ETIMEDOUT);
	expect(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &long_past), ETIMEDOUT);
	struct rwlock_counters counts = counted();
	expect(counts.write_contended, 2);
	expect(counts.timed_out, 2);
	expect(counts.spun_vain, locks_polls(_i) ? 2 : 0);
	expect(counts.spun + counts.yielded, locks_polls(_i) ? 6 : 0);
	expect(counts.write_acquired + counts.read_contended + counts.read_wait_ns_total, 0);
	ck_assert_uint_gt(counts.write_wait_ns_max, 0);
	ck_assert_uint_gt(counts.write_wait_ns_total, counts.write_wait_ns_max);
	expect(rwlock_site(&lock), 0);
}
END_TEST

static void *write_behind(void *unused)
{
	if (pthread_rwlock_wrlock(&lock) != 0 || rwlock_writer(&lock) != thread_current()->tid)
		return "not acquired";
	if (rwlock_site(&lock) - (uint64_t)(uintptr_t)write_behind > CODE_NEAR)
		return "the lock does not say where it was acquired";
	if (pthread_rwlock_unlock(&lock) != 0 || rwlock_site(&lock) != 0)
		return "not released";
	return unused;
}

static void *read_behind(void *unused)
{
	if (pthread_rwlock_rdlock(&lock) != 0 || rwlock_site(&lock) != 0)
		return "not acquired";
	return pthread_rwlock_unlock(&lock) == 0 ? unused : "not released";
}

/* The writer that main is, is blamed. */
static void expect_blame_of_main(uint64_t wait_ns)
{
	const struct record_blame *blame = locks_only(REGION_BLAME);
	const struct record_thread *self = thread_current();
	ck_assert_uint_gt(blame->holder_address, RECORD_HOLDER_UNKNOWN);
	expect(blame->waits, 1);
	expect(blame->wait_ns_total, wait_ns);
	expect(self->caused.waits, 1);
	expect(self->caused.wait_ns_total, wait_ns);
}

START_TEST(writer_waits_for_a_writer)
{
	use(_i, 1);
	expect(pthread_rwlock_wrlock(&lock), 0);
	pthread_t thread = locks_start(write_behind, NULL);
	while ((__atomic_load_n(&lock.__data.__writers_futex, __ATOMIC_RELAXED) & SLEEPS) == 0)
		sched_yield();
	expect(pthread_rwlock_unlock(&lock), 0);
	locks_join(thread);
	struct rwlock_counters counts = counted();
	expect(counts.write_acquired, 2);
	expect(counts.write_contended, 1);
	expect(counts.spun_vain, locks_polls(_i));
	expect(counts.spun_useful + counts.read_contended + counts.lost, 0);
	locks_expect_wait(&lock, FAMILY_rwlock, MODE_EXCLUSIVE, write_behind);
	expect_blame_of_main(counts.write_wait_ns_total);
}
END_TEST

START_TEST(reader_waits_for_a_writer)
{
	use(_i, 1);
	expect(pthread_rwlock_wrlock(&lock), 0);
	pthread_t thread = locks_start(read_behind, NULL);
	while (state_of() < RWLOCK_ONE_READER)
		sched_yield();
	expect(pthread_rwlock_unlock(&lock), 0);
	locks_join(thread);
	struct rwlock_counters counts = counted();
	expect(counts.read_acquired, 1);
	expect(counts.read_contended, 1);
	expect(counts.write_contended, 0);
	locks_expect_wait(&lock, FAMILY_rwlock, MODE_SHARED, read_behind);
	expect_blame_of_main(counts.read_wait_ns_total);
}
END_TEST

/* A writer waits for main, which reads, and reads again meanwhile. */
START_TEST(reading_again_before_a_waiting_writer)
{
	use(_i, 1);
	expect(pthread_rwlock_rdlock(&lock), 0);
	pthread_t thread = locks_start(write_behind, NULL);
	while ((state_of() & RWLOCK_WRITER) == 0)
		sched_yield();
	expect(pthread_rwlock_rdlock(&lock), 0);
	expect(pthread_rwlock_tryrdlock(&lock), 0);
	for (int i = 0; i < 3; i++)
		expect(pthread_rwlock_unlock(&lock), 0);
	locks_join(thread);
	struct rwlock_counters counts = counted();
	expect(counts.read_acquired, 3);
	expect(counts.read_contended, 0);
	expect(counts.write_contended, 1);
	/* Who reads is not known. */
	const struct record_blame *blame = locks_only(REGION_BLAME);
	expect(blame->holder_address, RECORD_HOLDER_UNKNOWN);
	expect(thread_current()->caused.waits, 0);
}
END_TEST

/* Two waiters, which do not touch libc's words before their polls are used up. Returns how many of
 * them had the lock by polling. */
static uint64_t release_before_pollers(int row)
{
	use(row, CHOICE_COUNT_MAX);
	uint32_t waits = record_header->regions[REGION_SITES].used + 2;
	expect(pthread_rwlock_wrlock(&lock), 0);
	pthread_t writer = locks_start(write_behind, NULL);
	pthread_t reader = locks_start(read_behind, NULL);
	while (record_header->regions[REGION_SITES].used < waits)
		sched_yield();
	expect(pthread_rwlock_unlock(&lock), 0);
	locks_join(writer);
	locks_join(reader);
	struct rwlock_counters counts = counted();
	expect(counts.write_contended, 1);
	expect(counts.read_contended, 1);
	expect(counts.spun_useful + counts.spun_vain, 2);
	ck_assert_uint_ge(counts.spun + counts.yielded, 2);
	expect(pthread_rwlock_destroy(&lock), 0);
	return counts.spun_useful;
}

/* A busy machine may keep the releasing thread from running for longer than the others poll. */
START_TEST(useful_polls)
{
	int tries = locks_polls(_i) ? 50 : 0;
	while (tries > 0 && release_before_pollers(_i) != 2)
		expect(--tries > 0, true);
}
END_TEST

#define READERS 4

static pthread_barrier_t inside;

static void *meet_inside(void *unused)
{
	if (pthread_rwlock_rdlock(&lock) != 0)
		return "not acquired";
	pthread_barrier_wait(&inside);
	return pthread_rwlock_unlock(&lock) == 0 ? unused : "not released";
}

static void *meet_inside_twice(void *unused)
{
	if (pthread_rwlock_rdlock(&lock) != 0)
		return "not acquired";
	void *result = meet_inside(unused);
	return pthread_rwlock_unlock(&lock) == 0 ? result : "not released";
}

START_TEST(readers_share)
{
	pthread_t threads[READERS];
	use(_i, 0);
	expect(pthread_barrier_init(&inside, NULL, READERS), 0);
	for (int i = 0; i < READERS; i++)
		threads[i] = locks_start(i % 2 == 0 ? meet_inside : meet_inside_twice, NULL);
	for (int i = 0; i < READERS; i++)
		locks_join(threads[i]);
	struct rwlock_counters counts = counted();
	expect(counts.read_acquired, READERS + READERS / 2);
	expect(counts.read_contended + counts.write_acquired, 0);
	expect(locks_counted().barrier.waits, READERS);
	expect(locks_counted().barrier.serial, 1);
	expect(state_of(), 0);
}
END_TEST

START_TEST(new_lock_at_an_old_address)
{
	use(_i, 1);
	for (uint32_t i = 0; i < 2; i++) {
		expect(pthread_rwlock_rdlock(&lock), 0);
		expect(pthread_rwlock_timedwrlock(&lock, &long_past), ETIMEDOUT);
		expect(pthread_rwlock_unlock(&lock), 0);
		expect(record_header->regions[REGION_LOCKS].used, i + 1);
		const struct record_lock *row = record_entry(REGION_LOCKS, i);
		expect(row->destroyed, 0);
		ck_assert_uint_ne(record_lock_creation((uint64_t)(uintptr_t)&lock), 0);
		expect(pthread_rwlock_destroy(&lock), 0);
		expect(row->destroyed, 1);
		expect(record_lock_creation((uint64_t)(uintptr_t)&lock), 0);
		expect(pthread_rwlock_init(&lock, NULL), 0);
	}
}
END_TEST

START_TEST(statistics_off)
{
	use(_i, 1);
	locks_control()->stats = STATS_OFF;
	expect(pthread_rwlock_rdlock(&lock), 0);
	expect(pthread_rwlock_timedwrlock(&lock, &long_past), ETIMEDOUT);
	struct rwlock_counters counts = counted();
	expect(counts.read_acquired, 1);
	expect(counts.write_contended + counts.timed_out + counts.spun + counts.yielded, 0);
	expect(record_header->regions[REGION_LOCKS].used, 0);
}
END_TEST

#define THREADS 4
#define ROUNDS  500

static uint64_t guarded; /* not atomic: the lock guards it */

static void *count_and_read(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_rwlock_wrlock(&lock);
		guarded++;
		if (i % 16 == 0)
			sched_yield();
		pthread_rwlock_unlock(&lock);
		pthread_rwlock_rdlock(&lock);
		if (i % 16 == 8)
			sched_yield();
		pthread_rwlock_unlock(&lock);
	}
	return unused;
}

START_TEST(many_threads_add_up)
{
	pthread_t threads[THREADS];
	use(_i, 0);
	for (int i = 0; i < THREADS; i++)
		threads[i] = locks_start(count_and_read, NULL);
	for (int i = 0; i < THREADS; i++)
		locks_join(threads[i]);
	struct rwlock_counters counts = counted();
	uint64_t contended = counts.read_contended + counts.write_contended;
	expect(guarded, THREADS * ROUNDS);
	expect(counts.read_acquired, THREADS * ROUNDS);
	expect(counts.write_acquired, THREADS * ROUNDS);
	expect(rwlock_site(&lock), 0);
	expect(counts.spun_useful + counts.spun_vain, locks_polls(_i) ? contended : 0);
	if (contended == 0)
		return;
	const struct record_lock *row = locks_only(REGION_LOCKS);
	expect(row->wait.waits, contended);
	expect(row->wait.wait_ns_total, counts.read_wait_ns_total + counts.write_wait_ns_total);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("reader-writer locks");
	tcase_set_timeout(cases, 60);
	for (int i = 0; i < POLLINGS; i++) {
		if (!locks_has(i, FOR_RWLOCK))
			continue;
		tcase_add_loop_test(cases, uncontended_calls_count, i, i + 1);
		tcase_add_loop_test(cases, timeouts_count, i, i + 1);
		tcase_add_loop_test(cases, writer_waits_for_a_writer, i, i + 1);
		tcase_add_loop_test(cases, reader_waits_for_a_writer, i, i + 1);
		tcase_add_loop_test(cases, reading_again_before_a_waiting_writer, i, i + 1);
		tcase_add_loop_test(cases, useful_polls, i, i + 1);
		tcase_add_loop_test(cases, readers_share, i, i + 1);
		tcase_add_loop_test(cases, new_lock_at_an_old_address, i, i + 1);
		tcase_add_loop_test(cases, statistics_off, i, i + 1);
		tcase_add_loop_test(cases, many_threads_add_up, i, i + 1);
	}
	return locks_run(cases, "check_rwlock");
}
