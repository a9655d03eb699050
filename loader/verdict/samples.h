/*
 * The figures of an experiment or of files, as every evaluation takes them.
 */
#ifndef LOADER_VERDICT_SAMPLES_H
#define LOADER_VERDICT_SAMPLES_H

#include <stddef.h>

#include "../parse/parse.h"

/* One arm's values of one metric, in the order in which they were measured. */
struct sample_arm {
	const char *name; /* "a", "b", or a file's name */
	const double *values;
	const unsigned *blocks;    /* block of each value, NULL: there are none */
	const unsigned *positions; /* place of each run in the whole experiment, NULL: unknown */
	size_t n;
	/* Where only a summary is known (values NULL): */
	double mean, stddev;
};

/* One metric of all arms. */
struct sample_metric {
	const char *name;
	enum metric_unit unit;
	enum metric_better better;
	struct sample_arm *arms; /* the first one is the reference */
	size_t arm_count;
};

#endif
