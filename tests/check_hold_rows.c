/*
 * Where holds are counted: each acquisition is in its lock's row or counted as lost, also where
 * there are more locks than room, new ones at old addresses, many threads, and forked children; and
 * each reader of a reader-writer lock has a hold of its own.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/holds.h"

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;

static void *read_and_hold(void *unused)
{
	if (pthread_rwlock_rdlock(&rwlock) != 0)
		return "the lock cannot be read";
	pthread_barrier_wait(&both); /* both have it */
	locks_sleep_ms(SLEEP_MS);
	pthread_rwlock_unlock(&rwlock);
	return unused;
}

START_TEST(readers_hold_at_the_same_time)
{
	begin(_i);
	expect(pthread_barrier_init(&both, NULL, 2), 0);
	pthread_t first = locks_start(read_and_hold, NULL);
	locks_join(locks_start(read_and_hold, NULL));
	locks_join(first);
	struct of_lock row = rows_of(&rwlock, FAMILY_rwlock);
	struct rwlock_counters counted = locks_counted().rwlock;
	ck_assert_uint_eq(row.rows, 1);
	ck_assert_uint_eq(row.hold.acquired + row.hold.hold_ns_total, 0);
	ck_assert_uint_eq(row.read_hold.acquired, 2);
	ck_assert_uint_ge(with_tolerance(row.read_hold.hold_ns_total), 2 * SLEEP_NS);
	ck_assert_uint_eq(counted.read_hold_ns_total, row.read_hold.hold_ns_total);
	ck_assert_uint_eq(counted.read_hold_ns_max, row.read_hold.hold_ns_max);
	ck_assert_uint_eq(counted.write_hold_ns_total + counted.hold_lost, 0);
}
END_TEST

/* All ways to acquire one, recursive reading included. */
START_TEST(reader_writer_locks_count)
{
	const struct timespec *never = &(struct timespec){ INT32_MAX, 0 };
	begin(_i);
	for (unsigned i = 0; i < ROUNDS; i++) {
		expect(pthread_rwlock_rdlock(&rwlock), 0);
		expect(pthread_rwlock_tryrdlock(&rwlock), 0);
		expect(pthread_rwlock_timedrdlock(&rwlock, never), 0);
		expect(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, never), 0);
		expect(pthread_rwlock_trywrlock(&rwlock), EBUSY);
		for (int reader = 0; reader < 4; reader++)
			expect(pthread_rwlock_unlock(&rwlock), 0);
		expect(pthread_rwlock_wrlock(&rwlock), 0);
		expect(pthread_rwlock_tryrdlock(&rwlock), EBUSY);
		expect(pthread_rwlock_unlock(&rwlock), 0);
		expect(pthread_rwlock_trywrlock(&rwlock), 0);
		expect(pthread_rwlock_unlock(&rwlock), 0);
		expect(pthread_rwlock_timedwrlock(&rwlock, never), 0);
		expect(pthread_rwlock_unlock(&rwlock), 0);
		expect(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, never), 0);
		expect(pthread_rwlock_unlock(&rwlock), 0);
	}
	struct of_lock row = rows_of(&rwlock, FAMILY_rwlock);
	struct rwlock_counters counted = locks_counted().rwlock;
	expect(row.read_hold.acquired, 4 * ROUNDS);
	expect(row.hold.acquired, 4 * ROUNDS);
	expect(counted.read_hold_ns_total, row.read_hold.hold_ns_total);
	expect(counted.write_hold_ns_total, row.hold.hold_ns_total);
	expect(counted.hold_lost, 0);
}
END_TEST

static __attribute__((noinline)) int init_here(pthread_mutex_t *mutex)
{
	int result = pthread_mutex_init(mutex, NULL);
	__asm__ volatile("" : "+r"(result)); /* the call is not the last thing done */
	return result;
}

static __attribute__((noinline)) int init_there(pthread_mutex_t *mutex)
{
	int result = pthread_mutex_init(mutex, NULL);
	__asm__ volatile("" : "+r"(result), "+r"(mutex));
	return result;
}

