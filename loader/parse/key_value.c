/*
 * "key=value" lines, one or more pairs a line, for programs without a format of their own. A key
 * that comes again is a series of values, a run each; '#' begins a comment.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct pairs {
	struct output *output; /* of state_new() */
};

static size_t key_length(const char *text)
{
	size_t length = 0;
	if (!isalpha((unsigned char)*text) && *text != '_')
		return 0;
	while (isalnum((unsigned char)text[length]) ||
	        (text[length] != '\0' && strchr("_.%/-", text[length])))
		length++;
	return text[length] == '=' ? length : 0;
}

static int pairs_recognise(const char *text, size_t size)
{
	const char *at = text, *end = text + size;
	while (at < end) {
		at += strspn(at, " \t\r\n");
		if (*at != '#')
			return key_length(at) > 0 ? 30 : 0;
		at += strcspn(at, "\n");
	}
	return 0;
}

static void *pairs_begin(struct output *output)
{
	return state_new(output, sizeof(struct pairs));
}

static bool has_series(const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->series_count; i++)
		if (strcmp(result->series[i].name, name) == 0)
			return true;
	return false;
}

/* A metric that comes a second time becomes the first value of a series. */
static bool start_series(struct result *result, const char *name)
{
	for (size_t i = 0; i < result->metric_count; i++) {
		struct metric metric = result->metrics[i];
		if (strcmp(metric.name, name) != 0)
			continue;
		if (!result_add_value(result, name, metric.value, metric.unit, metric.better))
			return false;
		free(metric.name);
		result->metric_count--;
		memmove(&result->metrics[i], &result->metrics[i + 1],
		        (result->metric_count - i) * sizeof(metric));
		return true;
	}
	return true;
}

static bool add(struct result *result, const char *name, double value, enum metric_unit unit)
{
	enum metric_better better = figure_better(name, unit);
	if (has_series(result, name))
		return result_add_value(result, name, value, unit, better);
	if (result_add(result, name, value, unit, better, 0))
		return true;
	return errno == EEXIST && start_series(result, name) &&
	       result_add_value(result, name, value, unit, better);
}

static bool take_pair(struct output *output, char *word, char why[WHY_SIZE])
{
	size_t length = key_length(word);
	double value;
	enum metric_unit unit = UNIT_NONE;
	if (length == 0) {
		why_set(why, "'%.60s'; key=NUMBER is needed", word);
		return false;
	}
	word[length] = '\0';
	const char *text = word + length + 1;
	if (!parse_number_suffixed(text, &value)) {
		unit = UNIT_SECONDS;
		if (!parse_time(text, 0, &value)) {
			why_set(why, "%.60s is '%.60s'; a number is needed, like 12.5, 3k or 4ms",
			        word, text);
			return false;
		}
	}
	if (output_last(output) == NULL && !state_result(output, "", why))
		return false;
	if (value != value || add(output_last(output), word, value, unit))
		return true;
	why_set(why, "%.60s: %s", word, strerror(errno));
	return false;
}

static bool pairs_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	(void)number, (void)length;
	struct output *output = ((struct pairs *)state)->output;
	char *rest = NULL;
	for (char *word = strtok_r(line, " \t", &rest); word != NULL && *word != '#';
	        word = strtok_r(NULL, " \t", &rest))
		if (!take_pair(output, word, why))
			return false;
	return true;
}

static bool pairs_end(void *state, char why[WHY_SIZE])
{
	(void)why;
	free(state);
	return true;
}

const struct parser key_value_parser = {
	.name = "key-value",
	.title = "key=value lines",
	.recognise = pairs_recognise,
	.begin = pairs_begin,
	.line = pairs_line,
	.end = pairs_end,
	.open_end = true,
};
