/*
 * The functions that programs call: what they count, what they leave in a mutex's words beside
 * what libc leaves there, and whom they blame. Runs under every strategy.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probes/sys.h"
#include "probes/threads.h"
#include "shim/mutex.h"
#include "shim/real.h"
#include "shim/thread.h"
#include "tests/sanitized.h"
#include "tests/totals.h"

#define CODE_NEAR 1024u /* a call site lies no further behind its function's start */

static const struct {
	const char *name;
	uint32_t count;
} strategies[] = {
#define STRATEGY(name, count, help) { #name, count },
#include "shim/strategies.def"
#undef STRATEGY
};

#define STRATEGIES  ((int)(sizeof(strategies) / sizeof(*strategies)))
#define IS_GLIBC(i) (strcmp(strategies[i].name, "glibc") == 0)

static const struct timespec past = { 1, 0 };
static struct mutex_counters before;

/* In place of ck_assert_int_eq, which takes a mutex: for where they are counted. */
#define expect(found, wanted) expect_at(__LINE__, (found), (wanted))

static void expect_at(int line, int64_t found, int64_t wanted)
{
	if (found != wanted)
		ck_abort_msg(
		        "line %d: found %jd, wanted %jd", line, (intmax_t)found, (intmax_t)wanted);
}

/* Counting begins here. */
static void use_strategy(int strategy)
{
	struct record_control *control = record_entry(REGION_CONTROL, 0);
	control->mutex.strategy = (uint32_t)strategy;
	control->mutex.count = strategies[strategy].count;
	if (THREAD_SANITIZER)
		real_functions.pthread_setspecific = NULL; /* see thread_leaves */
	thread_current();
	before = totals_read().counters.mutex;
}

/* The thread sanitizer lets a thread go before the shim's destructor runs in it, and then fails in
 * whatever is compiled for it. Without the destructor, the thread does that much by itself. */
static void *thread_leaves(void *result)
{
	struct record_thread *self = thread_slot;
	if (THREAD_SANITIZER) {
		thread_forget();
		record_thread_retire(self);
	}
	return result;
}

/* Counted since; the longest wait is of the whole process. */
static struct mutex_counters counted(void)
{
	struct mutex_counters now = totals_read().counters.mutex;
	const struct counter_family *family = &counter_families[FAMILY_mutex];
	for (size_t i = 0; i < family->count; i++)
		if (!counter_table[family->first + i].is_max)
			((uint64_t *)&now)[i] -= ((const uint64_t *)&before)[i];
	return now;
}

static void init(pthread_mutex_t *mutex, int type, bool shared)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	expect(pthread_mutexattr_settype(&attributes, type), 0);
	pthread_mutexattr_setpshared(
	        &attributes, shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
	memset(mutex, 0, sizeof(*mutex));
	expect(pthread_mutex_init(mutex, &attributes), 0);
	pthread_mutexattr_destroy(&attributes);
}

/* Steps of the comparison with libc, each made on a mutex of either side. */
enum step { LOCK, TRY, TIMED, CLOCKED, UNLOCK, DESTROY };

static int step_of_ours(pthread_mutex_t *mutex, enum step step)
{
	switch (step) {
	case LOCK:
		return pthread_mutex_lock(mutex);
	case TRY:
		return pthread_mutex_trylock(mutex);
	case TIMED:
		return pthread_mutex_timedlock(mutex, &past);
	case CLOCKED:
		return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &past);
	case UNLOCK:
		return pthread_mutex_unlock(mutex);
	default:
		return pthread_mutex_destroy(mutex);
	}
}

static int step_of_libc(pthread_mutex_t *mutex, enum step step)
{
	switch (step) {
	case LOCK:
		return real_functions.pthread_mutex_lock(mutex);
	case TRY:
		return real_functions.pthread_mutex_trylock(mutex);
	case TIMED:
		return real_functions.pthread_mutex_timedlock(mutex, &past);
	case CLOCKED:
		return real_functions.pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &past);
	case UNLOCK:
		return real_functions.pthread_mutex_unlock(mutex);
	default:
		return real_functions.pthread_mutex_destroy(mutex);
	}
}

