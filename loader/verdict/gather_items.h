/*
 * The figures of all files on the way to their metrics.
 */
#ifndef LOADER_VERDICT_GATHER_ITEMS_H
#define LOADER_VERDICT_GATHER_ITEMS_H

#include "gather.h"

/* What a file says of a metric: values, or their summary. */
struct item {
	char *name; /* with the label of its result, where there are several */
	size_t arm;
	enum metric_unit unit;
	enum metric_better better;
	const double *values;
	size_t count;
	const struct summary *summary;
};

struct items {
	struct item *rows;
	size_t count, room;
	const struct item **names; /* the first item of each name, in order */
	size_t name_count;
	bool failed; /* no memory */
};

void items_add_result(struct items *items, size_t arm, const struct result *result, bool alone);
void items_find_names(struct items *items);
bool items_has(const struct items *items, size_t arm, const char *name);
/* How many values, of all arms. */
size_t items_value_count(const struct items *items, const char *name);
/* Why the figures of that name cannot be one metric; NULL when they can. */
const char *items_find_clash(const struct items *items, const char *name);
void items_free(struct items *items);

#endif
