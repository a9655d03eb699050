/*
 * Of which waits and releases stacks are taken, when none may be, and how they are written down.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probes/stacks.h"
#include "shim/real.h"
#include "shim/rules.h"
#include "tests/frames.h"
#include "tests/sanitized.h"
#include "tests/totals.h"

static const struct timespec past = { 1, 0 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static uint32_t used(enum record_region_id id)
{
	return record_header->regions[id].used;
}

/* The mutex is held: the calling thread waits, and gives up at once. Assertions take mutexes. */
static NOT_INLINED void wait_here(void)
{
	if (pthread_mutex_timedlock(&mutex, &past) == 0)
		ck_abort();
}

static NOT_INLINED void wait_there(void)
{
	if (pthread_mutex_timedlock(&mutex, &past) == 0)
		ck_abort();
}

START_TEST(first_wait_of_every_site_is_taken)
{
	frames_load();
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 5000; i++)
		wait_here();
	ck_assert_uint_eq(used(REGION_STACKS), 1);
	ck_assert_uint_eq(record_header->stacks_due, 5000);
	ck_assert_uint_ge(record_header->stacks_taken, 1);
	wait_there();
	ck_assert_uint_eq(used(REGION_STACKS), 2);
	ck_assert_uint_eq(used(REGION_SAMPLES), 2);
	ck_assert_uint_eq(record_header->stacks_due, 5001);
	ck_assert_uint_eq(record_header->stacks_skipped, 0);
	ck_assert_uint_le(record_header->stacks_taken, 5001);
	ck_assert_uint_gt(record_header->stack_ns_total, 0);

	uint64_t waits = 0;
	for (uint32_t i = 0; i < 2; i++) {
		const struct record_sample *sample = record_entry(REGION_SAMPLES, i);
		const struct record_site *site = record_entry(REGION_SITES, sample->site);
		const struct record_stack *taken = record_entry(REGION_STACKS, sample->stack);
		const uint64_t *frames = record_entry(REGION_FRAMES, taken->first_frame);
		ck_assert_uint_eq(frames[0], site->address);
		ck_assert_uint_eq(site->sampled, 1);
		ck_assert_uint_gt(sample->wait_ns_total, 0);
		ck_assert_int_eq((int)taken->end, STACK_COMPLETE);
		ck_assert_uint_eq(taken->holders, 0);
		waits += sample->waits;
	}
	ck_assert_uint_eq(waits, record_header->stacks_taken);
}
END_TEST

/* Also where another thread has taken one since the wait ended. */
START_TEST(most_waits_at_a_known_site_are_left_out)
{
	struct unwind_registers here;
	struct record_pending pending = { .site = 1 };
	frames_load();
	pthread_mutex_lock(&mutex);
	wait_here();
	unwind_here(&here);
	for (int i = 0; i < 1000; i++)
		stacks_take_waiter(&here, &pending, 1, 1);
	ck_assert_uint_eq(record_header->stacks_due, 1001);
	ck_assert_uint_lt(record_header->stacks_taken, 1001);
	ck_assert_uint_eq(record_header->stacks_skipped, 0);
}
END_TEST

START_TEST(none_while_code_is_unloaded)
{
	frames_load();
	pthread_mutex_lock(&mutex);
	stacks_hold_off();
	stacks_hold_off();
	wait_here();
	stacks_allow();
	wait_here();
	ck_assert_uint_eq(record_header->stacks_skipped, 2);
	ck_assert_uint_eq(record_header->stacks_taken, 0);
	stacks_allow();
	wait_here();
	ck_assert_uint_eq(record_header->stacks_skipped, 2);
	ck_assert_uint_eq(record_header->stacks_taken, 1);
}
END_TEST

START_TEST(none_without_statistics_or_under_a_filter)
{
	struct record_control *control = record_entry(REGION_CONTROL, 0);
	frames_load();
	pthread_mutex_lock(&mutex);
	record_header->flags |= RECORD_SECCOMP;
	wait_here();
	record_header->flags &= ~(uint32_t)RECORD_SECCOMP;
	control->stack_depth = 0;
	wait_here();
	control->stack_depth = RECORD_MAX_STACK + 1;
	wait_here();
	control->stack_depth = 1;
	control->stats = STATS_OFF;
	wait_here();
	ck_assert_uint_eq(record_header->stacks_due, 0);
	ck_assert_uint_eq(record_header->stacks_taken, 0);
	control->stats = STATS_ON;
	wait_here();
	ck_assert_uint_eq(record_header->stacks_taken, 1);
	ck_assert_uint_eq(used(REGION_FRAMES), 1);
}
END_TEST

