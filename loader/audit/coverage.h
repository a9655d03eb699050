/*
 * The functions that a file's unwind tables name, in order of their addresses: what is proved to be
 * code where no symbols tell.
 */
#ifndef LOADER_AUDIT_COVERAGE_H
#define LOADER_AUDIT_COVERAGE_H

#include "code.h"
#include "probes/code_ranges.h"

struct coverage {
	bool present;
	uint64_t covered; /* bytes of code's pieces */
	struct image_bytes image;
	uint64_t table;
	struct code_ranges ranges;
	uint64_t end; /* of what was given last */
};

/* Finds the tables. Not present where there are none that can be understood, which is noted. */
void coverage_open(struct coverage *coverage, const struct image *image, const struct code *code,
        struct audit_file *row);

/* Begins again. */
void coverage_rewind(struct coverage *coverage);

/* The next function; none overlaps the one before. False at the end. */
bool coverage_next(struct coverage *coverage, struct code_range *range);

#endif
