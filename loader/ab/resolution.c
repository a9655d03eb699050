/*
 * The runs of each arm stand for an A/A experiment: they were made in the same order as those that
 * are compared.
 */
#include "resolution.h"

#include <math.h>

double resolution_spread(const struct metric_values *metric)
{
	double squares = 0, freedom = 0;
	for (size_t i = 0; i < metric->arm_count; i++) {
		const struct stats_summary *summary = &metric->arms[i].summary;
		if (summary->n < 2)
			continue;
		squares += summary->stddev * summary->stddev * (double)(summary->n - 1);
		freedom += (double)(summary->n - 1);
	}
	return sqrt(squares / freedom);
}

bool resolution_of(const struct metric_values *metric, struct resolution *resolution)
{
	double spread = resolution_spread(metric);
	double mean = metric->arm_count > 0 ? fabs(metric->arms[0].summary.mean) : 0;
	*resolution = (struct resolution){ .n = metric->arm_count > 0 ? (size_t)-1 : 0 };
	for (size_t i = 0; i < metric->arm_count; i++)
		if (metric->arms[i].summary.n < resolution->n)
			resolution->n = metric->arms[i].summary.n;
	if (resolution->n < 2 || !(mean > 0) || !isfinite(spread))
		return false;
	const struct stats_summary arm = { .n = resolution->n, .mean = mean, .stddev = spread };
	resolution->spread = spread / mean;
	resolution->chance = stats_welch(&arm, &arm, RESOLUTION_LEVEL).high / mean;
	resolution->found =
	        stats_least_effect(arm.n, spread, RESOLUTION_LEVEL, RESOLUTION_POWER) / mean;
	return true;
}
