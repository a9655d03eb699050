/*
 * From what tools printed to the values of each metric and arm.
 */
#ifndef LOADER_VERDICT_GATHER_H
#define LOADER_VERDICT_GATHER_H

#include "evaluate.h"

/* An arm's files, read. */
struct gather_arm {
	const char *name;
	const char *const *paths; /* of the outputs, for messages */
	const struct output *const *outputs;
	size_t count;
	size_t result; /* number + 1 of the only result of each output that counts; 0: all of them
	                */
};

struct gathered {
	struct metric_values *metrics; /* those that every arm has, in the order of the first arm */
	size_t count;
	/* What was left out, and why: results that are INCOMPLETE or invalid, metrics that an arm
	 * lacks. */
	char **notes;
	size_t note_count;
};

/*
 * Results of several runs in one file keep their labels: their metrics are called "LABEL/METRIC"
 * and never pooled. The first metric is the one most fit to be the primary: a throughput where
 * there is one. NULL: no memory.
 */
struct gathered *gather(const struct gather_arm *arms, size_t count);
void gathered_free(struct gathered *gathered);

#endif
