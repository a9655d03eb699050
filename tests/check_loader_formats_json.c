/*
 * What JSON says of stacks, holders, holds and creation.
 */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sampled.h"

/* What is at "a/0/b". */
static const json_t *member_at(const json_t *value, const char *path)
{
	char copy[128], *rest = copy, *step;
	snprintf(copy, sizeof(copy), "%s", path);
	while ((step = strsep(&rest, "/")) != NULL)
		value = json_is_array(value) ? json_array_get(value, (size_t)atoi(step))
		                             : json_object_get(value, step);
	ck_assert_msg(value != NULL, "there is no %s", path);
	return value;
}

static long long number_at(const json_t *report, const char *path)
{
	const json_t *value = member_at(report, path);
	ck_assert_msg(json_is_integer(value), "%s is no integer", path);
	return json_integer_value(value);
}

static const char *string_at(const json_t *report, const char *path)
{
	const char *text = json_string_value(member_at(report, path));
	return text != NULL ? text : "";
}

static json_t *json_report(void)
{
	size_t size;
	char *text = written(write_json, &(struct write_options){ .top = 1 }, &size);
	json_t *report = json_loads(text, 0, NULL);
	ck_assert_msg(report != NULL, "no JSON: %s", text);
	free(text);
	return report;
}

START_TEST(json_has_stacks)
{
	add_waits();
	struct record_stack *stack = synthetic_entry(&made, REGION_STACKS, 1);
	stack->end = STACK_SIGNAL;
	made.header->stacks_due = 9;
	made.header->stacks_taken = 8;
	made.header->stacks_skipped = 1;
	made.header->stack_ns_total = 777;
	build();
	json_t *report = json_report();
	ck_assert_uint_eq(json_array_size(member_at(report, "stacks")), 4);
	ck_assert_int_eq(number_at(report, "stacks/0/id"), 1);
	ck_assert_int_eq(number_at(report, "stacks/0/wait_ns_total"), 2);
	ck_assert_str_eq(string_at(report, "stacks/0/end"), "signal");
	ck_assert_uint_eq(json_array_size(member_at(report, "stacks/0/frames")), 2);
	ck_assert_str_eq(string_at(report, "stacks/0/frames/1/address"), "0x412000");
	ck_assert(json_is_false(member_at(report, "stacks/0/frames/1/inlined")));
	ck_assert_uint_eq(json_array_size(member_at(report, "samples")), 3);
	ck_assert_int_eq(number_at(report, "samples/0/stack"), 1);
	ck_assert_int_eq(number_at(report, "samples/0/site"), 0);
	ck_assert_int_eq(number_at(report, "samples/0/waits"), 1);
	ck_assert_int_eq(number_at(report, "sampling/due"), 9);
	ck_assert_int_eq(number_at(report, "sampling/taken"), 8);
	ck_assert_int_eq(number_at(report, "sampling/skipped"), 1);
	ck_assert_int_eq(number_at(report, "sampling/cost_ns"), 777);
	ck_assert_int_eq(number_at(report, "blame/0/holder/stacks/0"), 2);
	ck_assert_int_eq(number_at(report, "blame/0/holder/stacks/1"), 3);
	ck_assert_uint_eq(json_array_size(member_at(report, "blame/0/holder/stacks")), 2);
	ck_assert(json_is_null(member_at(report, "blame/1/holder")));
	json_decref(report);
}
END_TEST

START_TEST(json_has_holds_and_creation)
{
	add_waits();
	struct record_lock *lock = synthetic_entry(&made, REGION_LOCKS, 1);
	lock->family = FAMILY_rwlock;
	lock->created_address = 0x403000;
	lock->read_hold = (struct hold_totals){ 7, 80, 20 };
	struct record_control *control = synthetic_entry(&made, REGION_CONTROL, 0);
	control->stats = STATS_HOLD;
	build();
	json_t *report = json_report();
	ck_assert_str_eq(string_at(report, "locks/0/type"), "rwlock");
	ck_assert(json_is_null(member_at(report, "locks/0/kind")));
	ck_assert_int_eq(number_at(report, "locks/0/process"), 0);
	ck_assert_str_eq(string_at(report, "locks/0/created/address"), "0x403000");
	ck_assert_int_eq(number_at(report, "locks/0/hold/acquired"), 60);
	ck_assert_int_eq(number_at(report, "locks/0/hold/hold_ns_total"), 5000);
	ck_assert_int_eq(number_at(report, "locks/0/read_hold/acquired"), 7);
	ck_assert_int_eq(number_at(report, "locks/0/read_hold/hold_ns_max"), 20);
	ck_assert_str_eq(string_at(report, "locks/1/kind"), "normal");
	ck_assert(json_is_null(member_at(report, "locks/1/created")));
	ck_assert(json_is_null(member_at(report, "locks/1/read_hold")));
	ck_assert_int_eq(number_at(report, "locks/1/hold/acquired"), 0);
	ck_assert_int_eq(number_at(report, "processes/0/pid"), 4711);
	ck_assert_str_eq(string_at(report, "processes/0/settings/mutex"), "yield:30");
	ck_assert_str_eq(string_at(report, "settings/stats"), "hold");
	ck_assert_str_eq(string_at(report, "settings/pause"), "default");
	ck_assert_int_eq(number_at(report, "threads/0/process"), 0);
	json_decref(report);
}
END_TEST

START_TEST(json_without_holds_has_none)
{
	add_waits();
	build();
	json_t *report = json_report();
	ck_assert(json_is_null(member_at(report, "locks/0/hold")));
	json_decref(report);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("JSON");
	TCase *tcase = tcase_create("known content");
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, json_has_stacks);
	tcase_add_test(tcase, json_has_holds_and_creation);
	tcase_add_test(tcase, json_without_holds_has_none);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
