/*
 * Collects metrics by name over the files of each arm.
 */
#include "gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One value on its way to its metric. */
struct item {
	char *name;
	size_t arm;
	enum metric_unit unit;
	enum metric_better better;
	const double *values;
	size_t count;
	const struct summary *summary; /* or this */
};

struct items {
	struct item *rows;
	size_t count, room;
	bool failed; /* no memory */
};

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

static void add_note(struct gathered *gathered, struct items *items, char *note)
{
	char **grown = realloc(gathered->notes, (gathered->note_count + 1) * sizeof(*grown));
	if (note == NULL || grown == NULL) {
		items->failed = true;
		free(note);
		return;
	}
	gathered->notes = grown;
	grown[gathered->note_count++] = note;
}

static void add_result(struct items *items, size_t arm, const struct result *result, bool alone)
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

/* only: number + 1 of the result that counts, 0: all. */
static void add_output(struct gathered *gathered, struct items *items, size_t arm, const char *path,
        const struct output *output, size_t only)
{
	for (size_t i = 0; i < output->result_count; i++) {
		const struct result *result = &output->results[i];
		char *note;
		if (only != 0 && only != i + 1)
			continue;
		if (!result->incomplete && !result->invalid) {
			add_result(items, arm, result, output->result_count == 1 || only != 0);
			continue;
		}
		if (asprintf(&note, "%s: %s%s%s: %s", path, result->label,
		            *result->label != '\0' ? ": " : "",
		            result->incomplete ? "INCOMPLETE" : "invalid", result->why) < 0)
			note = NULL;
		add_note(gathered, items, note);
	}
}

static void fill_arm(struct arm_values *arm, const struct items *items, size_t number,
        const char *name, double *values)
{
	arm->summary = (struct stats_summary){ 0, NAN, NAN, NAN, NAN, NAN, NAN };
	for (size_t i = 0; i < items->count; i++) {
		const struct item *item = &items->rows[i];
		if (item->arm != number || strcmp(item->name, name) != 0)
			continue;
		if (item->summary != NULL)
			arm->summary = (struct stats_summary){ item->summary->n,
				item->summary->mean, item->summary->stddev, item->summary->min,
				item->summary->max, item->summary->median, item->summary->median };
		for (size_t k = 0; k < item->count; k++)
			values[arm->n++] = item->values[k];
	}
	if (arm->n > 0) {
		arm->values = values;
		arm->summary = stats_describe((struct stats_values){ values, arm->n });
	} else {
		arm->n = arm->summary.n;
		free(values);
	}
}

static size_t value_count(const struct items *items, const char *name)
{
	size_t count = 0;
	for (size_t i = 0; i < items->count; i++)
		if (strcmp(items->rows[i].name, name) == 0)
			count += items->rows[i].count;
	return count;
}

static bool has_value(const struct items *items, size_t arm, const char *name)
{
	for (size_t i = 0; i < items->count; i++)
		if (items->rows[i].arm == arm && strcmp(items->rows[i].name, name) == 0)
			return true;
	return false;
}

static bool is_known(const struct gathered *gathered, const char *name)
{
	for (size_t i = 0; i < gathered->count; i++)
		if (strcmp(gathered->metrics[i].name, name) == 0)
			return true;
	return false;
}

/* Adds the metric of an item of the first arm, where every arm has it. */
static void add_metric(struct gathered *gathered, struct items *items,
        const struct gather_arm *arms, size_t arm_count, const struct item *item)
{
	for (size_t i = 1; i < arm_count; i++) {
		char *note;
		if (has_value(items, i, item->name))
			continue;
		if (asprintf(&note, "%s: only %s has it, %s has not", item->name, arms[0].name,
		            arms[i].name) < 0)
			note = NULL;
		add_note(gathered, items, note);
		return;
	}
	struct metric_values metric = { .name = strdup(item->name),
		.unit = item->unit,
		.better = item->better,
		.arms = calloc(arm_count + 1, sizeof(*metric.arms)),
		.arm_count = arm_count };
	gathered->metrics[gathered->count++] = metric;
	items->failed |= metric.name == NULL || metric.arms == NULL;
	for (size_t i = 0; i < arm_count && !items->failed; i++) {
		double *values = calloc(value_count(items, item->name) + 1, sizeof(*values));
		items->failed |= values == NULL;
		metric.arms[i].name = arms[i].name;
		if (values != NULL)
			fill_arm(&metric.arms[i], items, i, item->name, values);
	}
}

/* How fit a metric is to be the primary one: a throughput, then what was measured several times,
 * then anything but a count of errors. */
static int fitness(const struct metric_values *metric)
{
	if (strcmp(metric->name, "throughput") == 0)
		return 3;
	if (metric->arms[0].n > 1)
		return 2;
	return strcmp(metric->name, "errors") != 0;
}

static void put_primary_first(struct gathered *gathered)
{
	size_t best = 0;
	for (size_t i = 1; i < gathered->count; i++)
		if (fitness(&gathered->metrics[i]) > fitness(&gathered->metrics[best]))
			best = i;
	if (best == 0)
		return;
	struct metric_values first = gathered->metrics[best];
	memmove(&gathered->metrics[1], &gathered->metrics[0], best * sizeof(first));
	gathered->metrics[0] = first;
}

struct gathered *gather(const struct gather_arm *arms, size_t count)
{
	struct items items = { 0 };
	struct gathered *gathered = calloc(1, sizeof(*gathered));
	if (gathered == NULL)
		return NULL;
	for (size_t arm = 0; arm < count; arm++)
		for (size_t i = 0; i < arms[arm].count; i++)
			add_output(gathered, &items, arm, arms[arm].paths[i], arms[arm].outputs[i],
			        arms[arm].result);
	gathered->metrics = calloc(items.count + 1, sizeof(*gathered->metrics));
	items.failed |= gathered->metrics == NULL;
	for (size_t i = 0; i < items.count && !items.failed; i++)
		if (items.rows[i].arm == 0 && !is_known(gathered, items.rows[i].name))
			add_metric(gathered, &items, arms, count, &items.rows[i]);
	if (!items.failed)
		put_primary_first(gathered);
	for (size_t i = 0; i < items.count; i++)
		free(items.rows[i].name);
	free(items.rows);
	if (!items.failed)
		return gathered;
	gathered_free(gathered);
	return NULL;
}

void gathered_free(struct gathered *gathered)
{
	if (gathered == NULL)
		return;
	for (size_t i = 0; i < gathered->count; i++) {
		struct metric_values *metric = &gathered->metrics[i];
		for (size_t k = 0; k < metric->arm_count && metric->arms != NULL; k++)
			free((double *)metric->arms[k].values);
		free(metric->arms);
		free((char *)metric->name);
	}
	for (size_t i = 0; i < gathered->note_count; i++)
		free(gathered->notes[i]);
	free(gathered->metrics);
	free(gathered->notes);
	free(gathered);
}
