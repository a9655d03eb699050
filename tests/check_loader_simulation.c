/*
 * Thousands of experiments whose truth is known: how often each test claims a difference where
 * there is none, and how often each interval holds the true one.
 */
#include <check.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "loader/verdict/evaluate.h"

#define RUNS     10
#define METRICS  5
#define SPREAD   0.05 /* of the mean, as servers on small machines have it */
#define MOST     2000 /* values of the sequential rule */
#define AT_LEAST 10

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* Sanitizers look for other faults, and emulators are slow: a few experiments, of whose shares
 * nothing can be demanded. */
static bool few;
static unsigned experiments;

static gsl_rng *generator;

static void set_up(void)
{
	const char *emulator = getenv("EMULATOR");
	few = SANITIZED || (emulator != NULL && *emulator != '\0');
	experiments = few ? 100 : 2000;
	generator = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(generator, 20);
}

static void clean_up(void)
{
	gsl_rng_free(generator);
}

static void measure(double *values, size_t n, double mean)
{
	for (size_t i = 0; i < n; i++)
		values[i] = mean * (1 + gsl_ran_gaussian(generator, SPREAD));
}

/* ABBA: places in the experiment and blocks. */
static void order(unsigned positions[2][RUNS], unsigned blocks[RUNS])
{
	for (unsigned i = 0; i < RUNS; i++) {
		blocks[i] = i;
		positions[0][i] = 2 * i + i % 2;
		positions[1][i] = 2 * i + 1 - i % 2;
	}
}

struct tally {
	unsigned welch, student, bootstrap, paired, ranks, spread, drift, family;
	unsigned welch_covers, relative_covers, bootstrap_covers, bootstrap_relative, paired_covers;
};

static bool covers(double low, double high, double truth)
{
	return low <= truth && truth <= high;
}

static void count(struct tally *tally, const struct evaluation *evaluation, double effect)
{
	const struct evaluation_metric *metric = &evaluation->metrics[0];
	const struct comparison *comparison = &metric->comparisons[0];
	double truth = 100 * effect;
	bool family = false;
	tally->welch += comparison->welch.p < 0.05;
	tally->student += comparison->student.proven;
	tally->bootstrap += !covers(comparison->bootstrap.low, comparison->bootstrap.high, 0);
	tally->paired += comparison->paired.p < 0.05;
	tally->ranks += comparison->p_ranks < 0.05;
	tally->spread += comparison->p_spread <= 0.05;
	tally->drift += metric->p_drift <= 0.05;
	for (size_t i = 0; i < evaluation->metric_count; i++)
		family |= evaluation->metrics[i].comparisons[0].kind == VERDICT_DIFFERENT;
	tally->family += family;
	tally->welch_covers += covers(comparison->welch.low, comparison->welch.high, truth);
	tally->relative_covers +=
	        covers(comparison->welch.relative_low, comparison->welch.relative_high, effect);
	tally->bootstrap_covers +=
	        covers(comparison->bootstrap.low, comparison->bootstrap.high, truth);
	tally->bootstrap_relative += covers(
	        comparison->bootstrap.relative_low, comparison->bootstrap.relative_high, effect);
	tally->paired_covers += covers(comparison->paired.low, comparison->paired.high, truth);
}

/* Experiments of two arms, whose first metric differs by effect. */
static struct tally simulate(double effect, size_t metric_count)
{
	struct tally tally = { 0 };
	unsigned positions[2][RUNS], blocks[RUNS];
	double values[METRICS][2][RUNS];
	order(positions, blocks);
	for (unsigned round = 0; round < experiments; round++) {
		struct metric_values metrics[METRICS];
		struct arm_values arms[METRICS][2];
		struct evaluate_options options = {
			.level = 0.95, .seed = round + 1, .resamples = 999, .permutations = 399
		};
		for (size_t m = 0; m < metric_count; m++) {
			for (int arm = 0; arm < 2; arm++) {
				double *own = values[m][arm];
				measure(own, RUNS, m == 0 && arm == 1 ? 100 * (1 + effect) : 100);
				arms[m][arm] = (struct arm_values){ arm == 0 ? "a" : "b", own,
					blocks, positions[arm], RUNS,
					stats_describe((struct stats_values){ own, RUNS }) };
			}
			metrics[m] = (struct metric_values){ "metric", UNIT_RATE, BETTER_MORE,
				arms[m], 2 };
		}
		struct evaluation *evaluation = evaluate(metrics, metric_count, &options);
		ck_assert_ptr_nonnull(evaluation);
		count(&tally, evaluation, effect);
		evaluation_free(evaluation);
	}
	return tally;
}

static void between(const char *what, unsigned counted, double low, double high)
{
	double share = 100.0 * counted / experiments;
	printf("%s: %.2f %% of %u\n", what, share, experiments);
	if (!few)
		ck_assert_msg(share >= low && share <= high, "%s: %.2f %%", what, share);
}

START_TEST(arms_that_are_the_same)
{
	struct tally tally = simulate(0, 1);
	between("Welch", tally.welch, 3.5, 6.5);
	between("Student", tally.student, 3.5, 6.5);
	between("bootstrap", tally.bootstrap, 3.5, 6.5);
	between("within blocks", tally.paired, 3.5, 6.5);
	between("Mann-Whitney", tally.ranks, 3.5, 6.5);
	between("spread", tally.spread, 3.5, 6.5);
	between("drift", tally.drift, 3.5, 6.5);
}
END_TEST

START_TEST(families_of_metrics)
{
	between("Holm's family", simulate(0, METRICS).family, 0, 6);
}
END_TEST

START_TEST(arms_that_differ)
{
	struct tally tally = simulate(0.04, 1);
	between("Welch covers", tally.welch_covers, 93.5, 96.5);
	between("Welch covers the relative", tally.relative_covers, 93.5, 96.5);
	between("bootstrap covers", tally.bootstrap_covers, 93.5, 96.5);
	between("bootstrap covers the relative", tally.bootstrap_relative, 93.5, 96.5);
	between("within blocks covers", tally.paired_covers, 93.5, 96.5);
}
END_TEST

/* Looks after every block; stops when the interval is narrow. */
static bool sequential_claims(double width)
{
	static double a[MOST], b[MOST];
	for (size_t n = 1; n <= MOST; n++) {
		measure(&a[n - 1], 1, 100);
		measure(&b[n - 1], 1, 100);
		if (n < AT_LEAST)
			continue;
		struct stats_summary sa = stats_describe((struct stats_values){ a, n });
		struct stats_summary sb = stats_describe((struct stats_values){ b, n });
		double half = stats_sequential_width(&sa, &sb, 0.95);
		if (half <= width || n == MOST)
			return fabs(sb.mean / sa.mean - 1) > half;
	}
	return false;
}

START_TEST(open_ended_experiments)
{
	static const double widths[] = { 0.015, 0.02, 0.03 };
	unsigned claimed = 0;
	for (unsigned round = 0; round < experiments; round++)
		claimed += sequential_claims(widths[_i]);
	between("sequential rule", claimed, 0, 6);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("simulated experiments");
	TCase *tcase = tcase_create("simulated experiments");
	tcase_set_timeout(tcase, 300);
	tcase_add_checked_fixture(tcase, set_up, clean_up);
	tcase_add_test(tcase, arms_that_are_the_same);
	tcase_add_test(tcase, families_of_metrics);
	tcase_add_test(tcase, arms_that_differ);
	tcase_add_loop_test(tcase, open_ended_experiments, 0, 3);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
