/*
 * Summaries of one sample.
 */
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

#define OUTLIER_SCORE 3.5    /* Iglewicz and Hoaglin 1993, page 11 */
#define MAD_SCALE     0.6745 /* the 0.75 quantile of the normal distribution */

static double *sorted_copy(struct stats_values sample)
{
	double *copy = malloc((sample.n + 1) * sizeof(*copy));
	if (copy == NULL)
		abort();
	memcpy(copy, sample.values, sample.n * sizeof(*copy));
	gsl_sort(copy, 1, sample.n);
	return copy;
}

struct stats_summary stats_describe(struct stats_values sample)
{
	struct stats_summary summary = { sample.n, NAN, NAN, NAN, NAN, NAN, NAN };
	if (sample.n == 0)
		return summary;
	double *sorted = sorted_copy(sample), sum = 0;
	for (size_t i = 0; i < sample.n; i++)
		sum += sample.values[i];
	summary.mean = sum / (double)sample.n;
	if (sample.n > 1)
		summary.stddev = gsl_stats_sd_m(sorted, 1, sample.n, summary.mean);
	summary.min = sorted[0];
	summary.max = sorted[sample.n - 1];
	summary.median = gsl_stats_median_from_sorted_data(sorted, 1, sample.n);
	summary.median_upper = sorted[sample.n / 2];
	free(sorted);
	return summary;
}

size_t stats_outliers(struct stats_values sample, bool *outlier)
{
	size_t count = 0;
	memset(outlier, 0, sample.n * sizeof(*outlier));
	if (sample.n < 3)
		return 0;
	double median = stats_describe(sample).median;
	double *distances = malloc(sample.n * sizeof(*distances));
	if (distances == NULL)
		abort();
	for (size_t i = 0; i < sample.n; i++)
		distances[i] = fabs(sample.values[i] - median);
	double mad = stats_describe((struct stats_values){ distances, sample.n }).median;
	for (size_t i = 0; i < sample.n && mad > 0; i++) {
		outlier[i] = MAD_SCALE * distances[i] / mad > OUTLIER_SCORE;
		count += outlier[i];
	}
	free(distances);
	return count;
}
