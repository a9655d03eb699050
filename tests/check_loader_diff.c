/*
 * Two records of known content side by side.
 */
#include "loader/diff.h"
#include "tests/sides.h"

static struct side a, b;

static void stop(void)
{
	side_close(&a);
	side_close(&b);
}

static void add_site(struct synthetic *made, uint64_t address, uint64_t waits, uint64_t total)
{
	uint32_t lock = made->header->regions[REGION_LOCKS].used;
	synthetic_lock(made, address + 0x100000, synthetic_wait(waits, total, total))->first_site =
	        made->header->regions[REGION_SITES].used + 1;
	synthetic_site(made, address, lock, synthetic_wait(waits, total, total));
}

static void add_thread(
        struct synthetic *made, const char *name, uint64_t acquired, uint64_t waits, uint64_t total)
{
	synthetic_thread(made, made->header->regions[REGION_THREADS].used + 1, name)
	        ->counters.mutex = (struct mutex_counters){ .acquired = acquired,
		.contended = waits,
		.wait_ns_total = total,
		.wait_ns_max = total };
}

/* In B one site waits less, one more, one is gone and one is new; seconds is how long B ran. */
static void build(unsigned seconds)
{
	struct synthetic made_a = synthetic_new(), made_b = synthetic_new();
	made_a.header->end_ns = made_a.header->start_ns + 2000000000;
	made_b.header->end_ns = made_b.header->start_ns + seconds * UINT64_C(1000000000);
	add_site(&made_a, 0x401000, 10, 1000);
	add_site(&made_a, 0x402000, 4, 400);
	add_site(&made_a, 0x403000, 2, 50);
	add_thread(&made_a, "worker", 100, 14, 1400);
	add_thread(&made_a, "gone", 7, 2, 50);
	add_site(&made_b, 0x401000, 4, 200);
	add_site(&made_b, 0x402000, 8, 600);
	add_site(&made_b, 0x404000, 1, 90);
	add_thread(&made_b, "worker", 100, 12, 800);
	add_thread(&made_b, "new", 9, 1, 90);
	side_add(&a, &made_a);
	side_add(&b, &made_b);
	side_build(&a);
	side_build(&b);
}

static struct diff *compared(void)
{
	const struct write_side sides[2] = { { a.model, a.symbols }, { b.model, b.symbols } };
	struct diff *diff = diff_build(sides);
	ck_assert_ptr_nonnull(diff);
	return diff;
}

static void expect_change(
        const struct diff_table *table, size_t row, const char *key, double change)
{
	ck_assert_uint_lt(row, table->count);
	const struct diff_row *at = &table->rows[row];
	ck_assert_str_eq(at->a != NULL ? at->a->key : at->b->key, key);
	ck_assert_double_eq(at->change, change);
}

START_TEST(rows_are_matched_by_name)
{
	build(2);
	struct diff *diff = compared();
	ck_assert(!diff->rates);
	const struct diff_table *threads = &diff->tables[0], *sites = &diff->tables[1];
	ck_assert_uint_eq(threads->count, 3);
	expect_change(threads, 0, "worker", -600);
	expect_change(threads, 1, "new", 90);
	ck_assert_ptr_null(threads->rows[1].a);
	expect_change(threads, 2, "gone", -50);
	ck_assert_ptr_null(threads->rows[2].b);
	ck_assert_uint_eq(sites->count, 4);
	expect_change(sites, 0, "0x401000", -800);
	expect_change(sites, 1, "0x402000", 200);
	expect_change(sites, 2, "0x404000", 90);
	expect_change(sites, 3, "0x403000", -50);
	expect_change(&diff->tables[2], 0, "first in 0x401000", -800);
	diff_free(diff);
}
END_TEST

/* B ran twice as long: what counts is how much it waited in a second. */
START_TEST(other_durations_are_compared_by_the_second)
{
	build(4);
	struct diff *diff = compared();
	ck_assert(diff->rates);
	const struct diff_table *sites = &diff->tables[1];
	expect_change(sites, 0, "0x401000", 50 - 500);
	expect_change(sites, 1, "0x402000", 150 - 200);
	expect_change(sites, 2, "0x403000", -25);
	expect_change(sites, 3, "0x404000", 22.5);
	diff_free(diff);
	char *text = sides_written(&a, &b, write_diff_text, &(struct write_options){ .top = 10 });
	expect_in(text, "  A  server, pid 4711, exit(0), 2.00 s; mutexes wait by yield:30\n");
	expect_in(text, "  B  server, pid 4711, exit(0), 4.00 s; mutexes wait by yield:30\n");
	expect_in(text, "Totals, per second but for the longest\n");
	expect_in(text,
	        "  mutex wait_ns_total                       725 ns          223 ns         -503 "
	        "ns       -69.3 %\n");
	expect_in(text,
	        "  mutex wait_ns_max                        1.40 us          800 ns         -600 "
	        "ns       -42.9 %\n");
	expect_width(text);
	free(text);
}
END_TEST

