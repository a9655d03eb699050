/*
 * Counters, the tables of waits, the slots of threads and the table of modules, each driven by the
 * test alone: the shim keeps out of the record. How the record's file is made: check_record.c.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/counters.h"
#include "probes/modules.h"
#include "probes/sys.h"
#include "probes/threads.h"
#include "probes/waits.h"
#include "shim/start.h"
#include "shim/thread.h"
#include "tests/totals.h"

#define NO_TID UINT32_C(0x40000000) /* above every id that the kernel gives */

static struct record_thread *self;

/* Runs in the forked process of a test, whose record the shim has just made. */
static void take_record(void)
{
	start_counting = false;
	thread_forget();
	record_threads_forget();
	ck_assert_int_eq(record_create(getenv("ABSHIM_DIR"), "/tests/check_probes", false), 0);
	self = record_thread_claim((uint32_t)sys_gettid());
	ck_assert_ptr_nonnull(self);
}

static uint32_t used(enum record_region_id id)
{
	return record_header->regions[id].used;
}

START_TEST(bucket_boundaries)
{
	for (unsigned ns = 0; ns < 2; ns++)
		ck_assert_uint_eq(histogram_bucket(ns), 0);
	for (unsigned k = 1; k < 64; k++) {
		unsigned last = RECORD_BUCKETS - 1;
		uint64_t power = UINT64_C(1) << k;
		ck_assert_uint_eq(histogram_bucket(power), k < last ? k : last);
		ck_assert_uint_eq(histogram_bucket(power + 1), k < last ? k : last);
		ck_assert_uint_eq(histogram_bucket(power - 1), k - 1 < last ? k - 1 : last);
	}
	ck_assert_uint_eq(histogram_bucket(3), 1);
	ck_assert_uint_eq(histogram_bucket(UINT64_MAX), RECORD_BUCKETS - 1);
}
END_TEST

START_TEST(waits_add_up)
{
	static const uint64_t waits_ns[] = { 0, 1, 2, 3, 4, 1023, 1024, UINT64_C(1) << 50 };
	struct wait_totals totals = { .waits = 0 };
	uint64_t sum = 0;
	for (size_t i = 0; i < 8; i++) {
		wait_totals_add(&totals, waits_ns[i]);
		sum += waits_ns[i];
	}
	ck_assert_uint_eq(totals.waits, 8);
	ck_assert_uint_eq(totals.wait_ns_total, sum);
	ck_assert_uint_eq(totals.wait_ns_max, UINT64_C(1) << 50);
	const uint32_t expected[] = {
		[0] = 2, [1] = 2, [2] = 1, [9] = 1, [10] = 1, [RECORD_BUCKETS - 1] = 1
	};
	for (size_t i = 0; i < RECORD_BUCKETS; i++)
		ck_assert_uint_eq(totals.histogram[i], expected[i]);
}
END_TEST

/* Runs the function in four threads at once, each with its number. They return a complaint or NULL.
 */
static void in_four_threads(void *(*function)(void *number))
{
	pthread_t threads[4];
	for (uintptr_t i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, function, (void *)i), 0);
	for (int i = 0; i < 4; i++) {
		void *complaint;
		ck_assert_int_eq(pthread_join(threads[i], &complaint), 0);
		ck_assert_msg(complaint == NULL, "%s", (const char *)complaint);
	}
}

static uint64_t shared_sum, shared_greatest;

static void *count_shared(void *number)
{
	for (uint64_t i = 0; i < 10000; i++) {
		shared_add(&shared_sum, 2);
		shared_max(&shared_greatest, i * 4 + (uintptr_t)number);
	}
	return NULL;
}

