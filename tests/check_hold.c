/*
 * How long locks are held: what counts as holding, whose row it goes to, and that each acquisition
 * is in a row or counted as lost. Sleeps give lower bounds, the clock around them upper ones.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "probes/clock.h"
#include "probes/waits.h"
#include "shim/hold.h"
#include "shim/settings.h"
#include "tests/locks.h"

#define SLEEP_MS 20
#define SLEEP_NS (SLEEP_MS * UINT64_C(1000000))
#define ROUNDS   100u

enum strategies {
#define STRATEGY(name, count, help) STRATEGY_##name,
#include "shim/strategies.def"
#undef STRATEGY
	STRATEGIES
};

/* Two clocks that are calibrated against each other may differ by this much. */
static uint64_t with_tolerance(uint64_t ns)
{
	return ns + ns / 64 + 1000;
}

struct of_lock {
	unsigned rows;
	struct hold_totals hold, read_hold;
	uint64_t waits;
};

static void add_totals(struct hold_totals *to, const struct hold_totals *from)
{
	to->acquired += from->acquired;
	to->hold_ns_total += from->hold_ns_total;
	if (from->hold_ns_max > to->hold_ns_max)
		to->hold_ns_max = from->hold_ns_max;
}

/* What the rows of an address say, one lock after another. */
static struct of_lock rows_of(const volatile void *lock, enum record_family family)
{
	struct of_lock sum = { .rows = 0 };
	for (uint32_t i = 0; i < record_header->regions[REGION_LOCKS].used; i++) {
		const struct record_lock *row = record_entry(REGION_LOCKS, i);
		if (row->address != (uintptr_t)lock || row->family != family)
			continue;
		sum.rows++;
		sum.waits += row->wait.waits;
		add_totals(&sum.hold, &row->hold);
		add_totals(&sum.read_hold, &row->read_hold);
	}
	return sum;
}

static void init(pthread_mutex_t *mutex, int type)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	expect(pthread_mutexattr_settype(&attributes, type), 0);
	expect(pthread_mutex_init(mutex, &attributes), 0);
	pthread_mutexattr_destroy(&attributes);
}

/* Counting begins. way: 0 with the CPU's counter where there is one, 1 with the clock. */
static void begin(int way)
{
	if (way == 1) {
		clock_tick_scale = 0;
		hold_quick = NULL;
	}
	locks_use(&locks_control()->rwlock, 0, 0);
}

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
	TCase *cases = tcase_create("holds");
	tcase_set_timeout(cases, 60);
	/* Every test is a forked child of this process, and begins as one whose parent times holds.
	 */
	settings.stats = STATS_HOLD;
	if (!hold_start()) {
		puts("no memory for held locks");
		return EXIT_FAILURE;
	}
	tcase_add_loop_test(cases, ticks_keep_time, 0, 2);
	tcase_add_loop_test(cases, mutexes_count, 0, 2);
	tcase_add_loop_test(cases, failed_attempts_hold_nothing, 0, 2);
	tcase_add_loop_test(cases, c11_mutexes_count, 0, 2);
	tcase_add_loop_test(cases, length_of_a_hold, 0, 2 * (int)TYPES);
	tcase_add_loop_test(cases, recursion_is_one_hold, 0, 2);
	tcase_add_loop_test(cases, condition_wait_is_no_hold, 2, 6);
	tcase_add_loop_test(cases, contended_mutex_is_held_twice, 0, STRATEGIES);
	tcase_add_loop_test(cases, readers_hold_at_the_same_time, 0, 2);
	tcase_add_loop_test(cases, reader_writer_locks_count, 0, 2);
	tcase_add_loop_test(cases, released_by_another_thread, 0, 2);
	tcase_add_loop_test(cases, new_mutex_at_an_old_address, 0, 2);
	tcase_add_loop_test(cases, many_held_at_once, 0, 4);
	tcase_add_loop_test(cases, full_table, 0, 2);
	tcase_add_loop_test(cases, threads_count_exactly, 0, 2);
	tcase_add_loop_test(cases, forked_child_counts_anew, 0, 2);
	tcase_add_loop_test(cases, nothing_is_timed_any_more, 0, 2);
	return locks_run(cases, "holds");
}
