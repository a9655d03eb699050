/*
 * What an experiment says beside its verdict: CPU time for each operation, what it could show at
 * all, and when the wall time is not to be believed.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loader/ab/experiment.h"
#include "loader/ab/machine.h"
#include "loader/ab/outcome.h"
#include "loader/ab/resolution.h"
#include "loader/ab/stage.h"
#include "tests/fake_runs.h"

static char *directory, *said;

static void start(void)
{
	directory = fake_directory();
}

static void stop(void)
{
	fake_remove(directory);
	free(said);
}

/* What the runs of an experiment measure, besides the throughput of fake_run(). */
static struct {
	double cpu, cpu_noise; /* seconds, of 100 operations */
	double lost;           /* share; negative: not measured */
} figures;

static enum launch_end run_with_figures(struct launcher *launcher, const struct design *design,
        struct run *run, const char *run_directory)
{
	double part = (run->number * 37 % 101) / 101.0;
	ck_assert(run_add(run, "operations", 100, UNIT_COUNT, BETTER_UNKNOWN));
	ck_assert(run_add(run, "client.cpu", figures.cpu + figures.cpu_noise * part, UNIT_SECONDS,
	        BETTER_LESS));
	measure_per_operation(run);
	if (figures.lost >= 0)
		ck_assert(run_add(run, "machine.lost", figures.lost, UNIT_RATIO, BETTER_LESS));
	return fake_run(launcher, design, run, run_directory);
}

/* Conducts an experiment whose throughput varies so, and keeps what is said of it. */
static void conduct_with(double noise)
{
	char why[WHY_SIZE];
	size_t size;
	struct fake fake = fake_launcher();
	struct experiment experiment;
	struct design design = fake_design(2, 10);
	fake.launcher.run = run_with_figures;
	fake.noise = noise;
	fake_create(&experiment, directory, &design);
	ck_assert_int_eq(fake_conduct(&experiment, &fake), CONDUCT_COMPLETE);
	struct experiment_values *values = experiment_load(experiment.path, why);
	ck_assert_msg(values != NULL, "%s", why);
	FILE *out = open_memstream(&said, &size);
	outcome_write_text(out, values);
	fclose(out);
	json_t *object = json_object();
	outcome_add_json(object, values);
	const json_t *resolution = json_object_get(object, "resolution");
	ck_assert_int_eq(json_integer_value(json_object_get(resolution, "runs")), 10);
	ck_assert_double_gt(json_real_value(json_object_get(resolution, "found")),
	        json_real_value(json_object_get(resolution, "chance")));
	json_decref(object);
	experiment_values_free(values);
	journal_close(&experiment);
}

static void expect_said(const char *text, bool wanted)
{
	ck_assert_msg((strstr(said, text) != NULL) == wanted, "%s %s in: %s", text,
	        wanted ? "missing" : "found", said);
}

START_TEST(cpu_time_of_operations_is_said)
{
	figures.cpu = 5;
	figures.cpu_noise = 0.1;
	figures.lost = -1;
	conduct_with(1);
	expect_said("CPU seconds for each operation (client.cpu_per_operation", true);
	expect_said("\n  a        0.050", true);
	expect_said("What it could resolve in throughput, 10 runs", true);
	expect_said("not to be believed", false);
}
END_TEST

START_TEST(wall_time_that_varies_alone_is_warned_of)
{
	figures.cpu = 5;
	figures.cpu_noise = 0.1;
	figures.lost = -1;
	conduct_with(60);
	expect_said("note: throughput varies by", true);
	expect_said("client.cpu_per_operation by 0.", true);
	expect_said("the wall time is not to be believed", true);
}
END_TEST

START_TEST(what_varies_alike_is_not)
{
	figures.cpu = 5;
	figures.cpu_noise = 4;
	figures.lost = 0.01;
	conduct_with(60);
	expect_said("not to be believed", false);
}
END_TEST

START_TEST(lost_time_is_warned_of)
{
	figures.cpu = 5;
	figures.cpu_noise = 0.1;
	figures.lost = 0.125;
	conduct_with(1);
	expect_said("lost 12.5 % of their time without the kernel's knowing", true);
}
END_TEST

static double per_operation(struct run *run, const char *name)
{
	measure_per_operation(run);
	const struct run_metric *metric = run_metric(run, name);
	double value = metric != NULL ? metric->value : NAN;
	ck_assert(metric == NULL || metric->unit == UNIT_SECONDS);
	run_free(run);
	*run = (struct run){ .valid = true };
	return value;
}

