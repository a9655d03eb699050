/*
 * How long mutexes are held: what counts as holding, by every type and strategy. Sleeps give lower
 * bounds, the clock around them upper ones.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "tests/holds.h"

enum strategies {
#define STRATEGY(name, count, help) STRATEGY_##name,
#include "shim/strategies.def"
#undef STRATEGY
	STRATEGIES
};

static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ADAPTIVE_NP,
	PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK };

#define TYPES (sizeof(types) / sizeof(*types))

START_TEST(ticks_keep_time)
{
	begin(_i);
	uint64_t outer = clock_monotonic_ns(), from = clock_ticks();
	uint64_t inner = clock_monotonic_ns();
	locks_sleep_ms(SLEEP_MS);
	uint64_t inner_ns = clock_monotonic_ns() - inner;
	uint64_t ns = clock_ticks_ns(from, clock_ticks());
	uint64_t outer_ns = clock_monotonic_ns() - outer;
	ck_assert_uint_ge(with_tolerance(ns), inner_ns);
	ck_assert_uint_le(ns, with_tolerance(outer_ns));
	ck_assert_uint_eq(clock_ticks_ns(from, from - 1), 0); /* two CPUs may differ */
	ck_assert_uint_eq(clock_ticks_ns(from, from), 0);
}
END_TEST

/* All ways to acquire one, by all types. */
START_TEST(mutexes_count)
{
	pthread_mutex_t mutexes[TYPES];
	const struct timespec *never = &(struct timespec){ INT32_MAX, 0 };
	for (size_t type = 0; type < TYPES; type++)
		init(&mutexes[type], types[type]);
	begin(_i);
	for (size_t i = 0; i < ROUNDS * TYPES; i++) {
		pthread_mutex_t *mutex = &mutexes[i % TYPES];
		expect(pthread_mutex_lock(mutex), 0);
		expect(pthread_mutex_unlock(mutex), 0);
		expect(pthread_mutex_trylock(mutex), 0);
		expect(pthread_mutex_unlock(mutex), 0);
		expect(pthread_mutex_timedlock(mutex, never), 0);
		expect(pthread_mutex_unlock(mutex), 0);
		expect(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, never), 0);
		expect(pthread_mutex_unlock(mutex), 0);
	}
	struct mutex_counters counted = locks_counted().mutex;
	uint64_t total = 0;
	for (size_t type = 0; type < TYPES; type++) {
		struct of_lock row = rows_of(&mutexes[type], FAMILY_mutex);
		expect(row.rows, 1);
		expect(row.hold.acquired, 4 * ROUNDS);
		expect(row.hold.hold_ns_max <= row.hold.hold_ns_total, true);
		expect(row.read_hold.acquired + row.waits, 0);
		total += row.hold.hold_ns_total;
	}
	expect(counted.acquired, 4 * ROUNDS * TYPES);
	expect(counted.hold_ns_total, total);
	expect(counted.hold_lost, 0);
}
END_TEST

START_TEST(failed_attempts_hold_nothing)
{
	pthread_mutex_t mutex;
	init(&mutex, PTHREAD_MUTEX_ERRORCHECK);
	begin(_i);
	expect(pthread_mutex_unlock(&mutex), EPERM);
	expect(pthread_mutex_lock(&mutex), 0);
	expect(pthread_mutex_lock(&mutex), EDEADLK);
	expect(pthread_mutex_trylock(&mutex), EBUSY);
	expect(pthread_mutex_unlock(&mutex), 0);
	expect(pthread_mutex_unlock(&mutex), EPERM);
	expect(rows_of(&mutex, FAMILY_mutex).hold.acquired, 1);
	expect(locks_counted().mutex.hold_lost, 0);
}
END_TEST

START_TEST(c11_mutexes_count)
{
	mtx_t mutex;
	expect(mtx_init(&mutex, mtx_timed | mtx_recursive), thrd_success);
	begin(_i);
	expect(mtx_lock(&mutex), thrd_success);
	expect(mtx_trylock(&mutex), thrd_success);
	expect(mtx_unlock(&mutex), thrd_success);
	expect(mtx_unlock(&mutex), thrd_success);
	expect(mtx_timedlock(&mutex, &(struct timespec){ INT32_MAX, 0 }), thrd_success);
	expect(mtx_unlock(&mutex), thrd_success);
	expect(rows_of(&mutex, FAMILY_mutex).hold.acquired, 2);
	expect(locks_counted().mutex.hold_lost, 0);
}
END_TEST