START_TEST(counters_are_exact)
{
	uint64_t own = UINT64_C(1) << 40, greatest = 7;
	counter_add(&own, 3);
	counter_max(&greatest, 6);
	ck_assert_uint_eq(own, (UINT64_C(1) << 40) + 3);
	ck_assert_uint_eq(greatest, 7);
	counter_max(&greatest, UINT64_MAX);
	ck_assert_uint_eq(greatest, UINT64_MAX);
	in_four_threads(count_shared);
	ck_assert_uint_eq(shared_sum, 80000);
	ck_assert_uint_eq(shared_greatest, 9999 * 4 + 3);
}
END_TEST

/* One whole wait, as the shim makes them. */
static bool wait_for(struct record_thread *waiter, uint64_t lock, uint64_t site, uint64_t holder,
        uint64_t wait_ns)
{
	const struct wait_event event = { .lock = lock, .site = site, .kind = 3 };
	struct record_pending pending = record_wait_begin(waiter, &event);
	record_wait_blame(&pending, 0, holder);
	return record_wait_end(waiter, &pending, wait_ns);
}

START_TEST(wait_stays_pending_until_it_is_flushed)
{
	struct record_thread *holder = record_thread_claim(NO_TID);
	const struct wait_event event = { .lock = 0x1000, .site = 0x20, .kind = 2 };
	struct record_pending pending = record_wait_begin(self, &event);
	record_wait_blame(&pending, NO_TID, 0x30);
	ck_assert(record_wait_end(self, &pending, 500));

	const struct record_lock *lock = record_entry(REGION_LOCKS, self->pending.lock - 1);
	const struct record_site *site = record_entry(REGION_SITES, self->pending.site - 1);
	const struct record_blame *blame = record_entry(REGION_BLAME, self->pending.blame - 1);
	ck_assert_uint_eq(lock->address, 0x1000);
	ck_assert_uint_eq(lock->kind, 2);
	ck_assert_uint_eq(lock->first_site, self->pending.site);
	ck_assert_uint_eq(site->address, 0x20);
	ck_assert_uint_eq(site->lock, self->pending.lock - 1);
	ck_assert_uint_eq(site->module, 0);
	ck_assert_uint_eq(blame->holder_address, 0x30);
	ck_assert_uint_eq(blame->site, self->pending.site - 1);
	ck_assert_uint_eq(self->pending.holder_tid, NO_TID);
	ck_assert_uint_eq(self->pending.wait_ns, 500);
	ck_assert_uint_eq(lock->wait.waits + site->wait.waits + blame->waits, 0);
	ck_assert_uint_eq(holder->caused.waits, 0);

	for (int i = 0; i < 2; i++) { /* the second finds nothing */
		record_wait_flush(self);
		ck_assert_uint_eq(self->pending.lock, 0);
		ck_assert_uint_eq(lock->wait.waits, 1);
		ck_assert_uint_eq(lock->wait.wait_ns_total, 500);
		ck_assert_uint_eq(lock->wait.histogram[8], 1);
		ck_assert_uint_eq(site->wait.wait_ns_max, 500);
		ck_assert_uint_eq(blame->wait_ns_total, 500);
		ck_assert_uint_eq(holder->caused.waits, 1);
		ck_assert_uint_eq(holder->caused.wait_ns_max, 500);
	}
}
END_TEST

/* Of the valid rows of the table: how many have the address. */
static uint32_t locks_at(uint64_t address, uint64_t *waits)
{
	uint32_t rows = 0;
	*waits = 0;
	for (uint32_t i = 0; i < used(REGION_LOCKS); i++) {
		const struct record_lock *lock = record_entry(REGION_LOCKS, i);
		rows += lock->address == address;
		*waits += lock->address == address ? lock->wait.waits : 0;
	}
	return rows;
}

START_TEST(unknown_holder_is_blamed_as_such)
{
	ck_assert(wait_for(self, 0x1000, 0x20, 0, 1));
	const struct record_blame *blame = record_entry(REGION_BLAME, self->pending.blame - 1);
	ck_assert_uint_eq(blame->holder_address, RECORD_HOLDER_UNKNOWN);
	ck_assert_uint_eq(blame->holder_module, 0);
}
END_TEST