/* Of one thread: it is inside, taking a stack; it may go on. */
static bool is_inside, may_go_on;
static int (*find_object)(void *address, struct real_object *object);

static int find_and_stay(void *address, struct real_object *object)
{
	__atomic_store_n(&is_inside, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&may_go_on, __ATOMIC_ACQUIRE))
		sched_yield();
	return find_object != NULL ? find_object(address, object) : -1;
}

static void *wait_in_a_thread(void *unused)
{
	wait_there();
	return unused;
}

/* Another thread is in the middle of taking a stack from here on. */
static pthread_t begin_other(void)
{
	pthread_t thread;
	frames_load();
	pthread_mutex_lock(&mutex);
	find_object = real_functions._dl_find_object;
	real_functions._dl_find_object = find_and_stay;
	rules_forget();
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_in_a_thread, NULL), 0);
	while (!__atomic_load_n(&is_inside, __ATOMIC_ACQUIRE))
		sched_yield();
	return thread;
}

static void end_other(pthread_t thread)
{
	__atomic_store_n(&may_go_on, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

START_TEST(one_thread_at_a_time)
{
	pthread_t thread = begin_other();
	wait_here();
	ck_assert_uint_eq(record_header->stacks_skipped, 1);
	ck_assert_uint_eq(record_header->stacks_taken, 0);
	end_other(thread);
	ck_assert_uint_eq(record_header->stacks_taken, 1);
	wait_here();
	ck_assert_uint_eq(record_header->stacks_taken, 2);
	ck_assert_uint_eq(record_header->stacks_skipped, 1);
	ck_assert_uint_eq(record_header->stacks_due, 3);
}
END_TEST

/* Exit status of a child in which everything was as it should be. */
static int in_child(bool with_stacks)
{
	const struct record_control *control = record_entry(REGION_CONTROL, 0);
	bool flag = (record_header->flags & RECORD_NO_STACKS) != 0;
	wait_here();
	return flag == !with_stacks && (control->stack_depth != 0) == with_stacks &&
	                       record_header->stacks_taken == with_stacks &&
	                       record_header->stacks_due == with_stacks
	               ? 7
	               : 1;
}

static void expect_child(bool with_stacks)
{
	int status = 0;
	pid_t child = fork();
	if (child == 0)
		_exit(in_child(with_stacks));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(WEXITSTATUS(status), 7);
}

START_TEST(child_has_stacks_unless_one_was_being_taken)
{
	pthread_t thread = begin_other();
	expect_child(false);
	end_other(thread);
	expect_child(true);
}
END_TEST

/* Keeps functions from ending with a call; and nobody waits while there is one thread only. */
static int depth_of_lock;

static void *wait_for_end(void *unused)
{
	while (!__atomic_load_n(&may_go_on, __ATOMIC_ACQUIRE))
		sched_yield();
	return unused;
}

static NOT_INLINED void hold_and_release(void)
{
	pthread_mutex_lock(&mutex);
	mutex.__data.__lock = 2; /* as if another waited */
	pthread_mutex_unlock(&mutex);
	depth_of_lock++;
}

static NOT_INLINED void lock_in_another(void)
{
	pthread_mutex_lock(&mutex);
	mutex.__data.__lock = 2;
	depth_of_lock++;
}

static NOT_INLINED void release_in_another(void)
{
	lock_in_another();
	pthread_mutex_unlock(&mutex);
	depth_of_lock++;
}

static bool lies_in(uint64_t address, void (*function)(void))
{
	return address > (uintptr_t)function && address < (uintptr_t)function + 128;
}

START_TEST(holder_is_found_by_its_acquisition)
{
	pthread_t thread;
	frames_load();
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_end, NULL), 0);
	hold_and_release();
	ck_assert_uint_eq(record_header->stacks_due, 1);
	ck_assert_uint_eq(used(REGION_STACKS), 1);
	const struct record_stack *held = record_entry(REGION_STACKS, 0);
	const uint64_t *frames = record_entry(REGION_FRAMES, held->first_frame);
	ck_assert_uint_eq(held->holders, 1);
	ck_assert(lies_in(frames[0], hold_and_release));
	ck_assert(!lies_in(frames[1], hold_and_release));
	uint32_t depth = held->depth;

	ck_assert_uint_eq(used(REGION_SAMPLES), 0);
	nanosleep(&(struct timespec){ 0, 200000000 }, NULL); /* one is sure to be taken then */
	release_in_another();
	ck_assert_uint_eq(used(REGION_STACKS), 2);
	held = record_entry(REGION_STACKS, 1);
	frames = record_entry(REGION_FRAMES, held->first_frame);
	ck_assert(lies_in(frames[0], lock_in_another));
	ck_assert(lies_in(frames[1], release_in_another));
	ck_assert_uint_eq(held->depth, depth + 1);
	__atomic_store_n(&may_go_on, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(held->holders, 1);
}
END_TEST

START_TEST(same_stack_has_one_row)
{
	uint64_t frames[RECORD_MAX_STACK];
	for (uint32_t i = 0; i < RECORD_MAX_STACK; i++)
		frames[i] = 0x1000 + i;
	uint32_t first = record_stack_add(frames, 3, STACK_COMPLETE);
	ck_assert_uint_ne(first, 0);
	ck_assert_uint_eq(record_stack_add(frames, 3, STACK_COMPLETE), first);
	ck_assert_uint_ne(record_stack_add(frames, 3, STACK_DEPTH), first);
	ck_assert_uint_ne(record_stack_add(frames, 2, STACK_COMPLETE), first);
	ck_assert_uint_ne(record_stack_add(frames + 1, 3, STACK_COMPLETE), first);
	ck_assert_uint_ne(record_stack_add(frames, RECORD_MAX_STACK, STACK_DEPTH), 0);
	ck_assert_uint_eq(used(REGION_STACKS), 5);
	ck_assert_uint_eq(used(REGION_FRAMES), 3 + 3 + 2 + 3 + RECORD_MAX_STACK);
	record_sample_add(4, first - 1, 10);
	record_sample_add(4, first - 1, 20);
	record_sample_add(5, first - 1, 40);
	ck_assert_uint_eq(used(REGION_SAMPLES), 2);
	const struct record_sample *sample = record_entry(REGION_SAMPLES, 0);
	ck_assert_uint_eq(sample->waits, 2);
	ck_assert_uint_eq(sample->wait_ns_total, 30);
	ck_assert_uint_eq(sample->site, 4);
	ck_assert_uint_eq(sample->stack, first - 1);
}
END_TEST

/* As many distinct stacks and samples as 256 threads with 64 frames each could have, and more. */
START_TEST(tables_are_bounded)
{
	const struct record_region *regions = record_header->regions;
	uint64_t frames[RECORD_MAX_STACK] = { 0 };
	uint32_t added = 0, lost = 0, samples = 0;
	for (uint64_t i = 0; i < 2 * regions[REGION_STACKS].capacity; i++) {
		frames[0] = i;
		if (record_stack_add(frames, RECORD_MAX_STACK, STACK_DEPTH) != 0)
			added++;
		else
			lost++;
	}
	ck_assert_uint_ge(added, 256);
	ck_assert_uint_eq(regions[REGION_STACKS].used, added);
	ck_assert_uint_eq(regions[REGION_STACKS].lost, lost);
	ck_assert_uint_eq(regions[REGION_FRAMES].used, added * RECORD_MAX_STACK);
	ck_assert_uint_le(regions[REGION_FRAMES].used, regions[REGION_FRAMES].capacity);
	for (uint32_t i = 0; i < 2 * regions[REGION_SAMPLES].capacity; i++, samples++)
		record_sample_add(i, i % added, 1);
	ck_assert_uint_gt(regions[REGION_SAMPLES].lost, 0);
	ck_assert_uint_eq(regions[REGION_SAMPLES].used + regions[REGION_SAMPLES].lost, samples);
}
END_TEST

START_TEST(its_own_locks_are_not_counted)
{
	frames_load();
	pthread_mutex_lock(&mutex);
	uint64_t before = totals_read().counters.mutex.acquired;
	for (int i = 0; i < 100; i++) {
		rules_forget();
		frames_call(9, wait_here);
	}
	uint64_t after = totals_read().counters.mutex.acquired;
	ck_assert_uint_eq(after, before);
	ck_assert_uint_gt(record_header->stacks_taken, 0);
	ck_assert_uint_eq(totals_read().counters.mutex.contended, 100);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stacks");
	TCase *tcase = tcase_create("stacks");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, first_wait_of_every_site_is_taken);
	tcase_add_test(tcase, most_waits_at_a_known_site_are_left_out);
	tcase_add_test(tcase, none_while_code_is_unloaded);
	tcase_add_test(tcase, none_without_statistics_or_under_a_filter);
	tcase_add_test(tcase, holder_is_found_by_its_acquisition);
	tcase_add_test(tcase, same_stack_has_one_row);
	tcase_add_test(tcase, tables_are_bounded);
	tcase_add_test(tcase, its_own_locks_are_not_counted);
	if (!THREAD_SANITIZER) { /* it is gone when a thread's destructors lock */
		tcase_add_test(tcase, one_thread_at_a_time);
		tcase_add_test(tcase, child_has_stacks_unless_one_was_being_taken);
	}
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
