/*
 * Statistics against figures that were computed by other means: by hand, by published examples, and
 * by long simulations of experiments whose truth is known.
 */
#include <check.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "loader/stats/stats.h"

#define N(array)       (sizeof(array) / sizeof(*(array)))
#define SAMPLE(array)  ((struct stats_values){ array, N(array) })
#define SUMMARY(array) stats_describe(SAMPLE(array))

static void close_to(double found, double wanted, double relative)
{
	ck_assert_msg(
	        fabs(found - wanted) <= relative * fabs(wanted), "%.12g, not %.12g", found, wanted);
}

START_TEST(far_from_zero_nothing_is_lost)
{
	const double values[] = { 1e9 + .1, 1e9 + .2, 1e9 + .3 };
	struct stats_summary summary = SUMMARY(values);
	close_to(summary.stddev, 0.1, 1e-6);
	close_to(summary.mean, 1e9 + .2, 1e-15);
	const double even[] = { 10.4, 10.1, 10.3, 10.2 };
	summary = SUMMARY(even);
	close_to(summary.median, 10.25, 1e-14);
	close_to(summary.median_upper, 10.3, 1e-14);
	close_to(summary.stddev, 0.12909944487358, 1e-10);
}
END_TEST

START_TEST(too_few_values_are_unknown)
{
	const double one[] = { 5 }, two[] = { 4, 6 };
	struct stats_summary a = SUMMARY(one), b = SUMMARY(two);
	ck_assert(isnan(a.stddev));
	struct stats_difference welch = stats_welch(&a, &b, 0.95);
	ck_assert(isnan(welch.p) && isnan(welch.low) && isnan(welch.relative_high));
	close_to(b.mean - a.mean + 1, 1 + welch.difference, 1e-14);
	ck_assert(!stats_student(&a, &b, 0.95, STATS_CLASSIC).proven);
	ck_assert(isnan(stats_tost(&a, &b, 0.01)));
	ck_assert(isnan(stats_bootstrap(SAMPLE(one), SAMPLE(two), 0.95, 100, 1).low));
	ck_assert(isnan(stats_brown_forsythe(SAMPLE(one), SAMPLE(two), 99, 1)));
	ck_assert(isnan(stats_describe((struct stats_values){ NULL, 0 }).mean));
}
END_TEST

START_TEST(no_spread_is_no_division_by_zero)
{
	const double a[] = { 5, 5, 5, 5 }, b[] = { 5, 5, 5 };
	struct stats_summary sa = SUMMARY(a), sb = SUMMARY(b);
	struct stats_student student = stats_student(&sa, &sb, 0.95, STATS_CLASSIC);
	ck_assert(!student.proven && student.error == 0);
	struct stats_difference welch = stats_welch(&sa, &sb, 0.95);
	ck_assert(welch.low == 0 && welch.high == 0 && isnan(welch.p));
	ck_assert(stats_mann_whitney(SAMPLE(a), SAMPLE(b)) == 1);
}
END_TEST

/* Published: MySQL with and without yield loops, 30 runs an arm. */
START_TEST(summaries_are_enough_for_student)
{
	struct stats_summary a = { .n = 30, .mean = 45910.616, .stddev = 745.54679 };
	struct stats_summary b = { .n = 30, .mean = 66254.815, .stddev = 1953.4324 };
	struct stats_student student = stats_student(&a, &b, 0.95, STATS_CLASSIC);
	close_to(student.difference, 20344.2, 1e-6);
	close_to(student.error, 764.241, 1e-6);
	close_to(student.relative * 100, 44.3126, 1e-6);
	close_to(student.relative_error * 100, 1.66463, 1e-5);
	close_to(student.pooled, 1478.47, 1e-5);
	ck_assert(student.proven);
	/* The newer convention is wider: the faster arm's mean scales the reference's variance. */
	double newer = stats_student(&a, &b, 0.95, STATS_FREEBSD).relative_error;
	ck_assert(newer > student.relative_error && newer < 2 * student.relative_error);
}
END_TEST

/* Welch's example by hand: variances of the means 1/12 * 5/3 each, nu = 6. */
START_TEST(welch_by_hand)
{
	const double a[] = { 1, 2, 3, 4 }, b[] = { 3, 4, 5, 6 };
	struct stats_summary sa = SUMMARY(a), sb = SUMMARY(b);
	struct stats_difference welch = stats_welch(&sa, &sb, 0.95);
	double error = sqrt(2 * (5.0 / 3) / 4);
	close_to(welch.df, 6, 1e-12);
	close_to(welch.high - welch.low, 2 * error * gsl_cdf_tdist_Pinv(0.975, 6), 1e-12);
	close_to(welch.p, 2 * gsl_cdf_tdist_Q(2 / error, 6), 1e-12);
	close_to(welch.relative, 0.8, 1e-12);
}
END_TEST

/* Exact: of 20 orders of 3 and 3 values 2 are as extreme as complete separation. */
START_TEST(mann_whitney_by_counting)
{
	const double a[] = { 1, 2, 3 }, b[] = { 4, 5, 6 }, c[] = { 1.5, 2.5, 3.5 };
	close_to(stats_mann_whitney(SAMPLE(a), SAMPLE(b)), 0.1, 1e-12);
	close_to(stats_mann_whitney(SAMPLE(b), SAMPLE(a)), 0.1, 1e-12);
	close_to(stats_mann_whitney(SAMPLE(a), SAMPLE(c)), 0.7, 1e-12);
}
END_TEST

