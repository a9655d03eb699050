/*
 * Summaries of the primary metric over the runs so far.
 */
#include "sequential.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.95

/* The throughput, or that of the first part ("set.throughput"), or the time. */
static const char *best_metric(const struct run *run)
{
	static const char whole[] = "throughput", part[] = ".throughput";
	if (run_metric(run, whole) != NULL)
		return whole;
	for (size_t i = 0; i < run->metric_count; i++) {
		const char *name = run->metrics[i].name;
		size_t length = strlen(name);
		if (length >= strlen(part) && strcmp(name + length - strlen(part), part) == 0)
			return name;
	}
	return "client.wall";
}

const char *sequential_metric(const struct experiment *experiment)
{
	if (experiment->design.metrics.count > 0)
		return experiment->design.metrics.items[0];
	for (size_t i = 0; i < experiment->run_count; i++)
		if (experiment->runs[i].valid)
			return best_metric(&experiment->runs[i]);
	return NULL;
}

struct stats_summary sequential_summary(const struct experiment *experiment, unsigned arm)
{
	const char *name = sequential_metric(experiment);
	double *values = calloc(experiment->run_count + 1, sizeof(*values));
	size_t n = 0;
	for (size_t i = 0; i < experiment->run_count && name != NULL && values != NULL; i++) {
		const struct run *run = &experiment->runs[i];
		const struct run_metric *metric = run_metric(run, name);
		if (run_counts(run) && run->arm == arm && metric != NULL)
			values[n++] = metric->value;
	}
	struct stats_summary summary = stats_describe((struct stats_values){ values, n });
	free(values);
	return summary;
}

double sequential_half_width(const struct experiment *experiment)
{
	double widest = 0;
	struct stats_summary a = sequential_summary(experiment, 0);
	for (unsigned i = 1; i < experiment->design.arms.count; i++) {
		struct stats_summary b = sequential_summary(experiment, i);
		double width = a.n > 1 && b.n > 1 ? stats_sequential_width(&a, &b, LEVEL) : NAN;
		if (isnan(width))
			return INFINITY;
		if (width > widest)
			widest = width;
	}
	return widest;
}