START_TEST(reused_address_inherits_nothing)
{
	record_lock_gone(0x1000, FAMILY_mutex); /* before there is any table */
	ck_assert(wait_for(self, 0x1000, 0x20, 0x30, 10));
	record_lock_gone(0x2000, FAMILY_mutex);
	record_lock_gone(0x1000, FAMILY_mutex);
	ck_assert(wait_for(self, 0x1000, 0x20, 0x30, 70)); /* flushes the wait for the old one */
	ck_assert(wait_for(self, 0x1000, 0x20, 0x30, 80));
	record_wait_flush(self);
	ck_assert_uint_eq(used(REGION_LOCKS), 2);
	const struct record_lock *old = record_entry(REGION_LOCKS, 0);
	const struct record_lock *new = record_entry(REGION_LOCKS, 1);
	ck_assert_uint_eq(old->address, new->address);
	ck_assert_uint_eq(old->destroyed, 1);
	ck_assert_uint_eq(new->destroyed, 0);
	ck_assert_uint_eq(old->wait.waits, 1);
	ck_assert_uint_eq(old->wait.wait_ns_total, 10);
	ck_assert_uint_eq(new->wait.waits, 2);
	ck_assert_uint_eq(new->wait.wait_ns_total, 150);
	/* The call site is another one too, since it waits for another lock. */
	ck_assert_uint_eq(used(REGION_SITES), 2);
	ck_assert_uint_eq(used(REGION_BLAME), 2);
}
END_TEST

/* Locks keep their rows, wherever the probing put them, and every call may wait for each. */
START_TEST(locks_beyond_the_table_are_lost_and_counted)
{
	const struct record_region *locks = &record_header->regions[REGION_LOCKS];
	const uint32_t total = locks->capacity + 100;
	for (int round = 1; round <= 2; round++) {
		for (uint32_t i = 0; i < total; i++)
			ck_assert_int_eq(wait_for(self, 0x1000 + i * UINT64_C(40),
			                         0x20 + 4 * (uint64_t)round, 0, 3),
			        i < locks->capacity);
		record_wait_flush(self);
		ck_assert_uint_eq(locks->used, locks->capacity);
		ck_assert_uint_eq(locks->lost, 100 * (uint32_t)round);
		ck_assert_uint_eq(record_header->lost_waits, 100 * (uint64_t)round);
		ck_assert_uint_eq(record_header->lost_ns, 300 * (uint64_t)round);
		for (uint32_t i = 0; i < locks->capacity; i++) {
			const struct record_lock *lock = record_entry(REGION_LOCKS, i);
			ck_assert_uint_eq(lock->address, 0x1000 + i * UINT64_C(40));
			ck_assert_uint_eq(lock->wait.waits, (uint64_t)round);
		}
	}
}
END_TEST

/* A lock has only what its sites have. */
START_TEST(sites_beyond_the_table_are_lost_and_counted)
{
	const struct record_region *sites = &record_header->regions[REGION_SITES];
	const uint32_t total = sites->capacity + 50;
	for (uint32_t i = 0; i < total; i++)
		ck_assert_int_eq(wait_for(self, 0x1000, 0x20 + i, 0, 5), i < sites->capacity);
	record_wait_flush(self);
	ck_assert_uint_eq(sites->used, sites->capacity);
	ck_assert_uint_eq(sites->lost, 50);
	ck_assert_uint_eq(record_header->lost_waits, 50);
	const struct record_lock *lock = record_entry(REGION_LOCKS, 0);
	ck_assert_uint_eq(lock->wait.waits, sites->capacity);
}
END_TEST

