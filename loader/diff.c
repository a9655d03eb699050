/*
 * Matches the groups of two models.
 */
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum group_by groupings[DIFF_TABLES] = { GROUP_THREAD, GROUP_SITE, GROUP_CREATION };

static int compare_keys(const struct group_row *a, const struct group_row *b)
{
	int order = strcmp(a->key, b->key);
	return order != 0 ? order : (a->family > b->family) - (a->family < b->family);
}

static int compare_groups(const void *left, const void *right)
{
	return compare_keys(left, right);
}

static int compare_changes(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	double change_a = fabs(a->change), change_b = fabs(b->change);
	if (change_a < change_b || change_a > change_b)
		return change_a < change_b ? 1 : -1;
	return compare_keys(a->a != NULL ? a->a : a->b, b->a != NULL ? b->a : b->b);
}

double diff_value(const struct diff *diff, int side, uint64_t number)
{
	return (double)number / diff->seconds[side];
}

static void add_row(const struct diff *diff, struct diff_table *table, const struct group_row *a,
        const struct group_row *b)
{
	struct diff_row *row = &table->rows[table->count++];
	*row = (struct diff_row){ a, b, 0 };
	row->change = (b != NULL ? diff_value(diff, 1, b->wait_ns_total) : 0) -
	              (a != NULL ? diff_value(diff, 0, a->wait_ns_total) : 0);
}

/* Both sorted by key: walks them together. */
static void match_rows(const struct diff *diff, struct diff_table *table)
{
	const struct groups *a = table->groups[0], *b = table->groups[1];
	size_t at_a = 0, at_b = 0;
	while (at_a < a->count || at_b < b->count) {
		int order = at_a == a->count   ? 1
		            : at_b == b->count ? -1
		                               : compare_keys(&a->rows[at_a], &b->rows[at_b]);
		add_row(diff, table, order <= 0 ? &a->rows[at_a] : NULL,
		        order >= 0 ? &b->rows[at_b] : NULL);
		at_a += order <= 0;
		at_b += order >= 0;
	}
	qsort(table->rows, table->count, sizeof(*table->rows), compare_changes);
}

static bool build_table(struct diff *diff, struct diff_table *table, enum group_by by)
{
	size_t most = 1;
	for (int side = 0; side < 2; side++) {
		struct groups *groups =
		        groups_build(diff->sides[side].model, diff->sides[side].symbols, by);
		table->groups[side] = groups;
		if (groups == NULL)
			return false;
		qsort(groups->rows, groups->count, sizeof(*groups->rows), compare_groups);
		most += groups->count;
	}
	table->rows = calloc(most, sizeof(*table->rows));
	if (table->rows == NULL)
		return false;
	match_rows(diff, table);
	return true;
}

struct diff *diff_build(const struct write_side sides[2])
{
	struct diff *diff = calloc(1, sizeof(*diff));
	if (diff == NULL)
		return NULL;
	double seconds[2];
	for (int side = 0; side < 2; side++) {
		diff->sides[side] = sides[side];
		diff->seconds[side] = 1;
		seconds[side] = (double)sides[side].model->duration_ns / 1e9;
	}
	diff->rates = seconds[0] > 0 && seconds[1] > 0 && fabs(seconds[0] / seconds[1] - 1) > 0.01;
	if (diff->rates)
		memcpy(diff->seconds, seconds, sizeof(seconds));
	for (int i = 0; i < DIFF_TABLES; i++)
		if (!build_table(diff, &diff->tables[i], groupings[i])) {
			diff_free(diff);
			return NULL;
		}
	return diff;
}

void diff_free(struct diff *diff)
{
	if (diff == NULL)
		return;
	for (int i = 0; i < DIFF_TABLES; i++) {
		groups_free(diff->tables[i].groups[0]);
		groups_free(diff->tables[i].groups[1]);
		free(diff->tables[i].rows);
	}
	free(diff);
}
