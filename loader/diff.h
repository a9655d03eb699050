/*
 * Two models side by side: A and B, their counters and their rows matched by name.
 */
#ifndef LOADER_DIFF_H
#define LOADER_DIFF_H

#include "group.h"
#include "write.h"

/* One group in both models. */
struct diff_row {
	const struct group_row *a, *b; /* NULL: it is not there; never both */
	double change;                 /* of the time waited, B - A, in the unit of struct diff */
};

struct diff_table {
	struct groups *groups[2];
	struct diff_row *rows; /* the largest change first */
	size_t count;
};

/* The groupings that are compared, in the order of reports. */
#define DIFF_TABLES 3

struct diff {
	struct write_side sides[2];
	bool rates; /* changes are per second: the durations differ by more than one in a hundred */
	double seconds[2]; /* of both; 1 where rates make no sense */
	struct diff_table tables[DIFF_TABLES];
};

/* The sides must outlive it. NULL: no memory. */
struct diff *diff_build(const struct write_side sides[2]);
void diff_free(struct diff *diff);

/* What a side's number counts for in a comparison: itself, or its rate per second. */
double diff_value(const struct diff *diff, int side, uint64_t number);

#endif
