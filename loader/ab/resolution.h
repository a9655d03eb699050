/*
 * What an experiment could show at all, by the spread of runs that differ in nothing.
 */
#ifndef LOADER_AB_RESOLUTION_H
#define LOADER_AB_RESOLUTION_H

#include <stdbool.h>

#include "../verdict/evaluate.h"

#define RESOLUTION_LEVEL 0.95
#define RESOLUTION_POWER 0.8

/* All but n are shares of the reference's mean. */
struct resolution {
	size_t n;      /* runs of the arm that has the fewest */
	double spread; /* the standard deviation within arms */
	double chance; /* two equal arms come out further apart than that in 1 - level of all cases
	                */
	double found;  /* a difference that is found with that power */
};

/* The standard deviation within arms: pooled, so that a difference between them does not count.
 * NAN: no arm has two runs. */
double resolution_spread(const struct metric_values *metric);

/* False where there is none: too few runs, a mean of 0. */
bool resolution_of(const struct metric_values *metric, struct resolution *resolution);

#endif