START_TEST(new_mutex_at_an_old_address)
{
	static int (*const inits[])(pthread_mutex_t *) = { init_here, init_there };
	pthread_mutex_t mutex;
	begin(_i);
	uint32_t first = record_header->regions[REGION_LOCKS].used;
	for (unsigned i = 0; i < 4; i++) {
		expect(inits[i % 2](&mutex), 0);
		for (unsigned j = 0; j <= i; j++) {
			expect(pthread_mutex_lock(&mutex), 0);
			expect(pthread_mutex_unlock(&mutex), 0);
		}
		if (i < 2) /* also without, as programs do */
			expect(pthread_mutex_destroy(&mutex), 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		const struct record_lock *row = record_entry(REGION_LOCKS, first + i);
		expect(row->address, (uintptr_t)&mutex);
		expect(row->destroyed, i < 3);
		expect(row->hold.acquired, i + 1);
		expect(row->created_address - (uintptr_t)inits[i % 2] < CODE_NEAR, true);
		expect(row->created_module != 0, true);
	}
}
END_TEST

/* More than are noted at a time, released in any order: each counts once. */
START_TEST(many_held_at_once)
{
	enum { MANY = 200 };
	static pthread_mutex_t mutexes[MANY];
	begin(_i % 2);
	for (unsigned i = 0; i < MANY; i++) {
		init(&mutexes[i], PTHREAD_MUTEX_NORMAL);
		expect(pthread_mutex_lock(&mutexes[i]), 0);
	}
	for (unsigned i = 0; i < MANY; i++)
		expect(pthread_mutex_unlock(&mutexes[_i < 2 ? i : MANY - 1 - i]), 0);
	uint64_t acquired = 0;
	for (unsigned i = 0; i < MANY; i++)
		acquired += rows_of(&mutexes[i], FAMILY_mutex).hold.acquired;
	expect(acquired + locks_counted().mutex.hold_lost, MANY);
	expect(acquired >= HELD, true);
	expect(acquired <= KNOWN + HELD, true);
	/* Nothing stays behind that would be in the way. */
	for (unsigned i = 0; i < 2 * MANY; i++) {
		expect(pthread_mutex_lock(&mutexes[i % MANY]), 0);
		expect(pthread_mutex_unlock(&mutexes[i % MANY]), 0);
	}
	for (unsigned i = 0; i < MANY; i++)
		acquired -= rows_of(&mutexes[i], FAMILY_mutex).hold.acquired - 2;
	expect(acquired, 0);
}
END_TEST

START_TEST(full_table)
{
	const struct record_region *locks = &record_header->regions[REGION_LOCKS];
	uint32_t many = locks->capacity + 100;
	pthread_mutex_t *mutexes = calloc(many, sizeof(*mutexes));
	begin(_i);
	for (uint32_t i = 0; i < 2 * many; i++) {
		expect(pthread_mutex_lock(&mutexes[i % many]), 0);
		expect(pthread_mutex_unlock(&mutexes[i % many]), 0);
	}
	uint64_t acquired = 0;
	for (uint32_t i = 0; i < locks->used; i++) {
		const struct record_lock *row = record_entry(REGION_LOCKS, i);
		bool ours = row->address - (uintptr_t)mutexes < many * sizeof(*mutexes);
		acquired += ours ? row->hold.acquired : 0;
	}
	struct mutex_counters counted = locks_counted().mutex;
	expect(acquired + counted.hold_lost, counted.acquired);
	expect(counted.acquired, 2 * many);
	expect(locks->used, locks->capacity / 4 * 3);
	expect(locks->lost, 0);
	/* A lock that is waited for gets a row, and then its holds are in it. */
	pthread_mutex_t *last = &mutexes[many - 1];
	expect(rows_of(last, FAMILY_mutex).rows, 0);
	expect(pthread_mutex_lock(last), 0);
	expect(pthread_mutex_timedlock(last, &long_past), ETIMEDOUT);
	expect(pthread_mutex_unlock(last), 0);
	expect(rows_of(last, FAMILY_mutex).hold.acquired, 1);
	free(mutexes);
}
END_TEST

static struct {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	uint64_t counter;
} shared[16];

#define SHARED  (sizeof(shared) / sizeof(*shared))
#define THREADS 4

static void *use_everything(void *unused)
{
	for (unsigned i = 0; i < ROUNDS * SHARED; i++) {
		pthread_mutex_lock(&shared[i % SHARED].mutex);
		shared[i % SHARED].counter++;
		pthread_rwlock_rdlock(&shared[i / 3 % SHARED].rwlock);
		pthread_rwlock_unlock(&shared[i / 3 % SHARED].rwlock);
		pthread_mutex_unlock(&shared[i % SHARED].mutex);
		pthread_rwlock_wrlock(&shared[i % SHARED].rwlock);
		pthread_rwlock_unlock(&shared[i % SHARED].rwlock);
	}
	return unused;
}

START_TEST(threads_count_exactly)
{
	pthread_t threads[THREADS];
	begin(_i);
	for (int i = 0; i < THREADS; i++)
		threads[i] = locks_start(use_everything, NULL);
	for (int i = 0; i < THREADS; i++)
		locks_join(threads[i]);
	struct of_lock mutexes = { .rows = 0 }, rwlocks = { .rows = 0 };
	for (unsigned i = 0; i < SHARED; i++) {
		struct of_lock mutex = rows_of(&shared[i].mutex, FAMILY_mutex);
		struct of_lock lock = rows_of(&shared[i].rwlock, FAMILY_rwlock);
		expect(mutex.hold.acquired, THREADS * ROUNDS);
		expect(lock.hold.acquired, THREADS * ROUNDS);
		add_totals(&mutexes.hold, &mutex.hold);
		add_totals(&rwlocks.hold, &lock.hold);
		add_totals(&rwlocks.read_hold, &lock.read_hold);
	}
	struct counters counted = locks_counted();
	expect(rwlocks.read_hold.acquired, THREADS * ROUNDS * SHARED);
	expect(counted.mutex.hold_ns_total, mutexes.hold.hold_ns_total);
	expect(counted.rwlock.read_hold_ns_total, rwlocks.read_hold.hold_ns_total);
	expect(counted.rwlock.write_hold_ns_total, rwlocks.hold.hold_ns_total);
	expect(counted.rwlock.read_hold_ns_max, rwlocks.read_hold.hold_ns_max);
	expect(counted.mutex.hold_lost + counted.rwlock.hold_lost, 0);
}
END_TEST

/* The child's first words are about the mutex that the parent's thread held over the fork. */
static int in_child(pthread_mutex_t *held, pthread_mutex_t *mutex)
{
	if (rows_of(held, FAMILY_mutex).rows != 0)
		return 1;
	pthread_mutex_unlock(held);
	if (totals_read().counters.mutex.hold_lost != 1)
		return 2;
	pthread_mutex_lock(mutex);
	locks_sleep_ms(SLEEP_MS);
	pthread_mutex_unlock(mutex);
	struct of_lock row = rows_of(mutex, FAMILY_mutex);
	if (row.rows != 1 || row.hold.acquired != 1 ||
	        with_tolerance(row.hold.hold_ns_total) < SLEEP_NS)
		return 3;
	for (uint32_t i = 0; i < record_header->regions[REGION_LOCKS].used; i++) {
		const struct record_lock *lock = record_entry(REGION_LOCKS, i);
		if (lock->address == (uintptr_t)mutex &&
		        lock->created_address - (uintptr_t)init_here >= CODE_NEAR)
			return 4;
	}
	return 0;
}

START_TEST(forked_child_counts_anew)
{
	pthread_mutex_t held, mutex;
	int status;
	init(&held, PTHREAD_MUTEX_NORMAL);
	expect(init_here(&mutex), 0);
	begin(_i);
	expect(pthread_mutex_lock(&mutex), 0);
	expect(pthread_mutex_unlock(&mutex), 0);
	expect(pthread_mutex_lock(&held), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(in_child(&held, &mutex));
	expect(waitpid(child, &status, 0), child);
	expect(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
	expect(pthread_mutex_unlock(&held), 0);
	expect(rows_of(&held, FAMILY_mutex).hold.acquired, 1);
	expect(rows_of(&mutex, FAMILY_mutex).hold.acquired, 1);
	expect(locks_counted().mutex.hold_lost, 0);
}
END_TEST

/* What a process does that may not read the counter any more. */
START_TEST(nothing_is_timed_any_more)
{
	pthread_mutex_t mutex;
	init(&mutex, PTHREAD_MUTEX_NORMAL);
	begin(_i);
	expect(pthread_mutex_lock(&mutex), 0);
	hold_stop();
	expect(pthread_mutex_unlock(&mutex), 0);
	expect(pthread_mutex_lock(&mutex), 0);
	expect(pthread_mutex_unlock(&mutex), 0);
	expect(pthread_rwlock_wrlock(&rwlock), 0);
	expect(pthread_rwlock_unlock(&rwlock), 0);
	expect(rows_of(&mutex, FAMILY_mutex).hold.acquired, 0);
	expect(rows_of(&rwlock, FAMILY_rwlock).rows, 0);
	expect(locks_counted().mutex.acquired, 2);
	expect(locks_counted().rwlock.write_acquired, 1);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("rows");
	tcase_add_loop_test(cases, readers_hold_at_the_same_time, 0, 2);
	tcase_add_loop_test(cases, reader_writer_locks_count, 0, 2);
	tcase_add_loop_test(cases, new_mutex_at_an_old_address, 0, 2);
	tcase_add_loop_test(cases, many_held_at_once, 0, 4);
	tcase_add_loop_test(cases, full_table, 0, 2);
	tcase_add_loop_test(cases, threads_count_exactly, 0, 2);
	tcase_add_loop_test(cases, forked_child_counts_anew, 0, 2);
	tcase_add_loop_test(cases, nothing_is_timed_any_more, 0, 2);
	return holds_run(cases, "rows of held locks");
}
