/*
 * Arms from options: what they come to, which are refused, and that their environments are equally
 * large.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "loader/ab/arms.h"
#include "loader/ab/run_environment.h"
#include "loader/ab/numbers.h"

static struct arms arms;
static struct environment base;
static char why[WHY_SIZE];

static void start(void)
{
	char *const from[] = { "PATH=/bin:/usr/bin", "LONG=aaaaaaaaaaaaaaaaaaaaaaaa",
		"JAVA_TOOL_OPTIONS=-Xmx1g", NULL };
	arms = (struct arms){ NULL, 0 };
	ck_assert(environment_copy(&base, from));
}

static void stop(void)
{
	arms_free(&arms);
	environment_free(&base);
}

static void add(const char *name, const char *setting)
{
	ck_assert_msg(arms_add(&arms, name, setting, why), "%s", why);
}

static void expect_refused(const char *reason)
{
	ck_assert(!arms_complete(&arms, &base, why));
	ck_assert_msg(strstr(why, reason) != NULL, "%s", why);
}

START_TEST(values_may_hold_anything)
{
	add("a", "LIST=a,b c=d:e");
	ck_assert(arms_add_named(&arms, "third-1:OTHER=x:y=z", why));
	add("b", "mutex=yield:30");
	ck_assert(arms_complete(&arms, &base, why));
	ck_assert_uint_eq(arms.count, 3);
	ck_assert_str_eq(arms.items[0].settings.items[0], "LIST=a,b c=d:e");
	ck_assert_str_eq(arms.items[1].name, "b");
	ck_assert_str_eq(arms.items[2].name, "third-1");
	ck_assert_str_eq(arms.items[2].settings.items[0], "OTHER=x:y=z");
}
END_TEST

START_TEST(malformed_ones_are_refused)
{
	static const struct {
		const char *text, *reason;
	} wrong[] = {
		{ "mutex=yield", "NAME:KEY=VALUE" },
		{ ":mutex=yield", "name of an arm" },
		{ "with blank:mutex=yield", "name of an arm" },
		{ "x:mutex=nothing", "unknown strategy" },
		{ "x:colour=red", "unknown key" },
		{ "x:mutex", "KEY=VALUE" },
		{ "x:dir=/tmp", "its own directory" },
		{ "x:ABSHIM_DIR=/tmp", "its own directory" },
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		ck_assert_msg(!arms_add_named(&arms, wrong[i].text, why), "%s", wrong[i].text);
		ck_assert_msg(strstr(why, wrong[i].reason) != NULL, "%s: %s", wrong[i].text, why);
	}
	ck_assert_uint_eq(arms.count, 0);
}
END_TEST

START_TEST(an_arm_that_changes_nothing_is_refused)
{
	static const char *const same[][2] = {
		{ "mutex=glibc", "stats=on" },       /* both are the defaults */
		{ "mutex=yield", "mutex=yield:30" }, /* 30 is yield's own number */
		{ "PATH=/bin:/usr/bin", "UNSET-=" }, /* neither changes the environment */
		{ "JAVA_TOOL_OPTIONS+=-XX", "JAVA_TOOL_OPTIONS=-Xmx1g -XX" },
		{ "ABSHIM_MUTEX=park", "mutex=park" },
	};
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		add("a", same[i][0]);
		add("b", same[i][1]);
		expect_refused("arm b changes nothing against arm a");
		arms_free(&arms);
	}
	add("a", "mutex=park");
	add("x", "mutex=spin");
	add("y", "mutex=park");
	expect_refused("arm y changes nothing against arm a");
}
END_TEST

START_TEST(arms_that_are_left_out)
{
	/* b alone is compared with nothing set; a alone with itself; nothing at all, too. */
	add("b", "mutex=park");
	ck_assert(arms_complete(&arms, &base, why));
	ck_assert_uint_eq(arms.count, 2);
	ck_assert_str_eq(arms.items[0].name, "a");
	ck_assert_uint_eq(arms.items[0].settings.count, 0);
	ck_assert(!arms_are_same(&arms));
	arms_free(&arms);
	add("a", "mutex=park");
	ck_assert(arms_complete(&arms, &base, why));
	ck_assert_uint_eq(arms.count, 2);
	ck_assert(arms_are_same(&arms));
	arms_free(&arms);
	ck_assert(arms_complete(&arms, &base, why));
	ck_assert_uint_eq(arms.count, 2);
	ck_assert(arms_are_same(&arms));
	arms_free(&arms);
	add("x", "mutex=park");
	expect_refused("is the only arm");
}
END_TEST