static void expect_same_words(const pthread_mutex_t *ours, const pthread_mutex_t *libcs)
{
	expect(ours->__data.__lock, libcs->__data.__lock);
	expect(ours->__data.__count, libcs->__data.__count);
	expect(ours->__data.__owner, libcs->__data.__owner);
	expect(ours->__data.__nusers, libcs->__data.__nusers);
	expect(ours->__data.__kind, libcs->__data.__kind);
}

static void expect_same_steps(const enum step *steps, size_t count, int type, bool shared)
{
	pthread_mutex_t ours, libcs;
	init(&ours, type, shared);
	init(&libcs, type, shared);
	for (size_t i = 0; i < count; i++) {
		int result = step_of_ours(&ours, steps[i]);
		expect(result, step_of_libc(&libcs, steps[i]));
		expect_same_words(&ours, &libcs);
		expect(mutex_site(&ours) != 0, ours.__data.__owner != 0);
		expect(*mutex_line(&ours) != 0, false);
	}
}

static void expect_same_as_libc(void)
{
	static const enum step any[] = { LOCK, TRY, TIMED, CLOCKED, DESTROY, UNLOCK, TRY, UNLOCK,
		TIMED, UNLOCK, CLOCKED, UNLOCK, DESTROY };
	static const enum step owned[] = { UNLOCK, LOCK, LOCK, TRY, TIMED, CLOCKED, UNLOCK, UNLOCK,
		UNLOCK, UNLOCK, UNLOCK, UNLOCK, TRY, LOCK, UNLOCK, UNLOCK, DESTROY };
	static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_DEFAULT,
		PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK };
	for (size_t i = 0; i < 2 * sizeof(types) / sizeof(*types); i++) {
		int type = types[i / 2];
		/* A second lock by the owner of the simple ones would never end. */
		if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK)
			expect_same_steps(owned, sizeof(owned) / sizeof(*owned), type, i % 2 != 0);
		else
			expect_same_steps(any, sizeof(any) / sizeof(*any), type, i % 2 != 0);
	}
}

static void *compare_in_a_thread(void *unused)
{
	expect_same_as_libc();
	return unused;
}

