/*
 * Writes the parts of an experiment's outcome that a comparison of files has not.
 */
#include "outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../json_members.h"
#include "../text.h"
#include "../verdict/ministat.h"
#include "../verdict/write.h"
#include "resolution.h"

#define LEVEL 0.95
#define ROWS  12 /* of other metrics */

/* One metric that was not chosen, of one arm against the first. */
struct other {
	const struct metric_values *metric;
	const struct arm_values *arm;
	struct stats_difference welch;
};

static int compare_p(const void *a, const void *b)
{
	double one = ((const struct other *)a)->welch.p, two = ((const struct other *)b)->welch.p;
	return (one > two) - (one < two);
}

/* All of them that have a p value, the smallest first; the caller's to free. NULL: no memory. */
static struct other *collect_others(const struct experiment_values *values, size_t *count)
{
	struct other *others = calloc(values->count * values->arm_count + 1, sizeof(*others));
	*count = 0;
	for (size_t i = values->chosen; i < values->count && others != NULL; i++)
		for (size_t k = 1; k < values->arm_count; k++) {
			const struct metric_values *metric = &values->metrics[i];
			struct stats_difference welch = stats_welch(
			        &metric->arms[0].summary, &metric->arms[k].summary, LEVEL);
			if (!isnan(welch.p))
				others[(*count)++] =
				        (struct other){ metric, &metric->arms[k], welch };
		}
	if (others != NULL)
		qsort(others, *count, sizeof(*others), compare_p);
	return others;
}

static void write_others(FILE *out, const struct experiment_values *values)
{
	size_t count, shown = 0;
	struct other *others = collect_others(values, &count);
	for (size_t i = 0; i < count && others != NULL && shown < ROWS; i++) {
		const struct other *other = &others[i];
		/* Many are looked at. */
		if (!(other->welch.p < (1 - LEVEL) / (double)count))
			break;
		if (shown++ == 0)
			fprintf(out,
			        "\nAlso different (not asked for, so no verdict):\n"
			        "  %-34s %-8s %14s %14s %10s\n",
			        "", "arm", values->arms[0], "arm's", "change");
		fprintf(out, "  %-34s %-8s %14.6g %14.6g", other->metric->name, other->arm->name,
		        other->metric->arms[0].summary.mean, other->arm->summary.mean);
		if (!isnan(other->welch.relative))
			fprintf(out, " %+8.1f %%", other->welch.relative * 100);
		fputc('\n', out);
	}
	free(others);
}

static const struct metric_values *find_per_operation(const struct experiment_values *values)
{
	for (size_t i = values->chosen; i < values->count; i++)
		if (strcmp(values->metrics[i].name, "server.cpu_per_operation") == 0 ||
		        strcmp(values->metrics[i].name, "client.cpu_per_operation") == 0)
			return &values->metrics[i];
	return NULL;
}

/* What the same work cost each arm, whatever became of the time. */
static void write_per_operation(FILE *out, const struct experiment_values *values)
{
	const struct metric_values *metric = find_per_operation(values);
	if (metric == NULL)
		return;
	fprintf(out, "\nCPU seconds for each operation (%s, not asked for, so no verdict)\n",
	        metric->name);
	for (size_t i = 0; i < metric->arm_count; i++) {
		const struct arm_values *arm = &metric->arms[i];
		struct stats_difference welch =
		        stats_welch(&metric->arms[0].summary, &arm->summary, LEVEL);
		fprintf(out, "  %-8s %.4g", arm->name, arm->summary.mean);
		if (i > 0 && !isnan(welch.relative))
			fprintf(out, ", %+.2f %%", welch.relative * 100);
		if (i > 0 && !isnan(welch.relative_low))
			fprintf(out, " (95 %%: %+.2f to %+.2f %%)", welch.relative_low * 100,
			        welch.relative_high * 100);
		fputc('\n', out);
	}
}

static void write_resolution(FILE *out, const struct experiment_values *values)
{
	struct resolution resolution;
	if (values->chosen == 0 || !resolution_of(&values->metrics[0], &resolution))
		return;
	fputs("\nWhat it could resolve in ", out);
	text_escape(out, values->metrics[0].name);
	fprintf(out,
	        ", %zu runs of an arm differing by %.2g %% among themselves\n"
	        "  two equal arms (A/A) come out up to %.2g %% apart, 95 times in 100: less is not "
	        "shown\n"
	        "  a difference of %.2g %% is found 4 times in 5; abshim plan says what smaller "
	        "ones "
	        "need\n",
	        resolution.n, resolution.spread * 100, resolution.chance * 100,
	        resolution.found * 100);
}

static void write_state(FILE *out, const struct experiment_values *values)
{
	bool part = values->complete < values->wanted;
	fprintf(out, "\n%s%u", part ? "Not complete: " : "", values->complete);
	if (values->wanted > 0)
		fprintf(out, " of %u", values->wanted);
	fprintf(out, " runs of each arm; left out: %u for warming up, %u invalid\n",
	        values->warmups, values->invalid);
}

