/*
 * Directories of experiments whose files hold something else: refused with a reason, or read, but
 * never a crash.
 */
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "loader/ab/experiment.h"
#include "tests/fake_runs.h"

static char *directory;
static char design_path[256], runs_path[256], experiment_path[256];
static json_t *design_file; /* as it should be */
static json_t *run_lines;   /* an array */

static json_t *read_lines(const char *path)
{
	char line[4096];
	json_t *lines = json_array();
	FILE *in = fopen(path, "re");
	ck_assert_ptr_nonnull(in);
	while (fgets(line, sizeof(line), in) != NULL)
		json_array_append_new(lines, json_loads(line, 0, NULL));
	fclose(in);
	return lines;
}

static void start(void)
{
	struct experiment experiment;
	struct fake fake = fake_launcher();
	struct design design = fake_design(2, 3);
	directory = fake_directory();
	fake_create(&experiment, directory, &design);
	ck_assert_int_eq(fake_conduct(&experiment, &fake), CONDUCT_COMPLETE);
	journal_close(&experiment);
	snprintf(experiment_path, sizeof(experiment_path), "%s/x", directory);
	snprintf(design_path, sizeof(design_path), "%s/x/experiment.json", directory);
	snprintf(runs_path, sizeof(runs_path), "%s/x/runs.jsonl", directory);
	design_file = json_load_file(design_path, 0, NULL);
	run_lines = read_lines(runs_path);
	ck_assert_uint_eq(json_array_size(run_lines), 8);
}

static void stop(void)
{
	json_decref(design_file);
	json_decref(run_lines);
	fake_remove(directory);
}

static void write_files(void)
{
	size_t i;
	json_t *line;
	ck_assert_int_eq(json_dump_file(design_file, design_path, 0), 0);
	FILE *out = fopen(runs_path, "we");
	json_array_foreach(run_lines, i, line)
	{
		json_dumpf(line, out, JSON_COMPACT | JSON_ENCODE_ANY);
		fputc('\n', out);
	}
	ck_assert_int_eq(fclose(out), 0);
}

/* Reads the directory, and evaluates what could be read. Returns whether it could. */
static bool try_load(void)
{
	char why[WHY_SIZE] = "";
	struct evaluate_options options = EVALUATE_DEFAULTS;
	options.resamples = options.permutations = 50;
	write_files();
	struct experiment_values *values = experiment_load(experiment_path, why);
	ck_assert_msg(values != NULL || why[0] != '\0', "refused without a reason");
	if (values == NULL)
		return false;
	evaluation_free(evaluate(values->metrics, values->chosen, &options));
	experiment_values_free(values);
	return true;
}

static const char *const others[] = { "null", "-1", "\"x\"", "[]", "{}", "1e308", "true" };

static void spoil(json_t *object);

/* Puts other values in the place of a member, and takes it away; then goes down into it. */
static void spoil_member(json_t *object, const char *name)
{
	json_t *member = json_incref(json_object_get(object, name));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		json_object_set_new(object, name, json_loads(others[i], JSON_DECODE_ANY, NULL));
		try_load();
	}
	json_object_del(object, name);
	try_load();
	json_object_set(object, name, member);
	for (size_t i = 0; i < json_array_size(member); i++)
		spoil(json_array_get(member, i));
	spoil(member);
	json_decref(member);
}

/* Does so with each member of an object. */
static void spoil(json_t *object)
{
	struct texts names = { NULL, 0 };
	const char *name;
	json_t *member;
	json_object_foreach(object, name, member)
	{
		ck_assert(texts_add(&names, name));
	}
	for (size_t i = 0; i < names.count; i++)
		spoil_member(object, names.items[i]);
	texts_free(&names);
}

START_TEST(a_spoilt_design)
{
	ck_assert(try_load());
	spoil(json_object_get(design_file, "design"));
	ck_assert(try_load());
}
END_TEST

START_TEST(a_spoilt_line)
{
	spoil(json_array_get(run_lines, 4));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		json_array_set_new(run_lines, 3, json_loads(others[i], JSON_DECODE_ANY, NULL));
		ck_assert(!try_load());
	}
}
END_TEST

START_TEST(lines_that_do_not_follow_each_other)
{
	json_array_remove(run_lines, 2);
	ck_assert(!try_load());
}
END_TEST

START_TEST(a_later_version)
{
	json_object_set_new(design_file, "version", json_integer(2));
	ck_assert(!try_load());
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hostile experiments");
	TCase *tcase = tcase_create("files");
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, a_spoilt_design);
	tcase_add_test(tcase, a_spoilt_line);
	tcase_add_test(tcase, lines_that_do_not_follow_each_other);
	tcase_add_test(tcase, a_later_version);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
