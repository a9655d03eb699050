/*
 * The JSON of `abshim report`: the totals of each family of locks, which say why an arm is faster.
 */
#include <string.h>

#include "document.h"

static int abshim_recognise(const char *text, size_t size)
{
	return document_has(text, size, "\"version\":") &&
	                       document_has(text, size, "\"process\":") &&
	                       document_has(text, size, "\"executable\":")
	               ? 95
	               : 0;
}

/* "wait_ns_total" becomes "mutex.wait_total", in seconds. */
static bool take_counter(struct result *result, const char *family, const char *counter,
        double value, char why[WHY_SIZE])
{
	char name[NAME_SIZE];
	const char *ns = strstr(counter, "_ns_");
	if (ns == NULL)
		snprintf(name, sizeof(name), "%.40s.%.60s", family, counter);
	else
		snprintf(name, sizeof(name), "%.40s.%.*s_%.40s", family,
		        (int)(ns - counter < 40 ? ns - counter : 40), counter, ns + 4);
	return figure_add(result, name, ns == NULL ? value : value * 1e-9,
	        ns == NULL ? UNIT_COUNT : UNIT_SECONDS, 0, why);
}

static bool take_totals(struct result *result, json_t *totals, char why[WHY_SIZE])
{
	const char *family, *counter;
	json_t *counters, *value;
	json_object_foreach(totals, family, counters)
	{
		json_object_foreach(counters, counter, value)
		{
			if (json_is_array(value))
				continue; /* the histogram */
			if (!json_is_integer(value)) {
				why_set(why,
				        "1: totals.%.40s.%.40s is no integer; a count is needed",
				        family, counter);
				return false;
			}
			if (!take_counter(result, family, counter,
			            (double)json_integer_value(value), why))
				return false;
		}
	}
	return true;
}

static bool abshim_whole(struct output *output, const char *text, size_t size, char why[WHY_SIZE])
{
	bool cut;
	double seconds;
	json_t *root = document_load(output, text, size, &cut, why);
	if (root == NULL)
		return cut;
	json_t *totals = json_object_get(root, "totals");
	const json_t *process = json_object_get(root, "process");
	bool good = json_is_object(totals) && json_is_object(process);
	if (!good)
		why_set(why, "1: no totals or no process; a report of abshim has both");
	good = good && state_result(output, document_text(process, "name"), why) &&
	       document_number(process, "duration_ns", "process", 1e-9, &seconds, why) &&
	       figure_add(output_last(output), "runtime", seconds, UNIT_SECONDS, 0, why) &&
	       take_totals(output_last(output), totals, why);
	json_decref(root);
	return good;
}

const struct parser abshim_parser = {
	.name = "abshim",
	.title = "the JSON of abshim report",
	.recognise = abshim_recognise,
	.whole = abshim_whole,
};