START_TEST(words_are_those_that_libc_leaves)
{
	pthread_t thread;
	use_strategy(_i);
	expect_same_as_libc();
	/* And now where the process is no longer single-threaded. */
	expect(pthread_create(&thread, NULL, compare_in_a_thread, NULL), 0);
	expect(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(full_recursion_counter)
{
	pthread_mutex_t mutex;
	init(&mutex, PTHREAD_MUTEX_RECURSIVE, false);
	use_strategy(_i);
	expect(pthread_mutex_lock(&mutex), 0);
	mutex.__data.__count = UINT32_MAX;
	for (enum step step = LOCK; step <= CLOCKED; step++)
		expect(step_of_ours(&mutex, step), EAGAIN);
	expect(mutex.__data.__count, UINT32_MAX);
	ck_assert_uint_eq(counted().acquired, 1);
}
END_TEST

START_TEST(uncontended_calls_count)
{
	pthread_mutex_t normal, recursive, checked;
	init(&normal, PTHREAD_MUTEX_NORMAL, false);
	init(&recursive, PTHREAD_MUTEX_RECURSIVE, false);
	init(&checked, PTHREAD_MUTEX_ERRORCHECK, true);
	use_strategy(_i);
	for (enum step step = LOCK; step <= CLOCKED; step++) {
		expect(step_of_ours(&normal, step), 0); /* 4 */
		expect(pthread_mutex_trylock(&normal), EBUSY);
		expect(pthread_mutex_unlock(&normal), 0);
		expect(step_of_ours(&recursive, step), 0); /* 4 */
		expect(step_of_ours(&recursive, step), 0); /* 4 */
		expect(pthread_mutex_unlock(&recursive), 0);
		expect(pthread_mutex_unlock(&recursive), 0);
		expect(pthread_mutex_unlock(&recursive), EPERM);
		expect(step_of_ours(&checked, step), 0); /* 4 */
		expect(pthread_mutex_lock(&checked), EDEADLK);
		expect(pthread_mutex_trylock(&checked), EBUSY);
		expect(pthread_mutex_unlock(&checked), 0);
		expect(pthread_mutex_unlock(&checked), EPERM);
	}
	struct mutex_counters counts = counted();
	ck_assert_uint_eq(counts.acquired, 16);
	ck_assert_uint_eq(counts.try_failed, 8);
	ck_assert_uint_eq(counts.contended + counts.timed_out + counts.parked + counts.woken, 0);
	ck_assert_uint_eq(counts.passed_through + counts.owner_died + counts.wait_ns_total, 0);
}
END_TEST

START_TEST(timeouts_count)
{
	pthread_mutex_t mutex;
	init(&mutex, PTHREAD_MUTEX_NORMAL, false);
	use_strategy(_i);
	expect(pthread_mutex_lock(&mutex), 0);
	expect(pthread_mutex_timedlock(&mutex, &past), ETIMEDOUT);
	expect(pthread_mutex_clocklock(&mutex, CLOCK_REALTIME, &past), ETIMEDOUT);
	expect(pthread_mutex_clocklock(&mutex, CLOCK_TAI, &past), EINVAL);
	struct mutex_counters counts = counted();
	ck_assert_uint_eq(counts.acquired, 1);
	ck_assert_uint_eq(counts.contended, 2);
	ck_assert_uint_eq(counts.timed_out, 2);
	ck_assert_uint_eq(counts.parked, IS_GLIBC(_i) ? 0 : 2);
	ck_assert_uint_gt(counts.wait_ns_total, 0);
}
END_TEST

static pthread_mutex_t robust;

static void *die_with_robust(void *unused)
{
	pthread_mutex_lock(&robust);
	return unused;
}

START_TEST(other_kinds_pass_through)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t inheriting;
	pthread_t thread;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_STALLED);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inheriting, &attributes);
	use_strategy(_i);
	expect(pthread_create(&thread, NULL, die_with_robust, NULL), 0);
	expect(pthread_join(thread, NULL), 0);
	/* An emulator may not know robust lists; then the owner's death goes unnoticed. */
	void *list;
	size_t size;
	bool told = sys_call3(SYS_get_robust_list, 0, SYS_ARG(&list), SYS_ARG(&size)) == 0;
	expect(pthread_mutex_trylock(&robust), told ? EOWNERDEAD : EBUSY);
	pthread_mutex_consistent(&robust);
	expect(pthread_mutex_unlock(&robust), told ? 0 : EPERM);
	for (enum step step = LOCK; step <= CLOCKED; step++) {
		expect(step_of_ours(&inheriting, step), 0);
		expect(pthread_mutex_unlock(&inheriting), 0);
	}
	struct mutex_counters counts = counted();
	ck_assert_uint_eq(counts.passed_through, 3 + 8);
	ck_assert_uint_eq(counts.owner_died, told);
	ck_assert_uint_eq(counts.acquired, 0);
}
END_TEST

/* Two call sites that can be told apart by where they lie. */
static __attribute__((noinline)) int lock_here(pthread_mutex_t *mutex)
{
	int result = pthread_mutex_lock(mutex);
	__asm__ volatile("" : "+r"(result)); /* the call is not the last thing done */
	return result;
}

static __attribute__((noinline)) int lock_there(pthread_mutex_t *mutex)
{
	int result = pthread_mutex_lock(mutex);
	__asm__ volatile("" : "+r"(result), "+r"(mutex));
	return result;
}

static bool is_in(uint64_t site, int (*function)(pthread_mutex_t *mutex))
{
	return site - (uint64_t)(uintptr_t)function - 1 < CODE_NEAR;
}