START_TEST(blame_beyond_the_table_is_lost_and_counted)
{
	const struct record_region *table = &record_header->regions[REGION_BLAME];
	const uint32_t total = table->capacity + 50;
	for (uint32_t i = 0; i < total; i++)
		ck_assert(wait_for(self, 0x1000, 0x20, 0x30 + i, 5));
	record_wait_flush(self);
	ck_assert_uint_eq(table->used, table->capacity);
	ck_assert_uint_eq(table->lost, 50);
	ck_assert_uint_eq(record_header->lost_waits, 0);
	const struct record_site *site = record_entry(REGION_SITES, 0);
	ck_assert_uint_eq(site->wait.waits, total);
}
END_TEST

#define SHARED_LOCKS 64
#define LOCK_ROUNDS  40

static void *wait_for_many(void *number)
{
	struct record_thread *thread = record_thread_claim((uint32_t)sys_gettid());
	for (uint64_t i = 0; thread != NULL && i < SHARED_LOCKS * LOCK_ROUNDS; i++)
		wait_for(
		        thread, 0x1000 + i % SHARED_LOCKS * 64, 0x20 + i % 3, (uintptr_t)number, 1);
	if (thread != NULL)
		record_thread_retire(thread); /* flushes */
	return NULL;
}

START_TEST(tables_filled_at_the_same_time_are_exact)
{
	in_four_threads(wait_for_many);
	for (uint64_t i = 0; i < SHARED_LOCKS; i++) {
		uint64_t waits;
		ck_assert_uint_eq(locks_at(0x1000 + i * 64, &waits), 1);
		ck_assert_uint_eq(waits, 4 * LOCK_ROUNDS);
	}
	uint64_t site_waits = 0, blamed = 0;
	for (uint32_t i = 0; i < used(REGION_SITES); i++)
		site_waits += ((struct record_site *)record_entry(REGION_SITES, i))->wait.waits;
	for (uint32_t i = 0; i < used(REGION_BLAME); i++)
		blamed += ((struct record_blame *)record_entry(REGION_BLAME, i))->waits;
	ck_assert_uint_eq(site_waits, 4 * SHARED_LOCKS * LOCK_ROUNDS);
	ck_assert_uint_eq(blamed, site_waits);
	ck_assert_uint_eq(record_header->lost_waits, 0);
}
END_TEST

START_TEST(slot_is_given_back_and_used_again)
{
	prctl(PR_SET_NAME, "first");
	struct record_thread *thread = record_thread_claim(NO_TID);
	const uint32_t slot = thread->slot;
	ck_assert_str_eq(thread->name, "first");
	ck_assert_uint_eq(thread->handle, (uint64_t)pthread_self());
	ck_assert_ptr_eq(record_thread_find(NO_TID), thread);
	counter_add(&thread->counters.mutex.acquired, 5);
	counter_max(&thread->counters.mutex.wait_ns_max, 9);
	counter_add(&thread->counters.cond.waits, 2);
	shared_add(&thread->caused.waits, 3);
	record_thread_retire(thread);
	ck_assert_ptr_null(record_thread_find(NO_TID));

	thread = record_thread_claim(NO_TID + 1);
	ck_assert_uint_eq(thread->slot, slot);
	ck_assert_uint_eq(thread->counters.mutex.acquired + thread->counters.cond.waits +
	                          thread->caused.waits,
	        0);
	counter_add(&thread->counters.mutex.acquired, 10);
	counter_max(&thread->counters.mutex.wait_ns_max, 7);
	record_thread_rename(thread->handle + 1, "nobody");
	ck_assert_str_eq(thread->name, "first");
	/* The id comes again before its owner's end was seen: that was another thread. */
	ck_assert_uint_eq(record_thread_claim(NO_TID + 1)->counters.mutex.acquired, 0);

	ck_assert_uint_eq(used(REGION_RETIRED), 1);
	const struct record_retired *retired = record_entry(REGION_RETIRED, 0);
	ck_assert_str_eq(retired->name, "first");
	ck_assert_uint_eq(retired->threads, 2);
	ck_assert_uint_eq(retired->counters.mutex.acquired, 15);
	ck_assert_uint_eq(retired->counters.mutex.wait_ns_max, 9);
	ck_assert_uint_eq(retired->counters.cond.waits, 2);
	ck_assert_uint_eq(retired->caused.waits, 3);
}
END_TEST

