/*
 * A process whose record another program of its user overwrites: its figures are spoilt, it goes
 * on.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "probes/conds.h"
#include "probes/modules.h"
#include "probes/record_map.h"
#include "probes/threads.h"
#include "probes/waits.h"
#include "shim/start.h"
#include "shim/thread.h"
#include "shim/totals.h"
#include "shim/wait.h"

#define TID 0x7ffffff0u /* above every thread id that a kernel gives */

/* Runs in the forked process of a test: what it calls is recorded no more. */
static void keep_out(void)
{
	start_counting = false;
	thread_self = NULL;
	record_header = NULL;
	record_threads_forget();
	ck_assert_int_eq(record_create(getenv("ABSHIM_DIR"), "/tests/check_overwritten", false), 0);
}

static void clean_up(void)
{
	record_unlink();
}

/* One of everything that a target does. */
static void use(unsigned round)
{
	struct record_thread *self = record_thread_claim(TID + round % 4);
	struct wait_event event = { .lock = 0x1000 + round * 64,
		.site = (uint64_t)(uintptr_t)use,
		.family = FAMILY_mutex };
	struct counters totals;
	if (self == NULL)
		return;
	struct record_pending pending = record_wait_begin(self, &event);
	record_wait_blame(&pending, TID, (uint64_t)(uintptr_t)keep_out);
	record_wait_end(self, &pending, 1000);
	record_wait_flush(self);
	record_lock_gone(event.lock, FAMILY_mutex);
	record_cond_signal(0x2000, true);
	record_cond_leave(record_cond_enter(0x2000), 1, true);
	record_module_of((uint64_t)(uintptr_t)use);
	record_thread_rename((uint64_t)pthread_self(), "renamed");
	totals_read(&totals);
	record_thread_retire(self);
}

static void overwrite(int how)
{
	unsigned char *bytes = (unsigned char *)record_header;
	size_t size = (size_t)record_header->file_size;
	const size_t populated = 16384; /* touching more could be the first time */
	for (size_t i = 0; i < populated && i < size; i++)
		bytes[i] = how < 256 ? (unsigned char)how : (unsigned char)random();
	for (int id = 1; id < REGION_COUNT; id++) {
		const struct record_place *place = &record_places[id];
		size_t all = (size_t)place->entry_size * place->capacity;
		if (!record_reserve((enum record_region_id)id, place->capacity - 1))
			continue;
		for (size_t i = 0; i < all; i += 1 + (size_t)(random() % 16))
			place->start[i] = how < 256 ? (char)how : (char)random();
	}
}

/* Everything 0, everything 1, and anything. */
START_TEST(nothing_leads_out_of_the_record)
{
	static const int ways[] = { 0, 0xff, 1, 0x7f, 256 };
	srandom(20);
	for (unsigned round = 0; round < 64; round++)
		use(round);
	overwrite(ways[_i]);
	for (unsigned round = 0; round < 200; round++)
		use(round);
	ck_assert_int_eq(record_places[REGION_LOCKS].entry_size, sizeof(struct record_lock));
}
END_TEST

/* Whatever stands in the page of settings, a wait is carried out in some way that there is. */
START_TEST(any_setting_waits)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	struct record_thread *self = record_thread_claim(TID);
	struct timespec past = { 1, 0 };
	const struct wait_limit limit = limit_real(&past);
	unsigned char *page = record_entry(REGION_CONTROL, 0);
	srandom(21);
	ck_assert_ptr_nonnull(self);
	mutex.__data.__lock = 2; /* taken, with waiters */
	for (unsigned round = 0; round < 2000; round++) {
		for (size_t i = 0; i < sizeof(struct record_control); i++)
			page[i] = round % 2 == 0 ? (unsigned char)random()
			                         : (unsigned char)(random() % 12 * (i % 4 == 0));
		ck_assert_int_eq(wait_for_mutex(&mutex, self, page, &limit), ETIMEDOUT);
	}
	ck_assert_int_eq(mutex.__data.__lock, 2);
	record_thread_retire(self);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("overwritten record");
	TCase *tcase = tcase_create("overwritten record");
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, keep_out, clean_up);
	tcase_add_loop_test(tcase, nothing_leads_out_of_the_record, 0, 5);
	tcase_add_test(tcase, any_setting_waits);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