static void *wait_there(void *mutex)
{
	if (lock_there(mutex) != 0 || !is_in(mutex_site(mutex), lock_there) ||
	        mutex_owner(mutex) != (uint32_t)sys_gettid())
		return "the mutex does not say who owns it";
	if (pthread_mutex_unlock(mutex) != 0)
		return "it was not released";
	return thread_leaves(NULL);
}

/* Holds the mutex until another thread sleeps for it. */
static void hold_before_a_sleeper(pthread_mutex_t *mutex)
{
	pthread_t thread;
	void *complaint;
	expect(lock_here(mutex), 0);
	expect(is_in(mutex_site(mutex), lock_here), true);
	expect(pthread_create(&thread, NULL, wait_there, mutex), 0);
	while (__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) != WORD_WAITED)
		sched_yield();
	expect(pthread_mutex_unlock(mutex), 0);
	expect(pthread_join(thread, &complaint), 0);
	if (complaint != NULL)
		ck_abort_msg("%s", (const char *)complaint);
	expect(mutex_site(mutex) != 0, false);
}

START_TEST(holder_is_blamed)
{
	pthread_mutex_t mutex;
	init(&mutex, PTHREAD_MUTEX_NORMAL, false);
	use_strategy(_i);
	hold_before_a_sleeper(&mutex);
	struct mutex_counters counts = counted();
	ck_assert_uint_eq(counts.acquired, 2);
	ck_assert_uint_eq(counts.contended, 1);
	ck_assert_uint_eq(counts.woken, 2); /* who has slept cannot know whether others do */
	ck_assert_uint_eq(counts.lost, 0);

	ck_assert_uint_eq(record_header->regions[REGION_BLAME].used, 1);
	const struct record_blame *blame = record_entry(REGION_BLAME, 0);
	const struct record_site *site = record_entry(REGION_SITES, blame->site);
	const struct record_lock *lock = record_entry(REGION_LOCKS, site->lock);
	ck_assert(is_in(blame->holder_address, lock_here));
	ck_assert(is_in(site->address, lock_there));
	ck_assert_uint_eq(site->module, blame->holder_module);
	ck_assert_uint_eq(lock->address, (uint64_t)(uintptr_t)&mutex);
	ck_assert_uint_eq(lock->kind, (uint32_t)mutex.__data.__kind);
	ck_assert_uint_eq(blame->waits, 1);
	ck_assert_uint_eq(thread_current()->caused.waits, 1);
	ck_assert_uint_eq(thread_current()->caused.wait_ns_total, counts.wait_ns_total);
	ck_assert_uint_eq(blame->wait_ns_total, counts.wait_ns_total);
	ck_assert_uint_eq(site->wait.wait_ns_max, counts.wait_ns_total);
}
END_TEST

START_TEST(new_mutex_at_an_old_address)
{
	pthread_mutex_t mutex;
	use_strategy(_i);
	for (uint32_t i = 0; i < 4; i++) {
		init(&mutex, PTHREAD_MUTEX_RECURSIVE, false);
		hold_before_a_sleeper(&mutex);
		if (i % 2 == 0) /* also without, as programs do */
			expect(pthread_mutex_destroy(&mutex), 0);
		ck_assert_uint_eq(record_header->regions[REGION_LOCKS].used, i + 1);
		const struct record_lock *lock = record_entry(REGION_LOCKS, i);
		ck_assert_uint_eq(lock->wait.waits, 1);
		ck_assert_uint_eq(lock->destroyed, i % 2 == 0);
	}
}
END_TEST

#define THREADS 4
#define LOCKS   16
#define ROUNDS  400

static struct {
	pthread_mutex_t mutex;
	uint64_t counter; /* not atomic: the mutex guards it */
} guarded[LOCKS];

static void *count_everywhere(void *unused)
{
	for (int i = 0; i < ROUNDS * LOCKS; i++) {
		pthread_mutex_lock(&guarded[i / 4 % LOCKS].mutex);
		guarded[i / 4 % LOCKS].counter++;
		if (i % 32 == 0) /* so that others find it taken */
			sched_yield();
		pthread_mutex_unlock(&guarded[i / 4 % LOCKS].mutex);
	}
	return thread_leaves(unused);
}

