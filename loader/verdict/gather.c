/*
 * Collects metrics by name over the files of each arm.
 */
#include "gather_items.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_MOST 5 /* of the metrics that an arm lacks */
#define NAME_MOST  60
#define NAMES_SIZE (NAMED_MOST * (NAME_MOST + 2) + 1)

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
			items_add_result(
			        items, arm, result, output->result_count == 1 || only != 0);
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

/* Says of each arm what it lacks and another one has. */
static void note_missing(struct gathered *gathered, struct items *items,
        const struct gather_arm *arms, size_t arm_count)
{
	for (size_t arm = 0; arm < arm_count; arm++) {
		char names[NAMES_SIZE] = "", *note;
		size_t missing = 0, used = 0;
		for (size_t i = 0; i < items->name_count; i++) {
			const char *name = items->names[i]->name;
			if (items_has(items, arm, name))
				continue;
			if (missing++ < NAMED_MOST)
				used += (size_t)snprintf(names + used, sizeof(names) - used,
				        "%s%.*s", used > 0 ? ", " : "", NAME_MOST, name);
		}
		if (missing == 0)
			continue;
		if (asprintf(&note, "left out, since %s lacks it: %s%s", arms[arm].name, names,
		            missing > NAMED_MOST ? " and others" : "") < 0)
			note = NULL;
		add_note(gathered, items, note);
	}
}

static bool is_everywhere(const struct items *items, size_t arm_count, const char *name)
{
	for (size_t i = 0; i < arm_count; i++)
		if (!items_has(items, i, name))
			return false;
	return true;
}

/* Adds the metric of an item that every arm has, unless its figures cannot be one metric. */
static void add_metric(struct gathered *gathered, struct items *items,
        const struct gather_arm *arms, size_t arm_count, const struct item *item)
{
	const char *clash = items_find_clash(items, item->name);
	if (clash != NULL) {
		char *note;
		if (asprintf(&note, "left out: %s %s", item->name, clash) < 0)
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
		double *values = calloc(items_value_count(items, item->name) + 1, sizeof(*values));
		items->failed |= values == NULL;
		metric.arms[i].name = arms[i].name;
		if (values != NULL)
			fill_arm(&metric.arms[i], items, i, item->name, values);
	}
}

static bool ends_in(const char *name, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);
	return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* How fit a metric is to be the primary one: a throughput, then that of a part such as
 * set.throughput, then what was measured several times, then anything but a count of errors. */
static int fitness(const struct metric_values *metric)
{
	if (strcmp(metric->name, "throughput") == 0)
		return 4;
	if (ends_in(metric->name, ".throughput"))
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

/* Figures of the same name need not be the same thing with another tool. */
static void note_tools(struct gathered *gathered, struct items *items,
        const struct gather_arm *arms, size_t arm_count)
{
	const struct output *first = arm_count > 0 && arms[0].count > 0 ? arms[0].outputs[0] : NULL;
	for (size_t arm = 0; arm < arm_count; arm++)
		for (size_t i = 0; i < arms[arm].count; i++) {
			const struct output *output = arms[arm].outputs[i];
			char *note;
			if (output->parser == first->parser)
				continue;
			if (asprintf(&note, "%s is output of another tool than %s: %s, not %s",
			            arms[arm].paths[i], arms[0].paths[0], output->parser->title,
			            first->parser->title) < 0)
				note = NULL;
			add_note(gathered, items, note);
			return;
		}
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
	note_tools(gathered, &items, arms, count);
	items_find_names(&items);
	if (!items.failed)
		note_missing(gathered, &items, arms, count);
	gathered->metrics = calloc(items.name_count + 1, sizeof(*gathered->metrics));
	items.failed |= gathered->metrics == NULL;
	for (size_t i = 0; i < items.name_count && !items.failed; i++)
		if (is_everywhere(&items, count, items.names[i]->name))
			add_metric(gathered, &items, arms, count, items.names[i]);
	if (!items.failed)
		put_primary_first(gathered);
	items_free(&items);
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