START_TEST(text_shows_both_sides)
{
	build(2);
	char *text = sides_written(&a, &b, write_diff_text, &(struct write_options){ .top = 3 });
	expect_in(text, "107             109              +2        +1.9 %\n");
	expect_in(text, "  mutex contended                               16              13");
	expect_in(text, "              -3       -18.8 %\n");
	expect_in(text,
	        "   1.00 us     200 ns    -800 ns   -80.0 %         10          4  0x401000\n");
	expect_in(text,
	        "         -      90 ns     +90 ns    only B          -          1  0x404000\n");
	expect_in(text, "     50 ns          -     -50 ns    only A          2          -  gone\n");
	expect_in(text,
	        "Call sites, by change of the time waited in them (3 of 4; --top N shows more)");
	expect_not_in(text, "0x403000");
	expect_not_in(text, "spun");
	expect_width(text);
	free(text);
}
END_TEST

static const json_t *at(const json_t *report, const char *table, size_t row)
{
	const json_t *value = json_array_get(json_object_get(report, table), row);
	ck_assert_ptr_nonnull(value);
	return value;
}

START_TEST(json_has_exact_numbers_and_rates)
{
	build(4);
	json_t *report =
	        parsed(sides_written(&a, &b, write_diff_json, &(struct write_options){ .top = 1 }));
	ck_assert_int_eq(
	        json_integer_value(json_object_get(json_object_get(report, "b"), "duration_ns")),
	        4000000000);
	const json_t *total = at(report, "totals", 0);
	ck_assert_str_eq(json_string_value(json_object_get(total, "counter")), "acquired");
	ck_assert_int_eq(json_integer_value(json_object_get(total, "a")), 107);
	ck_assert_int_eq(json_integer_value(json_object_get(total, "b")), 109);
	ck_assert_int_eq(json_integer_value(json_object_get(total, "change")), 2);
	ck_assert_double_eq(
	        json_real_value(json_array_get(json_object_get(total, "per_second"), 1)), 27.25);
	ck_assert_uint_eq(json_array_size(json_object_get(report, "sites")), 4);
	const json_t *site = at(report, "sites", 0);
	ck_assert_str_eq(json_string_value(json_object_get(site, "key")), "0x401000");
	ck_assert_int_eq(json_integer_value(json_object_get(site, "change")), -800);
	ck_assert_double_eq(json_real_value(json_object_get(site, "relative")), -0.8);
	ck_assert_int_eq(
	        json_integer_value(json_object_get(json_object_get(site, "b"), "wait_ns_total")),
	        200);
	const json_t *new = at(report, "sites", 3);
	ck_assert(json_is_null(json_object_get(new, "a")));
	ck_assert(json_is_null(json_object_get(new, "relative")));
	json_decref(report);
}
END_TEST

START_TEST(a_record_does_not_differ_from_itself)
{
	build(2);
	const struct write_side sides[2] = { { a.model, a.symbols }, { a.model, a.symbols } };
	struct diff *diff = diff_build(sides);
	ck_assert_ptr_nonnull(diff);
	for (int i = 0; i < DIFF_TABLES; i++)
		for (size_t row = 0; row < diff->tables[i].count; row++)
			ck_assert_double_eq(diff->tables[i].rows[row].change, 0);
	ck_assert_uint_eq(diff->tables[1].count, 3);
	diff_free(diff);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("differences");
	TCase *tcase = tcase_create("known content");
	tcase_add_checked_fixture(tcase, NULL, stop);
	tcase_add_test(tcase, rows_are_matched_by_name);
	tcase_add_test(tcase, other_durations_are_compared_by_the_second);
	tcase_add_test(tcase, text_shows_both_sides);
	tcase_add_test(tcase, json_has_exact_numbers_and_rates);
	tcase_add_test(tcase, a_record_does_not_differ_from_itself);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