static struct wait_totals sum_of_locks(void)
{
	struct wait_totals sum = { .waits = 0 };
	for (uint32_t i = 0; i < record_header->regions[REGION_LOCKS].used; i++) {
		const struct record_lock *lock = record_entry(REGION_LOCKS, i);
		sum.waits += lock->wait.waits;
		sum.wait_ns_total += lock->wait.wait_ns_total;
	}
	return sum;
}

START_TEST(many_threads_and_locks_add_up)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < LOCKS; i++)
		init(&guarded[i].mutex, i % 4, false);
	use_strategy(_i);
	for (int i = 0; i < THREADS; i++)
		expect(pthread_create(&threads[i], NULL, count_everywhere, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		expect(pthread_join(threads[i], NULL), 0);
	struct mutex_counters counts = counted();
	for (int i = 0; i < LOCKS; i++) {
		ck_assert_uint_eq(guarded[i].counter, THREADS * ROUNDS);
		expect(guarded[i].mutex.__data.__lock, WORD_FREE);
		ck_assert_uint_eq(guarded[i].mutex.__data.__nusers, 0);
		ck_assert_uint_eq(mutex_site(&guarded[i].mutex), 0);
		ck_assert_uint_eq(*mutex_line(&guarded[i].mutex), 0);
	}
	struct wait_totals locks = sum_of_locks();
	ck_assert_uint_eq(counts.acquired, THREADS * ROUNDS * LOCKS);
	ck_assert_uint_eq(counts.lost, 0);
	ck_assert_uint_eq(locks.waits, counts.contended);
	ck_assert_uint_eq(locks.wait_ns_total, counts.wait_ns_total);
	ck_assert_uint_le(totals_read().caused.waits, counts.contended);
	ck_assert_uint_le(counts.spun_useful + counts.spun_vain, counts.contended);
	ck_assert_uint_eq(totals_read().threads_ended, THREADS);
	ck_assert_uint_eq(record_header->threads_created, THREADS);
}
END_TEST

static void *sleep_under_a_name(void *unused)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&mutex);
	pthread_setname_np(pthread_self(), "sleeper");
	pthread_mutex_unlock(&mutex);
	return thread_leaves(unused);
}

START_TEST(ended_thread_is_kept_under_its_name)
{
	pthread_t thread;
	use_strategy(_i);
	expect(pthread_create(&thread, NULL, sleep_under_a_name, NULL), 0);
	expect(pthread_join(thread, NULL), 0);
	ck_assert_uint_eq(record_header->regions[REGION_RETIRED].used, 1);
	const struct record_retired *retired = record_entry(REGION_RETIRED, 0);
	ck_assert_str_eq(retired->name, "sleeper");
	ck_assert_uint_eq(retired->threads, 1);
	ck_assert_uint_eq(retired->counters.mutex.acquired, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("entry points");
	TCase *tcase = tcase_create("mutexes");
	tcase_set_timeout(tcase, 60);
	for (int i = 0; i < STRATEGIES; i++) {
		if (THREAD_SANITIZER && IS_GLIBC(i))
			continue; /* it would see libc lock and nobody unlock */
		tcase_add_loop_test(tcase, uncontended_calls_count, i, i + 1);
		tcase_add_loop_test(tcase, full_recursion_counter, i, i + 1);
		tcase_add_loop_test(tcase, timeouts_count, i, i + 1);
		tcase_add_loop_test(tcase, holder_is_blamed, i, i + 1);
		tcase_add_loop_test(tcase, new_mutex_at_an_old_address, i, i + 1);
		tcase_add_loop_test(tcase, many_threads_and_locks_add_up, i, i + 1);
		tcase_add_loop_test(tcase, ended_thread_is_kept_under_its_name, i, i + 1);
		if (THREAD_SANITIZER)
			continue; /* its own functions stand in for libc's */
		tcase_add_loop_test(tcase, words_are_those_that_libc_leaves, i, i + 1);
		tcase_add_loop_test(tcase, other_kinds_pass_through, i, i + 1);
	}
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
