/*
 * Metrics that are the number in a line which a regular expression matches.
 */
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"

#define REGEX "regex:"

bool measure_is_expression(const char *metric)
{
	return strncmp(metric, REGEX, strlen(REGEX)) == 0;
}

bool measure_check_expression(const char *metric, char why[WHY_SIZE])
{
	regex_t regex;
	if (!measure_is_expression(metric))
		return true;
	int error = regcomp(&regex, metric + strlen(REGEX), REG_EXTENDED);
	if (error == 0) {
		size_t groups = regex.re_nsub;
		regfree(&regex);
		if (groups > 0)
			return true;
		why_set(why, "--metric %.200s: must have a group ( ) around the number", metric);
		return false;
	}
	char reason[128];
	regerror(error, &regex, reason, sizeof(reason));
	why_set(why, "--metric %.200s: %s", metric, reason);
	return false;
}

/* What the group holds in the last line of a file that matches; the caller's to free. NULL: no line
 * does. */
static char *search(const char *path, const regex_t *regex)
{
	char *line = NULL, *text = NULL;
	size_t room = 0;
	FILE *in = fopen(path, "re");
	while (in != NULL && getline(&line, &room, in) > 0) {
		regmatch_t groups[2];
		line[strcspn(line, "\r\n")] = '\0';
		if (regexec(regex, line, 2, groups, 0) != 0)
			continue;
		free(text);
		text = groups[1].rm_so < 0 ? strdup("")
		                           : strndup(line + groups[1].rm_so,
		                                     (size_t)(groups[1].rm_eo - groups[1].rm_so));
	}
	if (in != NULL)
		fclose(in);
	free(line);
	return text;
}

static char *search_outputs(const struct stage *stage, const char *metric)
{
	static const char *const names[] = { "client.out", "client.err" };
	regex_t regex;
	char *text = NULL;
	if (regcomp(&regex, metric + strlen(REGEX), REG_EXTENDED) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && text == NULL; i++) {
		char *path = stage_path(stage, names[i]);
		text = path != NULL ? search(path, &regex) : NULL;
		free(path);
	}
	regfree(&regex);
	return text;
}

void measure_expression(struct stage *stage, const char *metric)
{
	double value;
	enum metric_unit unit = UNIT_NONE;
	char *text = search_outputs(stage, metric);
	if (text == NULL)
		return;
	bool good = parse_number_suffixed(text, &value);
	if (!good) {
		unit = UNIT_SECONDS;
		good = parse_time(text, 0, &value);
	}
	if (good && isfinite(value)) {
		run_add(stage->run, metric, value, unit, BETTER_UNKNOWN);
	} else {
		if (stage->run->valid && stage->run->number == 1)
			stage->hopeless = true;
		run_refuse(stage->run, "--metric %.100s matched '%.60s', no number", metric, text);
	}
	free(text);
}
