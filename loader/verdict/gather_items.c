/*
 * Collects what files say, a row for each metric of each result.
 */
#include "gather_items.h"

#include <stdlib.h>
#include <string.h>

static void add_item(struct items *items, const char *label, const char *name, struct item item)
{
	if (items->count == items->room) {
		size_t room = items->room * 2 + 64;
		struct item *grown = realloc(items->rows, room * sizeof(*grown));
		if (grown == NULL) {
			items->failed = true;
			return;
		}
		items->rows = grown;
		items->room = room;
	}
	const char *slash = *label != '\0' ? "/" : "";
	if (asprintf(&item.name, "%s%s%s", label, slash, name) < 0) {
		items->failed = true;
		return;
	}
	items->rows[items->count++] = item;
}

void items_add_result(struct items *items, size_t arm, const struct result *result, bool alone)
{
	const char *label = alone ? "" : result->label;
	for (size_t i = 0; i < result->metric_count; i++) {
		const struct metric *metric = &result->metrics[i];
		add_item(items, label, metric->name,
		        (struct item){ .arm = arm,
		                .unit = metric->unit,
		                .better = metric->better,
		                .values = &metric->value,
		                .count = 1 });
	}
	for (size_t i = 0; i < result->series_count; i++) {
		const struct series *series = &result->series[i];
		add_item(items, label, series->name,
		        (struct item){ .arm = arm,
		                .unit = series->unit,
		                .better = series->better,
		                .values = series->values,
		                .count = series->count });
	}
	for (size_t i = 0; i < result->summary_count; i++) {
		const struct summary *summary = &result->summaries[i];
		add_item(items, label, summary->name,
		        (struct item){ .arm = arm,
		                .unit = summary->unit,
		                .better = summary->better,
		                .summary = summary });
	}
}

void items_find_names(struct items *items)
{
	items->names = calloc(items->count + 1, sizeof(*items->names));
	items->failed |= items->names == NULL;
	for (size_t i = 0; i < items->count && !items->failed; i++) {
		size_t at = 0;
		while (at < items->name_count &&
		        strcmp(items->names[at]->name, items->rows[i].name) != 0)
			at++;
		if (at == items->name_count)
			items->names[items->name_count++] = &items->rows[i];
	}
}

bool items_has(const struct items *items, size_t arm, const char *name)
{
	for (size_t i = 0; i < items->count; i++)
		if (items->rows[i].arm == arm && strcmp(items->rows[i].name, name) == 0)
			return true;
	return false;
}

size_t items_value_count(const struct items *items, const char *name)
{
	size_t count = 0;
	for (size_t i = 0; i < items->count; i++)
		if (strcmp(items->rows[i].name, name) == 0)
			count += items->rows[i].count;
	return count;
}

const char *items_find_clash(const struct items *items, const char *name)
{
	const struct item *first = NULL, *before = NULL;
	for (size_t i = 0; i < items->count; i++) {
		const struct item *item = &items->rows[i];
		if (strcmp(item->name, name) != 0)
			continue;
		first = first != NULL ? first : item;
		if (item->unit != first->unit)
			return "has other units in other files";
		if (before != NULL && before->arm == item->arm &&
		        (before->summary != NULL || item->summary != NULL))
			return "is a summary, which cannot be pooled with others of its arm";
		before = item;
	}
	return NULL;
}

void items_free(struct items *items)
{
	for (size_t i = 0; i < items->count; i++)
		free(items->rows[i].name);
	free(items->rows);
	free(items->names);
}
