/*
 * What has been done to each loaded object, kept beside the record: it stays true in a forked
 * child.
 */
#ifndef SHIM_ATOMICS_ROWS_H
#define SHIM_ATOMICS_ROWS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "probes/record.h"
#include "survey.h"

struct object_row {
	const ElfW(Dyn) * dynamic;    /* whose it is; NULL: unused */
	bool seen;                    /* in the look that is going on */
	uint32_t entry;               /* of REGION_ATOMICS, or RECORD_NONE */
	uint64_t flags[SURVEY_FLAGS]; /* of its outline helpers, as many as made says */
	struct record_atomics made;
};

/* The row of a loaded object, NULL when it has none. */
struct object_row *row_of(const struct link_map *map);

/* An unused one, empty; NULL when there are too many. */
struct object_row *row_claim(const struct link_map *map);

/* Rows in use one after the other; *next is 0 at first. NULL at the end. */
struct object_row *row_next(unsigned *next);

/* Writes it into the record, where there is one. */
void row_put(struct object_row *row);

/* Its object is no more: the record says so, and the row is free. */
void row_retire(struct object_row *row);

#endif
