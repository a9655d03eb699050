/*
 * Checks shim.FAMILY.COUNTER before anything runs: a misspelt counter would be a 0 in every run.
 */
#include <stdio.h>
#include <string.h>

#include "probes/counters.h"
#include "records_atomics.h"

#define PREFIX "shim."

static bool is_counter(const struct counter_family *family, const char *name)
{
	for (size_t i = family->first; i < family->first + family->count; i++)
		if (strcmp(counter_table[i].name, name) == 0)
			return true;
	return false;
}

/* Names of all counters of a family, or of all families (NULL). */
static void list_names(char *text, size_t size, const struct counter_family *family)
{
	size_t length = 0, count = family != NULL ? family->count : (size_t)FAMILY_COUNT;
	*text = '\0';
	for (size_t i = 0; i < count && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? ", " : "",
		        family != NULL ? counter_table[family->first + i].name
		                       : counter_families[i].name);
}

static bool is_of_atomics(const char *name)
{
	for (size_t i = 0; i < RECORDS_ATOMICS_METRICS; i++)
		if (strcmp(records_atomics_metrics[i], name) == 0)
			return true;
	return false;
}

bool measure_check_counter(const char *metric, char why[WHY_SIZE])
{
	char names[WHY_SIZE - 128];
	const char *name = metric + strlen(PREFIX);
	if (strncmp(metric, PREFIX, strlen(PREFIX)) != 0 || strcmp(name, "threads_created") == 0)
		return true;
	if (strncmp(metric, RECORDS_ATOMICS, strlen(RECORDS_ATOMICS)) == 0 &&
	        is_of_atomics(metric + strlen(RECORDS_ATOMICS)))
		return true;
	for (size_t i = 0; i < FAMILY_COUNT; i++) {
		const struct counter_family *family = &counter_families[i];
		size_t length = strlen(family->name);
		if (strncmp(name, family->name, length) != 0 || name[length] != '.')
			continue;
		if (is_counter(family, name + length + 1))
			return true;
		list_names(names, sizeof(names), family);
		why_set(why, "--metric %.60s: %s has no such counter; it has %s", metric,
		        family->name, names);
		return false;
	}
	list_names(names, sizeof(names), NULL);
	why_set(why,
	        "--metric %.60s: must be shim.FAMILY.COUNTER, shim.threads_created "
	        "or " RECORDS_ATOMICS "switched, .helpers, .rewritten or .left; "
	        "families: %s",
	        metric, names);
	return false;
}
