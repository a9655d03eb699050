/*
 * The results of an output: how parsers fill them, and how they are looked up.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

/* No tool prints as many; damaged input must not make a search of names take for ever. */
#define MAX_NAMES   4096
#define MAX_RESULTS 4096

/* Makes room for one more element; false: no memory. */
static bool grow(void **array, size_t count, size_t size)
{
	if (count != 0 && (count & (count - 1)) != 0)
		return true;
	void *grown = reallocarray(*array, count == 0 ? 1 : 2 * count, size);
	if (grown == NULL)
		return false;
	*array = grown;
	return true;
}

static bool has_room(void **array, size_t count, size_t size, size_t limit)
{
	if (count < limit)
		return grow(array, count, size);
	errno = E2BIG;
	return false;
}

struct result *output_add_result(struct output *output, const char *label)
{
	char *copy = strdup(label);
	if (copy == NULL || !has_room((void **)&output->results, output->result_count,
	                            sizeof(*output->results), MAX_RESULTS)) {
		free(copy);
		return NULL;
	}
	struct result *result = &output->results[output->result_count++];
	*result = (struct result){ .label = copy };
	return result;
}

struct result *output_last(const struct output *output)
{
	return output->result_count > 0 ? &output->results[output->result_count - 1] : NULL;
}

static const struct metric *find_metric(const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->metric_count; i++)
		if (strcmp(result->metrics[i].name, name) == 0)
			return &result->metrics[i];
	return NULL;
}

const struct metric *result_metric(const struct result *result, const char *name)
{
	static const char *const same[][2] = { { "p50", "median" }, { "median", "p50" } };
	const struct metric *metric = find_metric(result, name);
	for (size_t i = 0; i < 2 && metric == NULL; i++) {
		size_t length = strlen(name), tail = strlen(same[i][0]);
		char other[256];
		if (length < tail || strcmp(name + length - tail, same[i][0]) != 0 ||
		        length > sizeof(other) / 2)
			continue;
		memcpy(other, name, length - tail);
		strcpy(other + length - tail, same[i][1]);
		metric = find_metric(result, other);
	}
	return metric;
}

bool result_add(struct result *result, const char *name, double value, enum metric_unit unit,
        enum metric_better better, unsigned flags)
{
	if (find_metric(result, name) != NULL) {
		errno = EEXIST;
		return false;
	}
	char *copy = strdup(name);
	if (copy == NULL || !has_room((void **)&result->metrics, result->metric_count,
	                            sizeof(*result->metrics), MAX_NAMES)) {
		free(copy);
		return false;
	}
	result->metrics[result->metric_count++] =
	        (struct metric){ copy, value, unit, better, flags };
	return true;
}

static struct series *series_of(
        struct result *result, const char *name, enum metric_unit unit, enum metric_better better)
{
	for (size_t i = 0; i < result->series_count; i++)
		if (strcmp(result->series[i].name, name) == 0)
			return &result->series[i];
	char *copy = strdup(name);
	if (copy == NULL || !has_room((void **)&result->series, result->series_count,
	                            sizeof(*result->series), MAX_NAMES)) {
		free(copy);
		return NULL;
	}
	struct series *series = &result->series[result->series_count++];
	*series = (struct series){ .name = copy, .unit = unit, .better = better };
	return series;
}

bool result_add_value(struct result *result, const char *name, double value, enum metric_unit unit,
        enum metric_better better)
{
	struct series *series = series_of(result, name, unit, better);
	if (series == NULL || !grow((void **)&series->values, series->count, sizeof(double)))
		return false;
	series->values[series->count++] = value;
	return true;
}

struct summary *result_add_summary(struct result *result, const char *name, size_t n)
{
	char *copy = strdup(name);
	if (copy == NULL || !has_room((void **)&result->summaries, result->summary_count,
	                            sizeof(*result->summaries), MAX_NAMES)) {
		free(copy);
		return NULL;
	}
	struct summary *summary = &result->summaries[result->summary_count++];
	*summary = (struct summary){ copy, n, NAN, NAN, NAN, NAN, NAN, UNIT_NONE, BETTER_UNKNOWN };
	return summary;
}

/* The first reason stays. */
static void set_why(struct result *result, const char *format, va_list arguments)
{
	if (result->why[0] == '\0')
		vsnprintf(result->why, sizeof(result->why), format, arguments);
}

void result_set_incomplete(struct result *result, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	set_why(result, format, arguments);
	va_end(arguments);
	result->incomplete = true;
}

void result_set_invalid(struct result *result, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	set_why(result, format, arguments);
	va_end(arguments);
	result->invalid = true;
}

static void free_result(struct result *result)
{
	for (size_t i = 0; i < result->metric_count; i++)
		free(result->metrics[i].name);
	for (size_t i = 0; i < result->series_count; i++) {
		free(result->series[i].name);
		free(result->series[i].values);
	}
	for (size_t i = 0; i < result->summary_count; i++)
		free(result->summaries[i].name);
	free(result->label);
	free(result->metrics);
	free(result->series);
	free(result->summaries);
}

void output_free(struct output *output)
{
	if (output == NULL)
		return;
	for (size_t i = 0; i < output->result_count; i++)
		free_result(&output->results[i]);
	free(output->results);
	free(output);
}
