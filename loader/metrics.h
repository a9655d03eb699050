/*
 * The syntax of OpenMetrics 1.0. What is written is a correct Prometheus text file too.
 */
#ifndef LOADER_METRICS_H
#define LOADER_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metrics {
	FILE *out;
	const char *name; /* of the family begun last */
	enum metric_type type;
	bool seconds;    /* its values come in nanoseconds */
	bool has_labels; /* of the sample that is being written */
	bool failed;     /* for want of memory */
};

/* Begins a family of metrics. The name lives until the next one, has no "_total", and ends in
 * "_seconds" where the values are times. Its samples follow at once. */
void metrics_begin(
        struct metrics *metrics, enum metric_type type, const char *name, const char *help);

/* A sample: open, labels, close. The suffix is that of a histogram's parts; NULL for the type's
 * own. */
void metrics_open(struct metrics *metrics, const char *suffix);
void metrics_label(struct metrics *metrics, const char *key, const char *value);
void metrics_count(struct metrics *metrics, uint64_t value);
void metrics_time(struct metrics *metrics, uint64_t ns);

/* The value in the unit that the family's name says. */
void metrics_value(struct metrics *metrics, uint64_t value);

void metrics_end(struct metrics *metrics);

#endif
