/*
 * The same waits in every grouping: exact rows, and with the rest always the totals of the threads.
 */
#include <pthread.h>
#include <sys/stat.h>

#include "loader/families.h"
#include "loader/group.h"
#include "loader/text.h"
#include "tests/sides.h"

static struct synthetic made;
static struct side side;

/* Locks of one kind that a report can name. */
static pthread_mutex_t known_locks[3];

static void start(void)
{
	made = synthetic_new();
}

static void stop(void)
{
	side_close(&side);
}

static struct groups *grouped(enum group_by by)
{
	struct groups *groups = groups_build(side.model, side.symbols, by);
	ck_assert_ptr_nonnull(groups);
	return groups;
}

static void expect_row(const struct groups *groups, size_t row, const char *key, uint64_t members,
        uint64_t waits, uint64_t total)
{
	ck_assert_uint_lt(row, groups->count);
	const struct group_row *at = &groups->rows[row];
	ck_assert_str_eq(at->key, key);
	ck_assert_uint_eq(at->members, members);
	ck_assert_uint_eq(at->waits, waits);
	ck_assert_uint_eq(at->wait_ns_total, total);
}

/* Whatever the grouping, rows and rest are the totals. */
static void expect_whole(const struct groups *groups)
{
	uint64_t waits = groups->rest.waits, total = groups->rest.wait_ns_total;
	uint64_t held = groups->rest.hold_ns_total;
	for (size_t i = 0; i < groups->count; i++) {
		waits += groups->rows[i].waits;
		total += groups->rows[i].wait_ns_total;
		held += groups->rows[i].hold_ns_total;
	}
	const struct family_sum sum = family_sum_all(&side.model->counters);
	ck_assert_uint_eq(waits, sum.waits);
	ck_assert_uint_eq(total, sum.wait_ns_total);
	ck_assert_uint_eq(held, sum.hold_ns_total);
	ck_assert_uint_eq(groups->total.waits, sum.waits);
	ck_assert_uint_eq(groups->total.wait_ns_max, sum.wait_ns_max);
}

/*
 * Three mutexes initialised by one call, a reader-writer lock, and a recursive mutex without a
 * place of creation; 2 of 20 waits found no room in the table of locks, 4 none in that of sites.
 */
static void add_waits(void)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct record_lock *lock = synthetic_lock(
		        &made, 0x1000 + i * 64, synthetic_wait(2, 100 * (i + 1), 60));
		lock->created_address = 0x409000;
		lock->first_site = 1;
		lock->hold = (struct hold_totals){ 10, 1000, 300 + i };
		synthetic_site(&made, 0x401000, i, synthetic_wait(2, 100 * (i + 1), 60));
	}
	struct record_lock *rwlock = synthetic_lock(&made, 0x2000, synthetic_wait(9, 900, 500));
	rwlock->family = FAMILY_rwlock;
	rwlock->first_site = 4;
	synthetic_site(&made, 0x402000, 3, synthetic_wait(4, 300, 200))->mode = MODE_SHARED;
	synthetic_site(&made, 0x403000, 3, synthetic_wait(4, 500, 500));
	struct record_lock *recursive = synthetic_lock(&made, 0x3000, synthetic_wait(3, 30, 20));
	recursive->kind = 1;
	recursive->first_site = 7; /* which is not there */
	synthetic_site(&made, 0x401000, 4, synthetic_wait(2, 20, 20));

	struct record_thread *worker = synthetic_thread(&made, 11, "worker");
	worker->counters.mutex = (struct mutex_counters){ .acquired = 70,
		.contended = 11,
		.wait_ns_total = 640,
		.wait_ns_max = 60,
		.hold_ns_total = 3500,
		.hold_ns_max = 302 };
	struct record_retired *readers = synthetic_retired(&made, 2, "reader");
	readers->counters.rwlock = (struct rwlock_counters){ .read_acquired = 50,
		.write_acquired = 5,
		.read_contended = 5,
		.write_contended = 4,
		.read_wait_ns_total = 400,
		.write_wait_ns_total = 500,
		.read_wait_ns_max = 200,
		.write_wait_ns_max = 500 };
}

static void build(void)
{
	side_add(&side, &made);
	side_build(&side);
}

START_TEST(locks_are_one_row_each)
{
	add_waits();
	build();
	struct groups *groups = grouped(GROUP_LOCK);
	ck_assert_uint_eq(groups->count, 5);
	expect_row(groups, 0, "0x2000", 1, 9, 900);
	expect_row(groups, 1, "0x1080", 1, 2, 300);
	ck_assert_uint_eq(groups->rest.waits, 2);
	ck_assert_uint_eq(groups->rest.wait_ns_total, 10);
	ck_assert_uint_eq(groups->rest.hold_ns_total, 500);
	expect_whole(groups);
	groups_free(groups);
}
END_TEST

