/*
 * Samples as ministat prints them: the dot plot, the table, Student's comparison.
 */
#ifndef LOADER_VERDICT_MINISTAT_H
#define LOADER_VERDICT_MINISTAT_H

#include <stdbool.h>
#include <stdio.h>

#include "../stats/stats.h"

#define MINISTAT_SETS  7 /* ministat has symbols for no more */
#define MINISTAT_WIDTH 74

struct ministat_set {
	const char *name;
	struct stats_values sample; /* no values where only the summary is known: then no plot */
	struct stats_summary summary;
};

struct ministat_options {
	int width; /* columns of the plot, without its frame */
	double level;
	enum stats_convention convention;
	bool separate; /* a line of its own for each set's bar */
	bool plot;
	bool compare;
};

/* The first set is the reference. count: 1 to MINISTAT_SETS. */
void ministat_print(FILE *out, const struct ministat_set *sets, size_t count,
        const struct ministat_options *options);

#endif