void outcome_write_text(FILE *out, const struct experiment_values *values)
{
	write_per_operation(out, values);
	write_resolution(out, values);
	write_others(out, values);
	write_state(out, values);
	for (size_t i = 0; i < values->note_count; i++) {
		fputs("note: ", out);
		text_escape(out, values->notes[i]);
		fputc('\n', out);
	}
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* What --until came to; null without it. */
static json_t *until_json(const struct experiment_values *values)
{
	if (!(values->until > 0))
		return json_null();
	return json_pack("{s:f, s:o, s:b}", "wanted", values->until, "half_width",
	        number(values->half_width), "reached", values->half_width <= values->until);
}

/* Null where the runs are too few. */
static json_t *resolution_json(const struct experiment_values *values)
{
	struct resolution resolution;
	if (values->chosen == 0 || !resolution_of(&values->metrics[0], &resolution))
		return json_null();
	return json_pack("{s:I, s:o, s:o, s:o}", "runs", (json_int_t)resolution.n, "spread",
	        number(resolution.spread), "chance", number(resolution.chance), "found",
	        number(resolution.found));
}

void outcome_add_json(json_t *object, const struct experiment_values *values)
{
	size_t count = 0;
	struct other *others = collect_others(values, &count);
	json_t *rows = json_array(), *notes = json_array();
	for (size_t i = 0; i < count && others != NULL; i++)
		json_array_append_new(rows,
		        json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "name", others[i].metric->name,
		                "arm", others[i].arm->name, "reference_mean",
		                number(others[i].metric->arms[0].summary.mean), "mean",
		                number(others[i].arm->summary.mean), "relative",
		                number(others[i].welch.relative), "p", number(others[i].welch.p)));
	free(others);
	for (size_t i = 0; i < values->note_count; i++) {
		char *valid = text_valid_utf8(values->notes[i]);
		json_array_append_new(notes, json_string(valid != NULL ? valid : ""));
		free(valid);
	}
	json_object_set_new(object, "experiment",
	        json_pack("{s:I, s:o, s:I, s:I}", "runs", (json_int_t)values->complete, "wanted",
	                values->wanted > 0 ? json_integer(values->wanted) : json_null(), "warmups",
	                (json_int_t)values->warmups, "invalid", (json_int_t)values->invalid));
	json_object_set_new(object, "until", until_json(values));
	json_object_set_new(object, "resolution", resolution_json(values));
	json_object_set_new(object, "others", rows);
	json_object_set_new(object, "notes", notes);
}

static bool is_single(const struct evaluation *evaluation)
{
	const struct metric_values *primary =
	        evaluation->metric_count > 0 ? evaluation->metrics[0].values : NULL;
	for (size_t i = 0; primary != NULL && i < primary->arm_count; i++)
		if (primary->arms[i].n != 1)
			return false;
	return primary != NULL;
}

/* Prints the evaluation of the chosen metrics, of which there may be none yet. */
static int write_all(
        const struct experiment_values *values, const struct evaluation *evaluation, bool json)
{
	static const struct verdict_style style = { .plot = true, .width = MINISTAT_WIDTH };
	if (!json) {
		if (evaluation->metric_count > 0)
			verdict_write_text(stdout, evaluation, &style);
		if (is_single(evaluation))
			puts("\nOne run an arm: no significance can be claimed.");
		outcome_write_text(stdout, values);
	} else {
		json_t *object = verdict_json(evaluation);
		if (object == NULL)
			return EXIT_OWN_FAILURE;
		outcome_add_json(object, values);
		json_dumpf(object, stdout, JSON_INDENT(2));
		fputc('\n', stdout);
		json_decref(object);
	}
	return fflush(stdout) == 0 ? 0 : EXIT_OWN_FAILURE;
}

/* Whether every arm has a value: without, there is nothing to evaluate. */
static bool has_values(const struct experiment_values *values)
{
	for (size_t i = 0; i < values->arm_count && values->chosen > 0; i++)
		if (values->metrics[0].arms[i].n == 0)
			return false;
	return values->chosen > 0;
}

int outcome_print(const char *directory, bool json)
{
	char why[WHY_SIZE];
	const struct evaluate_options options = EVALUATE_DEFAULTS;
	struct experiment_values *values = experiment_load(directory, why);
	if (values == NULL) {
		message("ab: %s", why);
		return EXIT_OWN_FAILURE;
	}
	struct evaluation *evaluation =
	        evaluate(values->metrics, has_values(values) ? values->chosen : 0, &options);
	int status = EXIT_OWN_FAILURE;
	if (evaluation != NULL)
		status = write_all(values, evaluation, json);
	if (status != 0)
		message("ab: the verdict cannot be written");
	evaluation_free(evaluation);
	experiment_values_free(values);
	return status;
}
