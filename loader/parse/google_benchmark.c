/*
 * Google Benchmark's JSON. The repetitions of a benchmark are values of one series; the aggregates
 * of the same repetitions count only where these are not written.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"

static int google_recognise(const char *text, size_t size)
{
	return document_has(text, size, "\"context\"") &&
	                       (document_has(text, size, "\"library_build_type\"") ||
	                               document_has(text, size, "\"num_cpus\""))
	               ? 95
	               : 0;
}

/* The kind of aggregate, NULL for a repetition. Before 1.5 only the name tells. */
static const char *aggregate_of(const json_t *row)
{
	static const char *const kinds[] = { "_mean", "_median", "_stddev", "_cv", "_BigO",
		"_RMS" };
	const char *type = document_text(row, "run_type"), *name = document_text(row, "name");
	if (strcmp(type, "aggregate") == 0)
		return document_text(row, "aggregate_name");
	size_t length = strlen(name);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && *type == '\0'; i++) {
		size_t tail = strlen(kinds[i]);
		if (length > tail && strcmp(name + length - tail, kinds[i]) == 0)
			return kinds[i] + 1;
	}
	return NULL;
}

/* The result of a row's benchmark, added where it is missing. */
static struct result *result_of(struct output *output, const json_t *row, char why[WHY_SIZE])
{
	const char *run = document_text(row, "run_name"), *kind = aggregate_of(row);
	const char *name = document_text(row, "name");
	char *label = *run != '\0' || kind == NULL ? strdup(*run != '\0' ? run : name)
	                                           : strndup(name, strlen(name) - strlen(kind) - 1);
	struct result *found = NULL;
	for (size_t i = 0; label != NULL && i < output->result_count; i++)
		if (strcmp(output->results[i].label, label) == 0)
			found = &output->results[i];
	if (label == NULL)
		why_set(why, "1: no memory");
	else if (found == NULL && state_result(output, label, why))
		found = output_last(output);
	free(label);
	return found;
}

static bool time_unit(const json_t *row, double *scale, char why[WHY_SIZE])
{
	char text[16];
	const char *unit = document_text(row, "time_unit");
	snprintf(text, sizeof(text), "1%s", *unit != '\0' ? unit : "ns");
	if (parse_time(text, 0, scale))
		return true;
	why_set(why, "1: time_unit '%.20s'; ns, us, ms or s is needed", unit);
	return false;
}

static bool take_repetition(struct output *output, const json_t *row, char why[WHY_SIZE])
{
	static const struct figure figures[] = {
		{ "real_time", "runtime", UNIT_SECONDS, 0 },
		{ "cpu_time", "cpu_time", UNIT_SECONDS, 0 },
		{ "items_per_second", "throughput", UNIT_RATE, 1 },
		{ "bytes_per_second", "bandwidth", UNIT_BYTE_RATE, 1 },
	};
	struct result *result = result_of(output, row, why);
	double scale = 1;
	if (result == NULL || !time_unit(row, &scale, why))
		return false;
	if (json_is_true(json_object_get(row, "error_occurred"))) {
		result_set_invalid(result, "%s", document_text(row, "error_message"));
		return figure_errors(result, 1, why);
	}
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		double value;
		if (!document_number(row, figures[i].label, result->label,
		            figures[i].scale == 0 ? scale : 1, &value, why) ||
		        !document_value(result, figures[i].name, value, figures[i].unit, why))
			return false;
	}
	return true;
}

static struct summary *summary_of(struct result *result, const char *name, size_t n)
{
	for (size_t i = 0; i < result->summary_count; i++)
		if (strcmp(result->summaries[i].name, name) == 0)
			return &result->summaries[i];
	struct summary *summary = result_add_summary(result, name, n);
	if (summary != NULL) {
		summary->unit = UNIT_SECONDS;
		summary->better = BETTER_LESS;
	}
	return summary;
}

static bool take_aggregate(
        struct output *output, const json_t *row, const char *kind, char why[WHY_SIZE])
{
	static const char *const times[][2] = { { "real_time", "runtime" },
		{ "cpu_time", "cpu_time" } };
	struct result *result = result_of(output, row, why);
	double scale, n;
	if (result == NULL || !time_unit(row, &scale, why) ||
	        !document_number(row, "iterations", result->label, 1, &n, why))
		return false;
	bool known = strcmp(kind, "mean") == 0 || strcmp(kind, "median") == 0 ||
	             strcmp(kind, "stddev") == 0;
	if (result->series_count > 0 || result->invalid || !known)
		return true;
	for (size_t i = 0; i < 2; i++) {
		double value;
		struct summary *summary =
		        summary_of(result, times[i][1], n >= 1 && n < 1e9 ? (size_t)n : 1);
		if (summary == NULL ||
		        !document_number(row, times[i][0], result->label, scale, &value, why))
			return false;
		*(kind[0] == 's'                    ? &summary->stddev
		        : strcmp(kind, "mean") == 0 ? &summary->mean
		                                    : &summary->median) = value;
	}
	return true;
}

static bool google_whole(struct output *output, const char *text, size_t size, char why[WHY_SIZE])
{
	bool cut;
	json_t *root = document_load(output, text, size, &cut, why), *row;
	if (root == NULL)
		return cut;
	const json_t *rows = json_object_get(root, "benchmarks");
	bool good = json_array_size(rows) > 0;
	size_t i;
	if (!good)
		why_set(why, "1: no benchmarks; \"benchmarks\": [...] is needed");
	json_array_foreach(rows, i, row) good =
	        good && (aggregate_of(row) != NULL || take_repetition(output, row, why));
	json_array_foreach(rows, i, row)
	{
		const char *kind = aggregate_of(row);
		good = good && (kind == NULL || take_aggregate(output, row, kind, why));
	}
	json_decref(root);
	return good;
}

const struct parser google_benchmark_parser = {
	.name = "google-benchmark",
	.title = "Google Benchmark's JSON",
	.recognise = google_recognise,
	.whole = google_whole,
};