START_TEST(length_of_a_hold)
{
	pthread_mutex_t mutex;
	init(&mutex, types[_i / 2]);
	begin(_i % 2);
	uint64_t started_ns = clock_monotonic_ns();
	expect(pthread_mutex_lock(&mutex), 0);
	expect(pthread_mutex_unlock(&mutex), 0);
	expect(pthread_mutex_lock(&mutex), 0);
	locks_sleep_ms(SLEEP_MS);
	expect(pthread_mutex_unlock(&mutex), 0);
	locks_sleep_ms(SLEEP_MS); /* not held */
	uint64_t elapsed_ns = clock_monotonic_ns() - started_ns;
	struct hold_totals hold = rows_of(&mutex, FAMILY_mutex).hold;
	ck_assert_uint_eq(hold.acquired, 2);
	ck_assert_uint_ge(with_tolerance(hold.hold_ns_max), SLEEP_NS);
	ck_assert_uint_ge(hold.hold_ns_total, hold.hold_ns_max);
	ck_assert_uint_le(hold.hold_ns_total + SLEEP_NS, with_tolerance(elapsed_ns));
	ck_assert_uint_ge(thread_current()->counters.mutex.hold_ns_max, hold.hold_ns_max);
}
END_TEST

/* From the first acquisition to the last release. */
START_TEST(recursion_is_one_hold)
{
	pthread_mutex_t mutex;
	init(&mutex, PTHREAD_MUTEX_RECURSIVE);
	begin(_i);
	expect(pthread_mutex_lock(&mutex), 0);
	expect(pthread_mutex_trylock(&mutex), 0);
	expect(pthread_mutex_unlock(&mutex), 0);
	expect(rows_of(&mutex, FAMILY_mutex).hold.acquired, 0);
	locks_sleep_ms(SLEEP_MS);
	expect(pthread_mutex_lock(&mutex), 0);
	expect(pthread_mutex_unlock(&mutex), 0);
	expect(pthread_mutex_unlock(&mutex), 0);
	struct hold_totals hold = rows_of(&mutex, FAMILY_mutex).hold;
	expect(hold.acquired, 1);
	expect(with_tolerance(hold.hold_ns_max) >= SLEEP_NS, true);
	expect(locks_counted().mutex.acquired, 3);
	expect(locks_counted().mutex.hold_lost, 0);
}
END_TEST

static struct timespec in_a_while(void)
{
	struct timespec when;
	clock_gettime(CLOCK_REALTIME, &when);
	when.tv_nsec += SLEEP_MS * 1000000;
	when.tv_sec += when.tv_nsec / 1000000000;
	when.tv_nsec %= 1000000000;
	return when;
}

/* _i % 2: the way; _i / 2: how often the recursive mutex was acquired. Only once means that libc
 * releases it for the wait. */
START_TEST(condition_wait_is_no_hold)
{
	pthread_mutex_t mutex;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	int depth = _i / 2;
	init(&mutex, PTHREAD_MUTEX_RECURSIVE);
	begin(_i % 2);
	uint64_t started_ns = clock_monotonic_ns();
	for (int i = 0; i < depth; i++)
		expect(pthread_mutex_lock(&mutex), 0);
	struct timespec deadline = in_a_while();
	expect(pthread_cond_timedwait(&cond, &mutex, &deadline), ETIMEDOUT);
	locks_sleep_ms(SLEEP_MS);
	for (int i = 0; i < depth; i++)
		expect(pthread_mutex_unlock(&mutex), 0);
	uint64_t elapsed_ns = clock_monotonic_ns() - started_ns;
	struct hold_totals hold = rows_of(&mutex, FAMILY_mutex).hold;
	ck_assert_uint_eq(hold.acquired, 1);
	ck_assert_uint_eq(locks_counted().mutex.hold_lost, 0);
	ck_assert_uint_ge(with_tolerance(hold.hold_ns_max), depth == 1 ? SLEEP_NS : 2 * SLEEP_NS);
	/* The deadline is of another clock, whose readings are a little old. */
	if (depth == 1)
		ck_assert_uint_le(
		        hold.hold_ns_total + SLEEP_NS * 9 / 10, with_tolerance(elapsed_ns));
}
END_TEST