START_TEST(renamed_thread_ends_under_its_new_name)
{
	record_thread_rename((uint64_t)pthread_self(), "a-name-too-long-by-far");
	ck_assert_str_eq(self->name, "a-name-too-long");
	record_thread_retire(self);
	const struct record_retired *retired = record_entry(REGION_RETIRED, 0);
	ck_assert_str_eq(retired->name, "a-name-too-long");
}
END_TEST

START_TEST(names_beyond_the_table_are_merged)
{
	enum { NAMES = 300, ROUNDS = 10 };
	for (int i = 0; i < NAMES * ROUNDS; i++) {
		char name[RECORD_NAME_SIZE];
		snprintf(name, sizeof(name), "name-%d", i % NAMES);
		prctl(PR_SET_NAME, name);
		struct record_thread *thread = record_thread_claim(NO_TID + (uint32_t)i);
		counter_add(&thread->counters.mutex.acquired, 7);
		record_thread_retire(thread);
	}
	uint32_t others = 0, threads = 0;
	for (uint32_t i = 0; i < used(REGION_RETIRED); i++) {
		const struct record_retired *retired = record_entry(REGION_RETIRED, i);
		bool merged = strcmp(retired->name, RECORD_OTHER_NAMES) == 0;
		others += merged ? retired->threads : 0;
		threads += merged ? 0 : retired->threads;
		ck_assert(merged || retired->threads == ROUNDS);
	}
	ck_assert_uint_ge(others, (NAMES - 256) * ROUNDS);
	ck_assert_uint_eq(others + threads, NAMES * ROUNDS);
	ck_assert_uint_eq(record_header->retired_rest, 1);
	ck_assert_uint_eq(totals_read().counters.mutex.acquired, 7 * NAMES * ROUNDS);
	ck_assert_uint_eq(used(REGION_THREADS), 2);
}
END_TEST

#define SHORT_THREADS 2000

/* Several slots at a time, so that new ones are wanted while others come free. */
static void *claim_and_retire(void *number)
{
	struct record_thread *held[8] = { NULL };
	for (uint32_t i = 0; i < SHORT_THREADS + 8; i++) {
		struct record_thread **place = &held[i % 8];
		uint32_t tid = NO_TID + (uint32_t)(uintptr_t)number * SHORT_THREADS + i;
		if (*place != NULL && __atomic_load_n(&(*place)->tid, __ATOMIC_RELAXED) != tid - 8)
			return "two threads have one slot";
		if (*place != NULL)
			record_thread_retire(*place);
		*place = i < SHORT_THREADS ? record_thread_claim(tid) : NULL;
		if (*place != NULL)
			counter_add(&(*place)->counters.mutex.acquired, i);
	}
	return NULL;
}

START_TEST(thousands_of_short_threads_leave_exact_totals)
{
	in_four_threads(claim_and_retire);
	ck_assert_uint_eq(totals_read().counters.mutex.acquired,
	        4 * (SHORT_THREADS - 1) * (SHORT_THREADS / 2));
	ck_assert_uint_eq(totals_read().threads_ended, 4 * SHORT_THREADS);
	ck_assert_uint_eq(record_header->threads_lost, 0);
	ck_assert_uint_lt(used(REGION_THREADS), 200);
}
END_TEST

