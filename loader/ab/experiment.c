/*
 * From the lines of runs to the values of each metric and arm.
 */
#include "experiment.h"

#include <stdlib.h>
#include <string.h>

#include "conduct.h"
#include "journal.h"
#include "notes.h"
#include "sequential.h"

#define COUNTERS "shim."

/* A counter that a run does not list is 0. False: the run has no such metric. */
static bool value_of(const struct run *run, const char *name, double *value)
{
	const struct run_metric *metric = run_metric(run, name);
	if (metric == NULL && strncmp(name, COUNTERS, strlen(COUNTERS)) != 0)
		return false;
	*value = metric != NULL ? metric->value : 0;
	return true;
}

static bool all_have(const struct experiment *experiment, const char *name)
{
	double value;
	for (size_t i = 0; i < experiment->run_count; i++)
		if (run_counts(&experiment->runs[i]) &&
		        !value_of(&experiment->runs[i], name, &value))
			return false;
	return true;
}

static bool is_known(const struct experiment_values *values, const char *name)
{
	for (size_t i = 0; i < values->count; i++)
		if (strcmp(values->metrics[i].name, name) == 0)
			return true;
	return false;
}

static bool fill_arm(struct arm_values *arm, const struct experiment *experiment, unsigned number,
        const char *name)
{
	double *values = calloc(experiment->run_count + 1, sizeof(*values));
	unsigned *blocks = calloc(experiment->run_count + 1, sizeof(*blocks));
	unsigned *positions = calloc(experiment->run_count + 1, sizeof(*positions));
	arm->values = values;
	arm->blocks = blocks;
	arm->positions = positions;
	if (values == NULL || blocks == NULL || positions == NULL)
		return false;
	for (size_t i = 0; i < experiment->run_count; i++) {
		const struct run *run = &experiment->runs[i];
		if (!run_counts(run) || run->arm != number || !value_of(run, name, &values[arm->n]))
			continue;
		blocks[arm->n] = run->block;
		positions[arm->n++] = run->number;
	}
	arm->summary = stats_describe((struct stats_values){ values, arm->n });
	return true;
}

/* The shape of a metric is that of the first run that has it. */
static const struct run_metric *find_shape(const struct experiment *experiment, const char *name)
{
	const struct run_metric *shape = NULL;
	for (size_t i = 0; i < experiment->run_count && shape == NULL; i++)
		if (run_counts(&experiment->runs[i]))
			shape = run_metric(&experiment->runs[i], name);
	return shape;
}

/* Adds the metric where it is new and every run has it. False: no memory. */
static bool add_metric(
        struct experiment_values *values, const struct experiment *experiment, const char *name)
{
	const struct run_metric *shape = find_shape(experiment, name);
	const char *full = shape != NULL ? shape->name : name;
	if (is_known(values, full) || !all_have(experiment, full))
		return true;
	struct metric_values *grown =
	        realloc(values->metrics, (values->count + 1) * sizeof(*grown));
	if (grown == NULL)
		return false;
	values->metrics = grown;
	struct metric_values *metric = &grown[values->count++];
	*metric = (struct metric_values){ .name = strdup(full),
		.unit = shape != NULL ? shape->unit : UNIT_COUNT,
		.better = shape != NULL ? shape->better : BETTER_UNKNOWN,
		.arms = calloc(values->arm_count, sizeof(*metric->arms)) };
	if (metric->name == NULL || metric->arms == NULL)
		return false;
	metric->arm_count = values->arm_count;
	for (unsigned i = 0; i < values->arm_count; i++) {
		metric->arms[i].name = values->arms[i];
		if (!fill_arm(&metric->arms[i], experiment, i, full))
			return false;
	}
	return true;
}

/* Adds those of one run. previous (NULL: none) has been looked at: most names are the same. */
static bool add_run(struct experiment_values *values, const struct experiment *experiment,
        const struct run *run, const struct run *previous)
{
	bool done = true;
	for (size_t i = 0; i < run->metric_count && done; i++)
		if (previous == NULL || i >= previous->metric_count ||
		        strcmp(run->metrics[i].name, previous->metrics[i].name) != 0)
			done = add_metric(values, experiment, run->metrics[i].name);
	return done;
}

static bool add_metrics(struct experiment_values *values, const struct experiment *experiment)
{
	const struct texts *chosen = &experiment->design.metrics;
	const char *primary = sequential_metric(experiment);
	bool done = true;
	for (size_t i = 0; i < chosen->count && done; i++)
		done = add_metric(values, experiment, chosen->items[i]);
	if (chosen->count == 0 && primary != NULL)
		done = done && add_metric(values, experiment, primary);
	values->chosen = values->count;
	const struct run *previous = NULL;
	for (size_t i = 0; i < experiment->run_count && done; i++) {
		const struct run *run = &experiment->runs[i];
		if (!run_counts(run))
			continue;
		done = add_run(values, experiment, run, previous);
		previous = run;
	}
	return done;
}

/* Every arm has a value of each block but perhaps the last one. */
static unsigned complete_blocks(const struct experiment *experiment)
{
	unsigned size = design_block_size(&experiment->design), counted = 0;
	for (size_t i = 0; i < experiment->run_count; i++)
		counted += run_counts(&experiment->runs[i]);
	return counted / size;
}

static bool collect(struct experiment_values *values, const struct experiment *experiment)
{
	const struct arms *arms = &experiment->design.arms;
	struct texts notes = { NULL, 0 };
	values->arms = calloc(arms->count, sizeof(*values->arms));
	if (values->arms == NULL)
		return false;
	for (; values->arm_count < arms->count; values->arm_count++) {
		values->arms[values->arm_count] = strdup(arms->items[values->arm_count].name);
		if (values->arms[values->arm_count] == NULL)
			return false;
	}
	values->complete = complete_blocks(experiment);
	values->wanted = experiment->design.until > 0 ? 0 : experiment->design.runs;
	values->until = experiment->design.until;
	values->half_width = sequential_half_width(experiment);
	for (size_t i = 0; i < experiment->run_count; i++) {
		values->invalid += !experiment->runs[i].valid;
		values->warmups += experiment->runs[i].valid && experiment->runs[i].warmup;
	}
	bool done = add_metrics(values, experiment) && notes_collect(&notes, experiment, values);
	values->notes = notes.items;
	values->note_count = notes.count;
	return done;
}

struct experiment_values *experiment_load(const char *directory, char why[WHY_SIZE])
{
	struct experiment experiment;
	if (!journal_open(&experiment, directory, JOURNAL_READ, why))
		return NULL;
	struct experiment_values *values = calloc(1, sizeof(*values));
	bool done = values != NULL && collect(values, &experiment);
	journal_close(&experiment);
	if (done)
		return values;
	why_set(why, "no memory for the values of %.200s", directory);
	experiment_values_free(values);
	return NULL;
}

void experiment_values_free(struct experiment_values *values)
{
	if (values == NULL)
		return;
	for (size_t i = 0; i < values->count; i++) {
		struct metric_values *metric = &values->metrics[i];
		for (size_t k = 0; k < metric->arm_count; k++) {
			free((double *)metric->arms[k].values);
			free((unsigned *)metric->arms[k].blocks);
			free((unsigned *)metric->arms[k].positions);
		}
		free(metric->arms);
		free((char *)metric->name);
	}
	for (size_t i = 0; i < values->arm_count; i++)
		free(values->arms[i]);
	for (size_t i = 0; i < values->note_count; i++)
		free(values->notes[i]);
	free(values->metrics);
	free(values->arms);
	free(values->notes);
	free(values);
}