static pthread_mutex_t contended_mutex = PTHREAD_MUTEX_INITIALIZER;

static void *wait_and_hold(void *unused)
{
	pthread_mutex_lock(&contended_mutex);
	locks_sleep_ms(SLEEP_MS);
	pthread_mutex_unlock(&contended_mutex);
	return unused;
}

/* By every strategy: both hold it, one after the other. */
START_TEST(contended_mutex_is_held_twice)
{
	begin(0);
	locks_control()->mutex.strategy = (uint32_t)_i;
	locks_control()->mutex.count = 10;
	expect(pthread_mutex_lock(&contended_mutex), 0);
	uint64_t started_ns = clock_monotonic_ns();
	pthread_t thread = locks_start(wait_and_hold, NULL);
	while (record_header->regions[REGION_SITES].used == 0) /* until it waits */
		locks_sleep_ms(1);
	locks_sleep_ms(SLEEP_MS);
	expect(pthread_mutex_unlock(&contended_mutex), 0);
	locks_join(thread);
	uint64_t elapsed_ns = clock_monotonic_ns() - started_ns;
	struct of_lock row = rows_of(&contended_mutex, FAMILY_mutex);
	ck_assert_uint_eq(row.rows, 1);
	ck_assert_uint_eq(row.waits, 1);
	ck_assert_uint_eq(row.hold.acquired, 2);
	ck_assert_uint_ge(with_tolerance(row.hold.hold_ns_total), 2 * SLEEP_NS);
	ck_assert_uint_le(row.hold.hold_ns_total, with_tolerance(elapsed_ns + 1000000));
	ck_assert_uint_eq(locks_counted().mutex.hold_lost, 0);
}
END_TEST

static void *release(void *mutex)
{
	return pthread_mutex_unlock(mutex) == 0 ? NULL : "it cannot be released";
}

static void *acquire(void *mutex)
{
	return pthread_mutex_lock(mutex) == 0 ? NULL : "it cannot be acquired";
}

START_TEST(released_by_another_thread)
{
	pthread_mutex_t mutex;
	init(&mutex, PTHREAD_MUTEX_NORMAL);
	begin(_i);
	expect(pthread_mutex_lock(&mutex), 0);
	locks_join(locks_start(release, &mutex));
	expect(rows_of(&mutex, FAMILY_mutex).hold.acquired, 0);
	expect(locks_counted().mutex.hold_lost, 1);
	/* The other way round, while this thread's own hold has not been seen to end. */
	locks_join(locks_start(acquire, &mutex));
	locks_sleep_ms(SLEEP_MS);
	expect(pthread_mutex_unlock(&mutex), 0);
	expect(locks_counted().mutex.hold_lost, 2);
	expect(rows_of(&mutex, FAMILY_mutex).hold.hold_ns_total, 0);
	/* It is as good as new. */
	uint64_t started_ns = clock_monotonic_ns();
	expect(pthread_mutex_lock(&mutex), 0);
	expect(pthread_mutex_unlock(&mutex), 0);
	uint64_t elapsed_ns = clock_monotonic_ns() - started_ns;
	struct hold_totals hold = rows_of(&mutex, FAMILY_mutex).hold;
	expect(hold.acquired, 1);
	expect(hold.hold_ns_total <= with_tolerance(elapsed_ns), true);
	expect(locks_counted().mutex.hold_lost, 2);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("mutexes");
	tcase_add_loop_test(cases, ticks_keep_time, 0, 2);
	tcase_add_loop_test(cases, mutexes_count, 0, 2);
	tcase_add_loop_test(cases, failed_attempts_hold_nothing, 0, 2);
	tcase_add_loop_test(cases, c11_mutexes_count, 0, 2);
	tcase_add_loop_test(cases, length_of_a_hold, 0, 2 * (int)TYPES);
	tcase_add_loop_test(cases, recursion_is_one_hold, 0, 2);
	tcase_add_loop_test(cases, condition_wait_is_no_hold, 2, 6);
	tcase_add_loop_test(cases, contended_mutex_is_held_twice, 0, STRATEGIES);
	tcase_add_loop_test(cases, released_by_another_thread, 0, 2);
	return holds_run(cases, "holds of mutexes");
}
