/*
 * hyperfine's --export-json: a result for each command, with the time of each run.
 */
#include <math.h>

#include "document.h"

static int hyperfine_recognise(const char *text, size_t size)
{
	return document_has(text, size, "\"results\"") && document_has(text, size, "\"command\"")
	               ? 95
	               : 0;
}

static bool take_times(struct result *result, const json_t *times, char why[WHY_SIZE])
{
	size_t i;
	json_t *time;
	json_array_foreach(times, i, time)
	{
		if (!json_is_number(time)) {
			why_set(why, "1: times[%zu] of '%.60s' is no number; seconds are needed", i,
			        result->label);
			return false;
		}
		double seconds = json_number_value(time);
		if (!document_value(result, "runtime", seconds, UNIT_SECONDS, why))
			return false;
		if (!(seconds > 0))
			result_set_invalid(result,
			        "run %zu took no time after the shell's was taken off: too short "
			        "to be timed so",
			        i + 1);
	}
	return true;
}

/* null is a run that a signal ended. */
static bool take_exits(struct result *result, const json_t *exits, char why[WHY_SIZE])
{
	size_t i, failed = 0;
	json_t *exit;
	json_array_foreach(exits, i, exit) failed +=
	        !json_is_integer(exit) || json_integer_value(exit) != 0;
	if (failed > 0)
		result_set_invalid(result, "%zu of %zu runs failed by their exit codes", failed,
		        json_array_size(exits));
	return !json_is_array(exits) || figure_errors(result, (double)failed, why);
}

/* Older versions, or other writers, leave out the single times. */
static bool take_summary(struct result *result, const json_t *object, char why[WHY_SIZE])
{
	static const char *const keys[] = { "mean", "stddev", "median", "min", "max" };
	double values[5];
	for (size_t i = 0; i < 5; i++)
		if (!document_number(object, keys[i], result->label, 1, &values[i], why))
			return false;
	size_t n = json_array_size(json_object_get(object, "exit_codes"));
	struct summary *summary = n > 0 ? result_add_summary(result, "runtime", n) : NULL;
	if (summary == NULL || isnan(values[0])) {
		why_set(why, "1: '%.60s' has no times; \"times\" is needed", result->label);
		return false;
	}
	summary->mean = values[0];
	summary->stddev = values[1];
	summary->median = values[2];
	summary->min = values[3];
	summary->max = values[4];
	summary->unit = UNIT_SECONDS;
	summary->better = BETTER_LESS;
	return true;
}

static bool take_command(struct output *output, const json_t *object, char why[WHY_SIZE])
{
	static const char *const used[] = { "user", "system" };
	if (!state_result(output, document_text(object, "command"), why))
		return false;
	struct result *result = output_last(output);
	const json_t *times = json_object_get(object, "times");
	if (!take_exits(result, json_object_get(object, "exit_codes"), why))
		return false;
	for (size_t i = 0; i < 2; i++) {
		double seconds;
		if (!document_number(object, used[i], result->label, 1, &seconds, why) ||
		        !figure_add(result, used[i], seconds, UNIT_SECONDS, 0, why))
			return false;
	}
	return json_array_size(times) > 0 ? take_times(result, times, why)
	                                  : take_summary(result, object, why);
}

static bool hyperfine_whole(
        struct output *output, const char *text, size_t size, char why[WHY_SIZE])
{
	bool cut;
	json_t *root = document_load(output, text, size, &cut, why);
	if (root == NULL)
		return cut;
	size_t i;
	json_t *object;
	bool good = json_array_size(json_object_get(root, "results")) > 0;
	if (!good)
		why_set(why, "1: no results; \"results\": [...] is needed");
	json_array_foreach(json_object_get(root, "results"), i, object) good =
	        good && take_command(output, object, why);
	json_decref(root);
	return good;
}

const struct parser hyperfine_parser = {
	.name = "hyperfine",
	.title = "hyperfine --export-json",
	.recognise = hyperfine_recognise,
	.whole = hyperfine_whole,
};