/* One address may have held several locks, one after the other: oldest first. */
START_TEST(locks_at_one_address_are_told_apart)
{
	for (uint32_t i = 0; i < 3; i++)
		synthetic_lock(&made, 0x1000, synthetic_wait(1, 100 * (i + 1), 60))->destroyed =
		        i < 2;
	build();
	struct groups *groups = grouped(GROUP_LOCK);
	ck_assert_uint_eq(groups->count, 3);
	expect_row(groups, 0, "0x1000#3", 1, 1, 300);
	expect_row(groups, 1, "0x1000#2", 1, 1, 200);
	expect_row(groups, 2, "0x1000", 1, 1, 100);
	ck_assert_str_eq(groups->rows[0].label, "0x1000#3");
	groups_free(groups);
}
END_TEST

static __attribute__((noinline)) uint64_t return_address(void)
{
	__asm__ volatile(""); /* no two calls are one */
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static inline __attribute__((always_inline)) unsigned three_calls(uint64_t addresses[3])
{
	addresses[0] = return_address();
	addresses[1] = return_address(), addresses[2] = return_address();
	return __LINE__ - 2;
}

static void add_own_site(uint64_t address, uint32_t lock, uint64_t wait_ns)
{
	synthetic_lock(&made, 0x1000 + lock * 64, synthetic_wait(1, wait_ns, 60));
	struct record_site *site =
	        synthetic_site(&made, address, lock, synthetic_wait(1, wait_ns, 60));
	for (uint32_t i = 0; i < made.header->regions[REGION_MODULES].used; i++) {
		const struct record_module *map = synthetic_entry(&made, REGION_MODULES, i);
		if (address >= map->start && address < map->end)
			site->module = i + 1;
	}
}

/* A function that was inlined has no symbol: its calls differ by lines and columns. */
START_TEST(inlined_calls_are_told_apart)
{
	uint64_t addresses[3];
	unsigned line = three_calls(addresses);
	ck_assert_uint_ne(synthetic_own_modules(&made), MODEL_NONE);
	for (uint32_t i = 0; i < 3; i++)
		add_own_site(addresses[i], i, 300 - 100 * i);
	build();
	struct groups *groups = grouped(GROUP_SITE);
	ck_assert_uint_eq(groups->count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct group_row *row = &groups->rows[i];
		char key[128], label[64];
		unsigned at = line + (i > 0);
		snprintf(key, sizeof(key),
		        "three_calls at check_loader_groups.c:%u:%u in check_loader_groups", at,
		        row->column);
		expect_row(groups, i, key, 1, 1, 300 - 100 * i);
		snprintf(label, sizeof(label), i > 0 ? ":%u:%u" : ":%u", at, row->column);
		const char *end = row->label + strlen(row->label) - strlen(label);
		ck_assert_str_eq(end, label);
	}
	ck_assert_uint_lt(groups->rows[1].column, groups->rows[2].column);
	groups_free(groups);
}
END_TEST

START_TEST(locks_of_one_creation_are_one_row)
{
	add_waits();
	build();
	struct groups *groups = grouped(GROUP_CREATION);
	ck_assert_uint_eq(groups->count, 3);
	expect_row(groups, 0, "first in 0x402000", 1, 9, 900);
	expect_row(groups, 1, "created in 0x409000", 3, 6, 600);
	ck_assert_uint_eq(groups->rows[1].hold_ns_total, 3000);
	ck_assert_uint_eq(groups->rows[1].hold_ns_max, 302);
	ck_assert_uint_eq(groups->rows[1].acquired, 30);
	expect_row(groups, 2, "not known", 1, 3, 30);
	expect_whole(groups);
	groups_free(groups);
}
END_TEST

START_TEST(sites_types_and_threads_add_up)
{
	add_waits();
	build();
	struct groups *groups = grouped(GROUP_SITE);
	ck_assert_uint_eq(groups->count, 3);
	expect_row(groups, 0, "0x401000", 4, 8, 620);
	expect_row(groups, 1, "0x403000", 1, 4, 500);
	expect_row(groups, 2, "0x402000", 1, 4, 300);
	ck_assert_uint_eq(groups->rest.waits, 4);
	expect_whole(groups);
	groups_free(groups);
	groups = grouped(GROUP_TYPE);
	ck_assert_uint_eq(groups->count, 3);
	expect_row(groups, 0, "rwlock", 1, 9, 900);
	expect_row(groups, 1, "mutex normal", 3, 6, 600);
	expect_row(groups, 2, "mutex recursive", 1, 3, 30);
	expect_whole(groups);
	groups_free(groups);
	groups = grouped(GROUP_THREAD);
	ck_assert_uint_eq(groups->count, 2);
	expect_row(groups, 0, "reader", 2, 9, 900);
	ck_assert_uint_eq(groups->rows[0].acquired, 55);
	expect_row(groups, 1, "worker", 1, 11, 640);
	ck_assert_uint_eq(groups->rest.waits, 0);
	expect_whole(groups);
	groups_free(groups);
}
END_TEST

START_TEST(elements_of_an_array_are_one_kind)
{
	uint32_t own = synthetic_own_modules(&made);
	ck_assert_uint_ne(own, MODEL_NONE);
	for (uint32_t i = 0; i < 3; i++)
		synthetic_lock(
		        &made, (uint64_t)(uintptr_t)&known_locks[i], synthetic_wait(1, 100, 100))
		        ->created_address = 0x409000;
	synthetic_thread(&made, 1, "t")->counters.mutex =
	        (struct mutex_counters){ .contended = 3, .wait_ns_total = 300, .wait_ns_max = 100 };
	build();
	struct groups *groups = grouped(GROUP_CREATION);
	ck_assert_uint_eq(groups->count, 1);
	expect_row(groups, 0, "known_locks in check_loader_groups", 3, 3, 300);
	ck_assert_str_eq(groups->rows[0].label, "known_locks in check_loader_groups");
	expect_whole(groups);
	groups_free(groups);
	groups = grouped(GROUP_LOCK);
	ck_assert_uint_eq(groups->count, 3);
	groups_free(groups);
}
END_TEST

START_TEST(text_shows_rows_rest_and_total)
{
	add_waits();
	build();
	char *text = side_written(
	        &side, write_groups_text, &(struct write_options){ .top = 2, .by = GROUP_LOCK });
	expect_in(text, "Locks, by time waited for them (2 of 5; --top N shows more)\n");
	expect_in(text, "   900 ns   58.4 %           9    100 ns    500 ns         1 0x2000\n");
	expect_in(text,
	        "   330 ns   21.4 %           7     47 ns     60 ns         3 (the rows not "
	        "shown)\n");
	expect_in(text, "    10 ns   0.65 %           2      5 ns      0 ns           (not in the "
	                "tables, which were full)\n");
	expect_in(text, "  1.54 us  100.0 %          20     77 ns    500 ns           (total)\n");
	expect_in(text, "Locks, by time held (2 of 3; --top N shows more)\n");
	expect_in(text, "  1.00 us  <0.01 %          10    100 ns    300 ns           0x1000\n");
	expect_in(
	        text, "   500 ns  <0.01 %           0      0 ns      0 ns           (in no row)\n");
	expect_in(text, "  3.50 us  <0.01 %          30    116 ns    302 ns           (total)\n");
	expect_not_in(text, "0 ns           0x2000\n");
	expect_width(text);
	free(text);
}
END_TEST

START_TEST(json_has_every_row)
{
	add_waits();
	build();
	json_t *report = parsed(side_written(&side, write_groups_json,
	        &(struct write_options){ .top = 1, .by = GROUP_CREATION }));
	ck_assert_str_eq(json_string_value(json_object_get(report, "by")), "creation");
	const json_t *rows = json_object_get(report, "rows");
	ck_assert_uint_eq(json_array_size(rows), 3);
	const json_t *row = json_array_get(rows, 1);
	ck_assert_str_eq(json_string_value(json_object_get(row, "key")), "created in 0x409000");
	ck_assert_str_eq(json_string_value(json_object_get(row, "family")), "mutex");
	ck_assert_int_eq(json_integer_value(json_object_get(row, "members")), 3);
	ck_assert_int_eq(json_integer_value(json_object_get(row, "hold_ns_total")), 3000);
	const json_t *total = json_object_get(report, "total");
	ck_assert_int_eq(json_integer_value(json_object_get(total, "waits")), 20);
	const json_t *rest = json_object_get(report, "rest");
	ck_assert_int_eq(json_integer_value(json_object_get(rest, "wait_ns_total")), 10);
	json_decref(report);
	/* Call sites wait; who had acquired there, and for how long, is not counted. */
	report = parsed(side_written(
	        &side, write_groups_json, &(struct write_options){ .by = GROUP_SITE }));
	row = json_array_get(json_object_get(report, "rows"), 0);
	ck_assert(json_is_null(json_object_get(row, "acquired")));
	ck_assert(json_is_null(json_object_get(row, "hold_ns_max")));
	rest = json_object_get(report, "rest");
	ck_assert(json_is_null(json_object_get(rest, "acquired")));
	total = json_object_get(report, "total");
	ck_assert_int_eq(json_integer_value(json_object_get(total, "acquired")), 125);
	json_decref(report);
}
END_TEST

START_TEST(words_of_groupings_are_known)
{
	ck_assert_int_eq(group_by_name("creation"), GROUP_CREATION);
	ck_assert_int_eq(group_by_name("type"), GROUP_TYPE);
	ck_assert_int_eq(group_by_name("none"), GROUP_NONE);
	ck_assert_int_eq(group_by_name(""), GROUP_NONE);
	ck_assert_int_eq(group_by_name("Lock"), GROUP_NONE);
}
END_TEST

/* Readers and holders in the report of everything. */
START_TEST(text_tells_readers_and_holders)
{
	add_waits();
	build();
	char *text = side_written(
	        &side, write_text, &(struct write_options){ .top = WRITE_DEFAULT_TOP });
	expect_in(text, "0x2000 (rwlock)\n");
	expect_in(text, "created in 0x409000\n");
	expect_in(text, "0x402000 (read)\n");
	expect_in(text, "0x403000 (write)\n");
	expect_in(text, "0x401000 (4 locks)\n");
	expect_in(text, "\nReader-writer locks\n");
	expect_in(text, "\nLocks, by time held\n");
	expect_in(text, "  1.00 us  <0.01 %          10    100 ns    302 ns   0x1080 (normal)\n");
	expect_not_in(text, "Semaphores");
	expect_width(text);
	free(text);
}
END_TEST

START_TEST(one_of_a_thing_is_said_of_one)
{
	char text[TEXT_NUMBER_SIZE];
	ck_assert_str_eq(text_things(text, 1, "condition wait"), "1 condition wait");
	ck_assert_str_eq(text_things(text, 0, "wait"), "0 waits");
	ck_assert_str_eq(text_things(text, 1234, "wait"), "1,234 waits");
}
END_TEST

/* No holder of the one could be seen; the other's kind has none to be seen. */
START_TEST(holders_that_no_lock_knows_are_told_from_those_missed)
{
	static const struct {
		uint32_t family, mode;
		const char *lines;
	} cases[] = {
		{ FAMILY_mutex, MODE_EXCLUSIVE,
		        "0x401000\n                                             held by a holder "
		        "that "
		        "was just changing\n" },
		{ FAMILY_rwlock, MODE_SHARED,
		        "0x402000 (read)\n                                             held by a "
		        "holder that was just changing\n" },
		{ FAMILY_rwlock, MODE_EXCLUSIVE,
		        "0x403000 (write)\n                                             held by "
		        "readers (not known), or a holder just changing\n" },
		{ FAMILY_spinlock, MODE_EXCLUSIVE,
		        "0x404000\n                                                     the holder "
		        "of "
		        "this kind of lock is not known\n" },
	};
	synthetic_thread(&made, 11, "conn")->counters.mutex.acquired = 4;
	for (uint32_t i = 0; i < 4; i++) {
		synthetic_lock(&made, 0x1000 + i * 64, synthetic_wait(1, 100, 100))->family =
		        cases[i].family;
		synthetic_site(&made, 0x401000 + i * 0x1000, i, synthetic_wait(1, 100, 100))->mode =
		        cases[i].mode;
		synthetic_blame(&made, RECORD_HOLDER_UNKNOWN, i, 1, 100);
	}
	build();
	char *text = side_written(
	        &side, write_text, &(struct write_options){ .top = WRITE_DEFAULT_TOP });
	for (size_t i = 0; i < 4; i++)
		expect_in(text, cases[i].lines);
	expect_width(text);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("groups");
	TCase *tcase = tcase_create("known content");
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, locks_are_one_row_each);
	tcase_add_test(tcase, locks_at_one_address_are_told_apart);
	tcase_add_test(tcase, inlined_calls_are_told_apart);
	tcase_add_test(tcase, locks_of_one_creation_are_one_row);
	tcase_add_test(tcase, sites_types_and_threads_add_up);
	tcase_add_test(tcase, elements_of_an_array_are_one_kind);
	tcase_add_test(tcase, text_shows_rows_rest_and_total);
	tcase_add_test(tcase, json_has_every_row);
	tcase_add_test(tcase, text_tells_readers_and_holders);
	tcase_add_test(tcase, holders_that_no_lock_knows_are_told_from_those_missed);
	suite_add_tcase(suite, tcase);
	TCase *words = tcase_create("words");
	tcase_add_test(words, words_of_groupings_are_known);
	tcase_add_test(words, one_of_a_thing_is_said_of_one);
	suite_add_tcase(suite, words);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
