/*
 * Finds metrics by the names that tools give them.
 */
#include "compare_metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "text.h"

#define NAMED_MOST 8 /* of the metrics there are, in a message */

/* What names a metric whatever its tool calls the middle of all values: the length of what stands
 * before "p50" or "median", else of all. */
static size_t stem(const char *name)
{
	static const char *const middles[] = { "p50", "median" };
	size_t length = strlen(name);
	for (size_t i = 0; i < 2; i++) {
		size_t tail = strlen(middles[i]);
		if (length >= tail && strcmp(name + length - tail, middles[i]) == 0 &&
		        (length == tail || name[length - tail - 1] == '.'))
			return length - tail;
	}
	return length;
}

static bool same_metric(const char *name, const char *other)
{
	size_t length = stem(name);
	if (strcmp(name, other) == 0)
		return true;
	return name[length] != '\0' && length == stem(other) && other[length] != '\0' &&
	       memcmp(name, other, length) == 0;
}

/* Whether every arm has a value: one of an experiment that has just begun may have none. */
static bool is_complete(const struct metric_values *metric)
{
	for (size_t i = 0; i < metric->arm_count; i++)
		if (metric->arms[i].summary.n == 0)
			return false;
	return true;
}

static bool any_complete(const struct metric_values *metrics, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_complete(&metrics[i]))
			return true;
	return false;
}

/* Its place, or count when there is none. The very name goes before another one for the same. */
static size_t find(const struct metric_values *metrics, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(metrics[i].name, name) == 0 && is_complete(&metrics[i]))
			return i;
	for (size_t i = 0; i < count; i++)
		if (same_metric(metrics[i].name, name) && is_complete(&metrics[i]))
			return i;
	return count;
}

static void say_missing(const struct metric_values *metrics, size_t count, const char *name)
{
	char names[WHY_SIZE] = "";
	size_t used = 0;
	size_t named = 0;
	for (size_t i = 0; i < count && used < sizeof(names); i++) {
		if (!is_complete(&metrics[i]) || named++ >= NAMED_MOST)
			continue;
		int more = snprintf(names + used, sizeof(names) - used, "%s%.60s",
		        used > 0 ? ", " : "", metrics[i].name);
		used += more > 0 ? (size_t)more : 0;
	}
	message("compare: --metric %s: not in all arms; there are: %s%s", name, names,
	        named > NAMED_MOST ? " and others (--metric list)" : "");
}

struct metric_values *compare_choose(const struct metric_values *metrics, size_t count,
        const struct compare_options *options, size_t *chosen)
{
	size_t wanted = options->metric_count > 0 ? options->metric_count : count;
	struct metric_values *to = calloc(wanted + 1, sizeof(*to));
	*chosen = 0;
	if (to == NULL) {
		message("compare: no memory");
		return NULL;
	}
	if (!any_complete(metrics, count))
		return to;
	for (size_t i = 0; i < wanted; i++) {
		size_t at = i, before = 0;
		if (options->metric_count > 0)
			at = find(metrics, count, options->metrics[i]);
		if (at == count) {
			say_missing(metrics, count, options->metrics[i]);
			free(to);
			return NULL;
		}
		while (before < *chosen && to[before].name != metrics[at].name)
			before++;
		if (before == *chosen && is_complete(&metrics[at]))
			to[(*chosen)++] = metrics[at];
	}
	return to;
}

bool compare_lists(const struct compare_options *options)
{
	for (size_t i = 0; i < options->metric_count; i++)
		if (strcmp(options->metrics[i], "list") == 0)
			return true;
	return false;
}

void compare_list(const struct metric_values *metrics, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		text_escape(stdout, metrics[i].name);
		putchar('\n');
	}
}