/* Exact with ties: counted over all choices of the values that are there. */
START_TEST(mann_whitney_with_ties_by_counting)
{
	const double tied[] = { 1, 1, 1, 2, 2 }, others[] = { 2, 2, 3, 3, 3 };
	close_to(stats_mann_whitney(SAMPLE(tied), SAMPLE(others)), 12 / 252.0, 1e-12);
	close_to(stats_mann_whitney(SAMPLE(others), SAMPLE(tied)), 12 / 252.0, 1e-12);
	const double threes[] = { 3, 3, 3 }, fours[] = { 4, 4, 4 };
	close_to(stats_mann_whitney(SAMPLE(threes), SAMPLE(fours)), 0.1, 1e-12);
	const double few[] = { 1, 1, 2 }, uneven[] = { 1, 1, 5, 7 };
	close_to(stats_mann_whitney(SAMPLE(few), SAMPLE(uneven)), 19 / 35.0, 1e-12);
	double higher[20], lower[21];
	for (size_t i = 0; i < N(lower); i++)
		higher[i % N(higher)] = (double)(i % 5 + 2), lower[i] = (double)(i % 7);
	struct stats_values twenty = SAMPLE(higher), below = { lower, 20 };
	ck_assert(stats_mann_whitney(twenty, twenty) == 1);
	/* On either side of what is counted, the two ways are close to each other. */
	double counted = stats_mann_whitney(twenty, below);
	below.n = 21;
	double approximate = stats_mann_whitney(twenty, below);
	ck_assert_msg(fabs(log(counted / approximate)) < 1, "%g, %g", counted, approximate);
}
END_TEST

START_TEST(holm_steps_down)
{
	const double p[] = { 0.01, 0.04, 0.03, NAN, 0.005 };
	double adjusted[N(p)];
	stats_holm(p, N(p), adjusted);
	close_to(adjusted[4], 0.02, 1e-12);
	close_to(adjusted[0], 0.03, 1e-12);
	close_to(adjusted[2], 0.06, 1e-12);
	close_to(adjusted[1], 0.06, 1e-12); /* never below the one before */
	ck_assert(isnan(adjusted[3]));
}
END_TEST

START_TEST(outliers_by_modified_z)
{
	const double values[] = { 10, 11, 10.5, 9.5, 10.2, 30 };
	bool outlier[N(values)];
	ck_assert_uint_eq(stats_outliers(SAMPLE(values), outlier), 1);
	ck_assert(outlier[5] && !outlier[0]);
	const double equal[] = { 1, 1, 1, 1, 9 };
	ck_assert_uint_eq(stats_outliers(SAMPLE(equal), outlier), 0);
}
END_TEST

/* 17 runs an arm find a difference of one standard deviation with 80 %: Cohen 1988, table 2.4.1. */
START_TEST(runs_needed_as_in_cohens_table)
{
	ck_assert_uint_eq(stats_runs_needed(1, 1, 0.95, 0.8), 17);
	ck_assert_uint_eq(stats_runs_needed(2, 1, 0.95, 0.8), 64);
	ck_assert_uint_eq(stats_runs_needed(1, 0, 0.95, 0.8), 0);
	ck_assert_uint_eq(stats_runs_needed(0, 1, 0.95, 0.8), 2);
	ck_assert_uint_eq(stats_runs_needed(1, 2e-4, 0.95, 0.8) / 100000, 3924);
	ck_assert_uint_eq(stats_runs_needed(1, 1e-9, 0.95, 0.8), 0); /* more than is counted */
}
END_TEST

START_TEST(same_seed_same_result)
{
	const double a[] = { 1, 5, 3, 9, 4 }, b[] = { 2, 8, 7, 9, 6 };
	struct stats_difference one = stats_bootstrap(SAMPLE(a), SAMPLE(b), 0.95, 500, 7);
	struct stats_difference two = stats_bootstrap(SAMPLE(a), SAMPLE(b), 0.95, 500, 7);
	struct stats_difference other = stats_bootstrap(SAMPLE(a), SAMPLE(b), 0.95, 500, 8);
	ck_assert(one.low == two.low && one.relative_high == two.relative_high);
	ck_assert(one.low != other.low || one.high != other.high);
	close_to(stats_brown_forsythe(SAMPLE(a), SAMPLE(b), 99, 7),
	        stats_brown_forsythe(SAMPLE(a), SAMPLE(b), 99, 7), 1e-15);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("statistics");
	TCase *tcase = tcase_create("statistics");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, far_from_zero_nothing_is_lost);
	tcase_add_test(tcase, too_few_values_are_unknown);
	tcase_add_test(tcase, no_spread_is_no_division_by_zero);
	tcase_add_test(tcase, summaries_are_enough_for_student);
	tcase_add_test(tcase, welch_by_hand);
	tcase_add_test(tcase, mann_whitney_by_counting);
	tcase_add_test(tcase, mann_whitney_with_ties_by_counting);
	tcase_add_test(tcase, holm_steps_down);
	tcase_add_test(tcase, outliers_by_modified_z);
	tcase_add_test(tcase, runs_needed_as_in_cohens_table);
	tcase_add_test(tcase, same_seed_same_result);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