START_TEST(slots_of_the_dead_are_reclaimed)
{
	uint32_t capacity = record_header->regions[REGION_THREADS].capacity;
	for (uint32_t i = 1; i < capacity; i++)
		counter_add(&record_thread_claim(NO_TID + i)->counters.mutex.acquired, 1);
	ck_assert_uint_eq(used(REGION_THREADS), capacity);
	ck_assert_ptr_nonnull(record_thread_claim(NO_TID));
	ck_assert_uint_eq(record_header->threads_lost, 0);
	ck_assert_uint_eq(totals_read().threads_ended, capacity - 1);
	ck_assert_uint_eq(totals_read().counters.mutex.acquired, capacity - 1);
	ck_assert_ptr_eq(record_thread_find((uint32_t)sys_gettid()), self); /* alive */
}
END_TEST

START_TEST(living_threads_keep_their_slots)
{
	record_places[REGION_THREADS].capacity = 1;
	ck_assert_ptr_null(record_thread_claim(NO_TID));
	ck_assert_uint_eq(record_header->threads_lost, 1);
	ck_assert_uint_eq(totals_read().threads_running, 1);
}
END_TEST

static const char *module_path(uint32_t module)
{
	ck_assert_uint_ne(module, 0);
	const struct record_module *entry = record_entry(REGION_MODULES, module - 1);
	return entry->path;
}

START_TEST(modules_are_found_by_address)
{
	char own[RECORD_PATH_SIZE] = "";
	ck_assert_int_gt(readlink("/proc/self/exe", own, sizeof(own) - 1), 0);
	uint32_t here = record_module_of((uint64_t)(uintptr_t)module_path);
	ck_assert_str_eq(module_path(here), own);
	const struct record_module *module = record_entry(REGION_MODULES, here - 1);
	ck_assert_uint_le(module->start, (uint64_t)(uintptr_t)module_path);
	ck_assert_uint_gt(module->end, (uint64_t)(uintptr_t)module_path);
	ck_assert_ptr_nonnull(
	        strstr(module_path(record_module_of((uint64_t)(uintptr_t)getppid)), "libc"));
	ck_assert_uint_eq(record_module_of(UINT64_MAX), 0);

	/* Code without a file, and then a file where that was. */
	void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(page, MAP_FAILED);
	record_modules_refresh();
	ck_assert_uint_eq(record_module_of((uint64_t)(uintptr_t)page), 0);
	FILE *file = fopen(own, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_eq(
	        mmap(page, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fileno(file), 0),
	        page);
	fclose(file);
	record_modules_refresh();
	uint32_t rows = used(REGION_MODULES);
	ck_assert_str_eq(module_path(record_module_of((uint64_t)(uintptr_t)page)), own);
	record_modules_refresh(); /* finds nothing new */
	ck_assert_uint_eq(used(REGION_MODULES), rows);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("probes");
	TCase *tcase = tcase_create("probes");
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, take_record, NULL);
	tcase_add_test(tcase, bucket_boundaries);
	tcase_add_test(tcase, waits_add_up);
	tcase_add_test(tcase, counters_are_exact);
	tcase_add_test(tcase, wait_stays_pending_until_it_is_flushed);
	tcase_add_test(tcase, unknown_holder_is_blamed_as_such);
	tcase_add_test(tcase, reused_address_inherits_nothing);
	tcase_add_test(tcase, locks_beyond_the_table_are_lost_and_counted);
	tcase_add_test(tcase, sites_beyond_the_table_are_lost_and_counted);
	tcase_add_test(tcase, blame_beyond_the_table_is_lost_and_counted);
	tcase_add_test(tcase, tables_filled_at_the_same_time_are_exact);
	tcase_add_test(tcase, slot_is_given_back_and_used_again);
	tcase_add_test(tcase, renamed_thread_ends_under_its_new_name);
	tcase_add_test(tcase, names_beyond_the_table_are_merged);
	tcase_add_test(tcase, thousands_of_short_threads_leave_exact_totals);
	tcase_add_test(tcase, slots_of_the_dead_are_reclaimed);
	tcase_add_test(tcase, living_threads_keep_their_slots);
	tcase_add_test(tcase, modules_are_found_by_address);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
