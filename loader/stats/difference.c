/*
 * Differences of two means by t distributions.
 */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "stats.h"

#define TABLE_DF 100.0 /* where ministat's table of t ends */

/* Values without any spread have no degrees of freedom (NAN) and need no width. */
static double t_quantile(double level, double df)
{
	if (isnan(df))
		return 0;
	return gsl_cdf_tdist_Pinv((1 + level) / 2, df);
}

static double t_p(double t, double df)
{
	return isnan(t) || isnan(df) ? NAN : 2 * gsl_cdf_tdist_Q(fabs(t), df);
}

/* Satterthwaite's degrees of freedom of the sum of two variances of means. */
static double satterthwaite(double va, size_t na, double vb, size_t nb)
{
	double sum = va + vb;
	return sum * sum / (va * va / ((double)na - 1) + vb * vb / ((double)nb - 1));
}

static struct stats_difference unknown(double a, double b)
{
	struct stats_difference to = { .difference = b - a,
		.low = NAN,
		.high = NAN,
		.relative = a != 0 ? (b - a) / fabs(a) : NAN,
		.relative_low = NAN,
		.relative_high = NAN,
		.p = NAN,
		.df = NAN };
	return to;
}

struct stats_difference stats_welch(
        const struct stats_summary *a, const struct stats_summary *b, double level)
{
	struct stats_difference to = unknown(a->mean, b->mean);
	if (a->n < 2 || b->n < 2)
		return to;
	double va = a->stddev * a->stddev / (double)a->n, vb = b->stddev * b->stddev / (double)b->n;
	if (va + vb == 0) { /* no spread at all: whatever differs, differs */
		to.low = to.high = to.difference;
		to.relative_low = to.relative_high = to.relative;
		return to;
	}
	double error = sqrt(va + vb);
	to.df = satterthwaite(va, a->n, vb, b->n);
	double t = t_quantile(level, to.df);
	to.low = to.difference - t * error;
	to.high = to.difference + t * error;
	to.p = t_p(to.difference / error, to.df);
	if (a->mean == 0)
		return to;
	double ratio = b->mean / a->mean, scaled = ratio * ratio * va;
	t = t_quantile(level, satterthwaite(scaled, a->n, vb, b->n));
	double relative_error = t * sqrt(scaled + vb) / fabs(a->mean);
	to.relative_low = to.relative - relative_error;
	to.relative_high = to.relative + relative_error;
	return to;
}

struct stats_student stats_student(const struct stats_summary *a, const struct stats_summary *b,
        double level, enum stats_convention convention)
{
	double na = (double)a->n, nb = (double)b->n, df = na + nb - 2;
	struct stats_student to = { .difference = b->mean - a->mean,
		.error = NAN,
		.relative = (b->mean - a->mean) / a->mean,
		.relative_error = NAN,
		.pooled = NAN };
	if (a->n < 2 || b->n < 2)
		return to;
	double t = df > TABLE_DF ? gsl_cdf_ugaussian_Pinv((1 + level) / 2) : t_quantile(level, df);
	t = round(t * 1000) / 1000;
	double a_squares = (na - 1) * a->stddev * a->stddev;
	double b_squares = (nb - 1) * b->stddev * b->stddev;
	to.pooled = sqrt((a_squares + b_squares) / df);
	to.error = t * to.pooled * sqrt(1 / na + 1 / nb);
	to.proven = fabs(to.difference) > to.error;
	to.relative_error = to.error / a->mean;
	if (convention == STATS_FREEBSD) {
		double ratio = b->mean / a->mean;
		to.relative_error =
		        t * sqrt((b_squares + a_squares * ratio * ratio) / df * (1 / na + 1 / nb)) /
		        a->mean;
	}
	return to;
}

struct stats_difference stats_paired(const double *a, const double *b, size_t n, double level)
{
	double *differences = malloc((n + 1) * sizeof(*differences));
	if (differences == NULL)
		abort();
	for (size_t i = 0; i < n; i++)
		differences[i] = b[i] - a[i];
	struct stats_summary between = stats_describe((struct stats_values){ differences, n });
	struct stats_summary of_a = stats_describe((struct stats_values){ a, n });
	free(differences);
	struct stats_difference to = unknown(of_a.mean, of_a.mean + between.mean);
	if (n < 2)
		return to;
	double error = between.stddev / sqrt((double)n);
	to.df = (double)n - 1;
	double t = t_quantile(level, to.df);
	to.low = to.difference - t * error;
	to.high = to.difference + t * error;
	to.p = error > 0 ? t_p(to.difference / error, to.df) : NAN;
	to.relative_low = to.low / fabs(of_a.mean);
	to.relative_high = to.high / fabs(of_a.mean);
	return to;
}

double stats_tost(const struct stats_summary *a, const struct stats_summary *b, double margin)
{
	if (a->n < 2 || b->n < 2 || !(margin > 0))
		return NAN;
	/* b - (1 + m) a < 0 and b - (1 - m) a > 0, for a positive mean of a */
	double worst = 0, sign = a->mean < 0 ? -1 : 1;
	for (int side = -1; side <= 1; side += 2) {
		double factor = 1 + side * margin;
		double va = factor * factor * a->stddev * a->stddev / (double)a->n;
		double vb = b->stddev * b->stddev / (double)b->n;
		double distance = side * sign * (factor * a->mean - b->mean);
		if (va + vb == 0) {
			worst = distance > 0 ? worst : 1;
			continue;
		}
		double t = distance / sqrt(va + vb);
		double p = gsl_cdf_tdist_Q(t, satterthwaite(va, a->n, vb, b->n));
		worst = p > worst ? p : worst;
	}
	return worst;
}

double stats_least_effect(size_t n, double stddev, double level, double power)
{
	double df = 2 * (double)n - 2;
	double sum = t_quantile(level, df) + gsl_cdf_tdist_Pinv(power, df);
	return sum * stddev * sqrt(2 / (double)n);
}

size_t stats_runs_needed(double stddev, double effect, double level, double power)
{
	if (!(effect > 0) || !(stddev >= 0))
		return 0;
	double n = 2;
	for (int step = 0; step < 100; step++) {
		double df = 2 * n - 2;
		double sum = t_quantile(level, df) + gsl_cdf_tdist_Pinv(power, df);
		double next = ceil(2 * sum * sum * stddev * stddev / (effect * effect));
		next = next < 2 ? 2 : next;
		if (next == n)
			break;
		n = step < 50 ? next : (next > n ? next : n); /* two values in turn: the larger */
	}
	return n <= 1e9 ? (size_t)n : 0;
}
