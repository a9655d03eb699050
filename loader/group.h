/*
 * The same waits and holds, grouped in one of several ways: whatever the way, the rows and the rest
 * add up to the totals of the model.
 */
#ifndef LOADER_GROUP_H
#define LOADER_GROUP_H

#include "model.h"
#include "place_text.h"
#include "symbols.h"

enum group_by {
	GROUP_NONE,
	GROUP_LOCK,     /* one lock of one process */
	GROUP_SITE,     /* call sites, over all locks */
	GROUP_CREATION, /* locks of one kind: one variable, one initialising call, or else one call
	                   site that waited first */
	GROUP_THREAD,   /* threads of one name */
	GROUP_TYPE,     /* families, and the kinds of mutexes */
};

#define GROUP_LABEL_WIDTH 34

struct group_row {
	char *key;                         /* tells rows apart, in this model and in another one */
	char label[GROUP_LABEL_WIDTH + 1]; /* for people; not escaped */
	uint32_t id;                       /* of one lock; else 0 */
	unsigned column;                   /* of the call in its line, 0 for none */
	uint32_t family;   /* enum record_family; FAMILY_COUNT: several or unknown */
	uint64_t members;  /* locks; threads by thread */
	uint64_t acquired; /* see struct groups */
	uint64_t waits, wait_ns_total, wait_ns_max;
	uint64_t hold_ns_total, hold_ns_max;
};

struct groups {
	enum group_by by;
	bool acquired_known; /* of rows: of threads all; else those that ABSHIM_STATS=hold counted
	                      */
	bool holds_known;    /* of rows: never of call sites, which wait and are not held */
	struct group_row *rows; /* by time waited, the longest first */
	size_t count;
	struct group_row total; /* of the model; without key, label and members */
	struct group_row rest;  /* of the total what no row holds; maxima are 0 */
};

/* NULL: no memory. */
struct groups *groups_build(const struct model *model, struct symbols *symbols, enum group_by by);
void groups_free(struct groups *groups);

/* Adds one row to another. */
void group_merge(struct group_row *to, const struct group_row *from);

/* The rows that were held, the longest first; the caller frees them. NULL: no memory. */
const struct group_row **groups_held(const struct groups *groups, size_t *count);

/* "lock", "site", ...; GROUP_NONE for any other word. */
enum group_by group_by_name(const char *name);
const char *group_name(enum group_by by);

#endif
