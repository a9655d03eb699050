/*
 * Intervals and tests by resampling, seeded so that they can be had again.
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

static double *numbers(size_t count)
{
	double *memory = calloc(count + 1, sizeof(*memory));
	if (memory == NULL)
		abort();
	return memory;
}

static gsl_rng *generator(unsigned long seed)
{
	gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);
	if (random == NULL)
		abort();
	gsl_rng_set(random, seed);
	return random;
}

/* A number below n, uniform but for a bias below n / 2^32, which is what the generator's numbers
 * lie below. */
static size_t below(gsl_rng *random, size_t n)
{
	return (size_t)((uint64_t)gsl_rng_get(random) * n >> 32);
}

/* Moves a random choice of `first` of the n values to the front: all of it is a shuffle. Returns
 * the sum of those. */
static double choose(gsl_rng *random, double *values, size_t first, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < first; i++) {
		size_t at = i + below(random, n - i);
		double chosen = values[at];
		values[at] = values[i];
		values[i] = chosen;
		sum += chosen;
	}
	return sum;
}

static double resampled_mean(gsl_rng *random, struct stats_values sample)
{
	double sum = 0;
	for (size_t i = 0; i < sample.n; i++)
		sum += sample.values[below(random, sample.n)];
	return sum / (double)sample.n;
}

/* What is estimated: a difference of means, or their ratio less 1. */
enum statistic { DIFFERENCE, RELATIVE };

static double statistic(enum statistic which, double a, double b)
{
	return which == DIFFERENCE ? b - a : (b - a) / fabs(a);
}

/* Efron's acceleration by the jackknife of both samples. */
static double acceleration(
        enum statistic which, struct stats_values a, struct stats_values b, double ma, double mb)
{
	double cubes = 0, squares = 0;
	for (int side = 0; side < 2; side++) {
		struct stats_values sample = side == 0 ? a : b;
		double mean = side == 0 ? ma : mb, n = (double)sample.n, middle = 0;
		double *left_out = numbers(sample.n);
		for (size_t i = 0; i < sample.n; i++) {
			double without = (mean * n - sample.values[i]) / (n - 1);
			left_out[i] = side == 0 ? statistic(which, without, mb)
			                        : statistic(which, ma, without);
			middle += left_out[i] / n;
		}
		for (size_t i = 0; i < sample.n; i++) {
			double influence = (n - 1) * (middle - left_out[i]);
			cubes += influence * influence * influence / (n * n * n);
			squares += influence * influence / (n * n);
		}
		free(left_out);
	}
	return squares > 0 ? cubes / (6 * pow(squares, 1.5)) : 0;
}

/* The normal score that a tail of a bootstrap distribution needs: it is too narrow by about
 * sqrt((n - 1) / n), and the normal's tails are lighter than t's. */
static double expanded_score(struct stats_values a, struct stats_values b, double level)
{
	struct stats_summary sa = stats_describe(a), sb = stats_describe(b);
	double na = (double)a.n, nb = (double)b.n;
	double va = sa.stddev * sa.stddev / na, vb = sb.stddev * sb.stddev / nb;
	double plug_in = va * (na - 1) / na + vb * (nb - 1) / nb;
	if (plug_in <= 0)
		return gsl_cdf_ugaussian_Pinv((1 + level) / 2);
	double df = (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));
	return gsl_cdf_tdist_Pinv((1 + level) / 2, df) * sqrt((va + vb) / plug_in);
}

/* The quantile of the sorted replicates that BCa takes for a normal score. */
static double bca_quantile(
        const double *sorted, size_t count, double score, double bias, double accelerated)
{
	double moved = bias + score;
	double level = gsl_cdf_ugaussian_P(bias + moved / (1 - accelerated * moved));
	if (isnan(level)) /* of figures whose powers overflow */
		return NAN;
	return gsl_stats_quantile_from_sorted_data(sorted, 1, count, level);
}

static void bca(enum statistic which, struct stats_values a, struct stats_values b, double level,
        double *replicates, size_t count, double *low, double *high)
{
	double ma = gsl_stats_mean(a.values, 1, a.n), mb = gsl_stats_mean(b.values, 1, b.n);
	double estimate = statistic(which, ma, mb), less = 0;
	for (size_t i = 0; i < count; i++) {
		if (isnan(replicates[i])) /* a ratio to a mean of 0 */
			return;
		less += replicates[i] < estimate ? 1 : replicates[i] == estimate ? 0.5 : 0;
	}
	less = less < 0.5 ? 0.5 : less > (double)count - 0.5 ? (double)count - 0.5 : less;
	double bias = gsl_cdf_ugaussian_Pinv(less / (double)count);
	double accelerated = acceleration(which, a, b, ma, mb);
	double score = expanded_score(a, b, level);
	gsl_sort(replicates, 1, count);
	*low = bca_quantile(replicates, count, -score, bias, accelerated);
	*high = bca_quantile(replicates, count, score, bias, accelerated);
}