START_TEST(operations_are_counted_or_reckoned)
{
	struct run run = { .valid = true };
	run_add(&run, "client.cpu", 8, UNIT_SECONDS, BETTER_LESS);
	ck_assert(isnan(per_operation(&run, "client.cpu_per_operation")));

	run_add(&run, "client.cpu", 8, UNIT_SECONDS, BETTER_LESS);
	run_add(&run, "client.wall", 4, UNIT_SECONDS, BETTER_LESS);
	run_add(&run, "throughput", 10, UNIT_RATE, BETTER_MORE);
	ck_assert_double_eq_tol(per_operation(&run, "client.cpu_per_operation"), 0.2, 1e-12);

	run_add(&run, "client.cpu", 8, UNIT_SECONDS, BETTER_LESS);
	run_add(&run, "client.wall", 4, UNIT_SECONDS, BETTER_LESS);
	run_add(&run, "runtime", 2, UNIT_SECONDS, BETTER_LESS);
	run_add(&run, "throughput", 10, UNIT_RATE, BETTER_MORE);
	ck_assert_double_eq_tol(per_operation(&run, "client.cpu_per_operation"), 0.4, 1e-12);

	run_add(&run, "client.cpu", 8, UNIT_SECONDS, BETTER_LESS);
	run_add(&run, "client.wall", 4, UNIT_SECONDS, BETTER_LESS);
	run_add(&run, "server.cpu", 3, UNIT_SECONDS, BETTER_LESS);
	run_add(&run, "throughput", 10, UNIT_RATE, BETTER_MORE);
	run_add(&run, "operations", 300, UNIT_COUNT, BETTER_UNKNOWN);
	ck_assert_double_eq_tol(per_operation(&run, "server.cpu_per_operation"), 0.01, 1e-12);
}
END_TEST

START_TEST(rates_of_no_unit_and_of_nothing_are_left_alone)
{
	struct run run = { .valid = true };
	run_add(&run, "client.cpu", 8, UNIT_SECONDS, BETTER_LESS);
	run_add(&run, "client.wall", 4, UNIT_SECONDS, BETTER_LESS);
	run_add(&run, "throughput", 10, UNIT_NONE, BETTER_MORE);
	ck_assert(isnan(per_operation(&run, "client.cpu_per_operation")));
	run_add(&run, "client.cpu", 8, UNIT_SECONDS, BETTER_LESS);
	run_add(&run, "operations", 0, UNIT_COUNT, BETTER_UNKNOWN);
	ck_assert(isnan(per_operation(&run, "client.cpu_per_operation")));
}
END_TEST

static struct metric_values two_arms(struct arm_values arms[2], double stddev, size_t n)
{
	for (size_t i = 0; i < 2; i++)
		arms[i] = (struct arm_values){ .n = n + i,
			.summary = {
			        .n = n + i, .mean = -100 * (1 + (double)i), .stddev = stddev } };
	return (struct metric_values){ .name = "x", .arms = arms, .arm_count = 2 };
}

/* Half of a mean of 100: t of 18 degrees of freedom is 2.1009, and 0.8621 for a power of 80 %. */
START_TEST(the_resolution_is_that_of_equal_arms)
{
	struct arm_values arms[2];
	struct resolution resolution;
	struct metric_values metric = two_arms(arms, 5, 10);
	ck_assert(resolution_of(&metric, &resolution));
	ck_assert_uint_eq(resolution.n, 10);
	ck_assert_double_eq_tol(resolution.spread, 0.05, 1e-12);
	ck_assert_double_eq_tol(resolution.chance, 0.05 * 2.1009 * sqrt(0.2), 1e-5);
	ck_assert_double_eq_tol(resolution.found, 0.05 * (2.1009 + 0.8621) * sqrt(0.2), 1e-4);
	metric = two_arms(arms, NAN, 1);
	ck_assert(!resolution_of(&metric, &resolution));
	metric = two_arms(arms, 5, 10);
	arms[0].summary.mean = 0;
	ck_assert(!resolution_of(&metric, &resolution));
}
END_TEST

START_TEST(the_least_effect_needs_as_many_runs)
{
	for (size_t n = 3; n < 100; n++) {
		double effect = stats_least_effect(n, 7, 0.95, 0.8);
		ck_assert_uint_eq(stats_runs_needed(7, effect * 1.0001, 0.95, 0.8), n);
		ck_assert_uint_gt(stats_runs_needed(7, effect * 0.9999, 0.95, 0.8), n);
	}
}
END_TEST

START_TEST(a_moment_is_taken_after_long_runs_alone)
{
	struct run run = { .valid = true };
	machine_measure_lost(&run, 0.1);
	ck_assert_ptr_null(run_metric(&run, "machine.lost"));
	machine_measure_lost(&run, 1);
	const struct run_metric *lost = run_metric(&run, "machine.lost");
	ck_assert(lost != NULL && lost->value >= 0 && lost->value <= 1);
	run_free(&run);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("what is said beside the verdict");
	TCase *tcase = tcase_create("notes");
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, cpu_time_of_operations_is_said);
	tcase_add_test(tcase, wall_time_that_varies_alone_is_warned_of);
	tcase_add_test(tcase, what_varies_alike_is_not);
	tcase_add_test(tcase, lost_time_is_warned_of);
	tcase_add_test(tcase, operations_are_counted_or_reckoned);
	tcase_add_test(tcase, rates_of_no_unit_and_of_nothing_are_left_alone);
	tcase_add_test(tcase, the_resolution_is_that_of_equal_arms);
	tcase_add_test(tcase, the_least_effect_needs_as_many_runs);
	tcase_add_test(tcase, a_moment_is_taken_after_long_runs_alone);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
