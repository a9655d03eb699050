/*
 * Brings the notes of several records together.
 */
#include "uncovered.h"

#include <stdlib.h>
#include <string.h>

const char *uncovered_reason(uint32_t reason)
{
	switch (reason) {
	case UNCOVERED_DEEPBIND:
		return "deepbind";
	case UNCOVERED_NAMESPACE:
		return "namespace";
	case UNCOVERED_DEFINED:
		return "defined";
	default:
		return NULL;
	}
}

static int compare(const void *a, const void *b)
{
	const struct record_uncovered *x = a, *y = b;
	int order = (x->reason > y->reason) - (x->reason < y->reason);
	if (order == 0)
		order = strcmp(x->path, y->path);
	return order != 0 ? order : strcmp(x->symbol, y->symbol);
}

static void add_record(struct uncovered *uncovered, const struct record *record)
{
	for (uint32_t i = 0; i < record->entries[REGION_UNCOVERED]; i++) {
		struct record_uncovered *row = &uncovered->rows[uncovered->count];
		record_copy(record, REGION_UNCOVERED, i, row, sizeof(*row));
		row->symbol[sizeof(row->symbol) - 1] = '\0';
		row->path[sizeof(row->path) - 1] = '\0';
		if (uncovered_reason(row->reason) != NULL)
			uncovered->count++;
	}
}

struct uncovered uncovered_new(const struct model *model)
{
	struct uncovered uncovered = { NULL, 0 };
	size_t room = 1, kept = 0;
	for (size_t i = 0; i < model->process_count; i++)
		room += model->processes[i].record->entries[REGION_UNCOVERED];
	uncovered.rows = calloc(room, sizeof(*uncovered.rows));
	if (uncovered.rows == NULL)
		return uncovered;
	for (size_t i = 0; i < model->process_count; i++)
		add_record(&uncovered, model->processes[i].record);
	qsort(uncovered.rows, uncovered.count, sizeof(*uncovered.rows), compare);
	for (size_t i = 0; i < uncovered.count; i++)
		if (kept == 0 || compare(&uncovered.rows[kept - 1], &uncovered.rows[i]) != 0)
			uncovered.rows[kept++] = uncovered.rows[i];
	uncovered.count = kept;
	return uncovered;
}

void uncovered_free(struct uncovered *uncovered)
{
	free(uncovered->rows);
}
