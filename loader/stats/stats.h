/*
 * The statistics of experiments, on plain arrays: nothing here knows of arms, files or words.
 *
 * "a" is the reference, "b" what is compared with it; differences are b - a. Levels are confidences
 * such as 0.95; p values are two-sided. Where a figure does not exist (one value, no spread) it is
 * NAN, never 0 and never an error. Distributions are GSL's.
 */
#ifndef LOADER_STATS_STATS_H
#define LOADER_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct stats_values {
	const double *values;
	size_t n;
};

struct stats_summary {
	size_t n;
	double mean, stddev; /* of a sample: divided by n - 1; NAN for n < 2 */
	double min, max;
	double median;       /* the mean of the middle two for even n */
	double median_upper; /* the upper of the middle two, as ministat prints it */
};

/* Two passes, so that values far from 0 lose nothing. The values need not be sorted. */
struct stats_summary stats_describe(struct stats_values sample);

/* A difference of means with its interval, absolute and relative to a's mean. */
struct stats_difference {
	double difference, low, high;
	double relative, relative_low, relative_high; /* 0.05 is 5 %; NAN when a's mean is 0 */
	double p;
	double df; /* degrees of freedom, NAN where there are none */
};

/* Welch's t with Satterthwaite's degrees of freedom. The relative interval takes the reference's
 * own uncertainty in (the delta method). */
struct stats_difference stats_welch(
        const struct stats_summary *a, const struct stats_summary *b, double level);

/* What ministat prints: Student's t with a pooled standard deviation. */
struct stats_student {
	double difference, error; /* difference +- error */
	double relative, relative_error;
	double pooled;
	bool proven;
};

enum stats_convention {
	STATS_CLASSIC, /* the relative error is the error over a's mean */
	STATS_FREEBSD, /* newer: a's own variance is scaled by (b's mean / a's mean)^2 */
};

/*
 * As ministat computes it: t is taken to three decimals, as its table has it, and from the normal
 * distribution above 100 degrees of freedom.
 */
struct stats_student stats_student(const struct stats_summary *a, const struct stats_summary *b,
        double level, enum stats_convention convention);

/*
 * Bootstrap of the difference of means and of the ratio of means: BCa intervals (Efron 1987) whose
 * levels are expanded for small samples (Hesterberg 2015, section 4.3), seeded. p is NAN. This and
 * what is done by permutation is NAN when it may do none.
 */
struct stats_difference stats_bootstrap(struct stats_values a, struct stats_values b, double level,
        size_t resamples, unsigned long seed);

/* Mann and Whitney's U: exact up to 20 values a sample, given the ties there are, else the normal
 * approximation with corrections for ties and continuity. */
double stats_mann_whitney(struct stats_values a, struct stats_values b);

/* Whether the spread differs: Levene's test on deviations from the medians (Brown and Forsythe
 * 1974), by seeded permutation, since the F distribution is conservative for small samples. */
double stats_brown_forsythe(
        struct stats_values a, struct stats_values b, size_t permutations, unsigned long seed);

/* Whether the runs early in the experiment differ from the late ones: the correlation of the
 * values, each less its arm's mean, with their places, by seeded permutation within arms. */
double stats_drift(const struct stats_values *arms, const unsigned *const *positions,
        size_t arm_count, size_t permutations, unsigned long seed);

/* A t test of differences within pairs (b[i] - a[i]). */
struct stats_difference stats_paired(const double *a, const double *b, size_t n, double level);

/* Holm's adjustment of n p values that stand for one family; NANs stay and do not count. */
void stats_holm(const double *p, size_t n, double *adjusted);

/* Two one-sided Welch tests: the p value of "the relative difference is margin or more". */
double stats_tost(const struct stats_summary *a, const struct stats_summary *b, double margin);

/* By the modified z score (Iglewicz and Hoaglin 1993): which values lie further than 3.5 from the
 * median; writes a flag each, returns their number. None when more than half are equal. */
size_t stats_outliers(struct stats_values sample, bool *outlier);

/* Runs an arm that a two-sided Welch test at level needs to find a difference of means of `effect`
 * with that power, when both arms have the standard deviation. 0: never (no effect), or more than
 * 1e9. */
size_t stats_runs_needed(double stddev, double effect, double level, double power);

/* The least difference of means that n runs an arm find so; n is 2 or more. */
double stats_least_effect(size_t n, double stddev, double level, double power);

/* The interval of a stopping rule that looks after every block, see sequential.c. n: values an arm
 * so far. Returns half of the width of the relative interval, NAN while there are too few. */
double stats_sequential_width(
        const struct stats_summary *a, const struct stats_summary *b, double level);

#endif