static struct environment target(struct design *design, unsigned arm, unsigned number)
{
	const struct run_places places = { .base = &base,
		.library = "/lib/libabshim.so",
		.sanitizer = "",
		.records = "/dev/shm/records",
		.directory = "/tmp/x/runs/00001" };
	const struct run run = { .arm = arm, .number = number };
	struct environment environment;
	ck_assert(run_environment_target(&environment, design, &run, &places));
	return environment;
}

START_TEST(environments_are_equally_large)
{
	struct design design = DESIGN_DEFAULTS;
	add("a", "mutex=yield:30");
	add("a", "NEW=something rather long that the other arms have not");
	add("much-longer-name", "LONG-=");
	add("c", "LONG+=");
	add("c", "LD_PRELOAD=/lib/other.so");
	ck_assert(arms_complete(&arms, &base, why));
	design.arms = arms;
	struct environment first = target(&design, 0, 1);
	ck_assert_str_eq(environment_get(&first, "ABSHIM_MUTEX"), "yield:30");
	ck_assert_str_eq(environment_get(&first, "AB_ARM"), "a");
	ck_assert_str_eq(environment_get(&first, "LC_ALL"), "C");
	ck_assert_str_eq(environment_get(&first, "LD_PRELOAD"), "/lib/libabshim.so");
	for (unsigned i = 1; i < arms.count; i++) {
		struct environment other = target(&design, i, 99999);
		ck_assert_uint_eq(other.count, first.count);
		ck_assert_uint_eq(run_environment_size(&other), run_environment_size(&first));
		environment_free(&other);
	}
	struct environment last = target(&design, 2, 3);
	ck_assert_str_eq(environment_get(&last, "LD_PRELOAD"), "/lib/libabshim.so:/lib/other.so");
	environment_free(&last);
	environment_free(&first);
}
END_TEST

START_TEST(numbers_of_options_are_read_strictly)
{
	static const char *const no_percents[] = { "1", "%", "0%", "-1%", "100%", "1 %", "1%%",
		"nan%", "1e1%", "" };
	static const char *const no_seconds[] = { "0", "-1", "1s", "", ".", "inf", "1e3" };
	unsigned long number;
	double value;
	ck_assert(number_read("12", 1, 12, &number) && number == 12);
	ck_assert(!number_read("13", 1, 12, &number));
	ck_assert(!number_read("0", 1, 12, &number));
	ck_assert(!number_read("+5", 1, 12, &number));
	ck_assert(!number_read("99999999999999999999", 0, ~0ul, &number));
	ck_assert(number_read_percent("0.5%", &value));
	ck_assert_double_eq_tol(value, 0.005, 1e-12);
	ck_assert(number_read_seconds("0.25", &value) && value == 0.25);
	for (size_t i = 0; i < sizeof(no_percents) / sizeof(*no_percents); i++)
		ck_assert_msg(!number_read_percent(no_percents[i], &value), "%s", no_percents[i]);
	for (size_t i = 0; i < sizeof(no_seconds) / sizeof(*no_seconds); i++)
		ck_assert_msg(!number_read_seconds(no_seconds[i], &value), "%s", no_seconds[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("arms");
	TCase *tcase = tcase_create("arms");
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, values_may_hold_anything);
	tcase_add_test(tcase, malformed_ones_are_refused);
	tcase_add_test(tcase, an_arm_that_changes_nothing_is_refused);
	tcase_add_test(tcase, arms_that_are_left_out);
	tcase_add_test(tcase, environments_are_equally_large);
	tcase_add_test(tcase, numbers_of_options_are_read_strictly);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