struct stats_difference stats_bootstrap(struct stats_values a, struct stats_values b, double level,
        size_t resamples, unsigned long seed)
{
	struct stats_summary sa = stats_describe(a), sb = stats_describe(b);
	struct stats_difference to = { sb.mean - sa.mean, NAN, NAN,
		sa.mean != 0 ? statistic(RELATIVE, sa.mean, sb.mean) : NAN, NAN, NAN, NAN, NAN };
	if (a.n < 2 || b.n < 2 || resamples < 2)
		return to;
	double *differences = numbers(resamples), *ratios = numbers(resamples);
	gsl_rng *random = generator(seed);
	for (size_t i = 0; i < resamples; i++) {
		double ma = resampled_mean(random, a), mb = resampled_mean(random, b);
		differences[i] = statistic(DIFFERENCE, ma, mb);
		ratios[i] = ma != 0 ? statistic(RELATIVE, ma, mb) : NAN;
	}
	gsl_rng_free(random);
	bca(DIFFERENCE, a, b, level, differences, resamples, &to.low, &to.high);
	if (sa.mean != 0)
		bca(RELATIVE, a, b, level, ratios, resamples, &to.relative_low, &to.relative_high);
	free(differences);
	free(ratios);
	return to;
}

static void deviations_from_median(struct stats_values sample, double *to)
{
	double median = stats_describe(sample).median;
	for (size_t i = 0; i < sample.n; i++)
		to[i] = fabs(sample.values[i] - median);
}

double stats_brown_forsythe(
        struct stats_values a, struct stats_values b, size_t permutations, unsigned long seed)
{
	if (a.n < 3 || b.n < 3 || permutations == 0)
		return NAN;
	size_t n = a.n + b.n, extreme = 1;
	double na = (double)a.n, nb = (double)b.n;
	double *all = numbers(n);
	deviations_from_median(a, all);
	deviations_from_median(b, all + a.n);
	double mean = gsl_stats_mean(all, 1, n), of_a = gsl_stats_mean(all, 1, a.n);
	double observed = fabs(gsl_stats_mean(all + a.n, 1, b.n) - of_a), equal = 1e-12 * mean;
	gsl_rng *random = generator(seed);
	for (size_t i = 0; i < permutations; i++) {
		double sum = choose(random, all, a.n, n);
		double between = (mean * (na + nb) - sum) / nb - sum / na;
		extreme += fabs(between) >= observed - equal;
	}
	gsl_rng_free(random);
	free(all);
	return (double)extreme / (double)(permutations + 1);
}

/* The sum of the products of centred values and places. */
static double covariance(const double *values, const double *places, size_t n)
{
	double mean = gsl_stats_mean(places, 1, n), sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i] * (places[i] - mean);
	return sum;
}

double stats_drift(const struct stats_values *arms, const unsigned *const *positions,
        size_t arm_count, size_t permutations, unsigned long seed)
{
	size_t n = 0, at = 0, extreme = 1;
	for (size_t arm = 0; arm < arm_count; arm++)
		n += arms[arm].n;
	if (n < 4 || permutations == 0)
		return NAN;
	double *values = numbers(n), *places = numbers(n), spread = 0;
	for (size_t arm = 0; arm < arm_count; arm++) {
		double mean = stats_describe(arms[arm]).mean;
		for (size_t i = 0; i < arms[arm].n; i++, at++) {
			values[at] = arms[arm].values[i] - mean;
			places[at] = positions[arm][i];
			spread += fabs(values[at]);
		}
	}
	double observed = fabs(covariance(values, places, n));
	gsl_rng *random = generator(seed);
	for (size_t k = 0; k < permutations && spread > 0; k++) {
		at = 0;
		for (size_t arm = 0; arm < arm_count; at += arms[arm].n, arm++)
			choose(random, values + at, arms[arm].n, arms[arm].n);
		extreme += fabs(covariance(values, places, n)) >= observed * (1 - 1e-12);
	}
	gsl_rng_free(random);
	free(values);
	free(places);
	return spread > 0 ? (double)extreme / (double)(permutations + 1) : NAN;
}
