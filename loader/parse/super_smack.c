/*
 * super-smack's barrel report: a row for each type of query, times in whole ms. It prints no rate
 * for all of them, and none is made up.
 */
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct smack {
	struct output *output; /* of state_new() */
	bool table;            /* the heading of the rows has been seen */
	bool rows;             /* and a row */
};

static int smack_recognise(const char *text, size_t size)
{
	return text_has_line(text, size, "Query_type") ||
	                       text_has(text, size, "Query Barrel Report")
	               ? 95
	               : 0;
}

static void *smack_begin(struct output *output)
{
	return state_new(output, sizeof(struct smack));
}

static bool begin_result(struct smack *smack, char why[WHY_SIZE])
{
	if (output_last(smack->output) != NULL && !smack->rows)
		result_set_incomplete(output_last(smack->output), "no rows of queries");
	smack->table = smack->rows = false;
	return state_result(smack->output, "", why);
}

/* "connect: max=4ms  min=0ms avg= 1ms from 10 clients". */
static bool take_connect(struct result *result, char *text, char why[WHY_SIZE])
{
	static const char *const keys[][2] = { { "max=", "connect.max" }, { "min=", "connect.min" },
		{ "avg=", "connect.mean" } };
	for (size_t i = 0; i < 3; i++) {
		const char *at = strstr(text, keys[i][0]);
		char number[32];
		if (at == NULL)
			continue;
		at += 4 + strspn(at + 4, " ");
		snprintf(number, sizeof(number), "%.*s", (int)strcspn(at, " "), at);
		if (!figure_read(result, keys[i][1], number, UNIT_SECONDS, 1e-3, why))
			return false;
	}
	return true;
}

static bool take_row(struct result *result, char **words, char why[WHY_SIZE])
{
	static const struct figure columns[] = {
		{ "num_queries", "operations", UNIT_COUNT, 1 },
		{ "max_time", "max", UNIT_SECONDS, 1e-3 },
		{ "min_time", "min", UNIT_SECONDS, 1e-3 },
		{ "q_per_s", "throughput", UNIT_RATE, 1 },
	};
	for (size_t i = 0; i < 4; i++) {
		char query[NAME_SIZE], name[2 * NAME_SIZE];
		name_make(query, NULL, words[0]);
		snprintf(name, sizeof(name), "%s.%s", query, columns[i].name);
		if (!figure_read(
		            result, name, words[i + 1], columns[i].unit, columns[i].scale, why))
			return false;
	}
	return true;
}

static bool smack_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	(void)number, (void)length;
	struct smack *smack = state;
	char *words[6], *text;
	line = line_trim(line);
	bool heading = line_after(line, "Query_type") != NULL;
	struct result *result = output_last(smack->output);
	if (line_after(line, "Query Barrel Report") != NULL || (heading && result == NULL) ||
	        (heading && smack->table))
		if (!begin_result(smack, why))
			return false;
	result = output_last(smack->output);
	if (heading)
		smack->table = true;
	if (heading || result == NULL)
		return true;
	if ((text = line_after(line, "connect:")) != NULL)
		return take_connect(result, text, why);
	if (!smack->table || *line == '\0')
		return true;
	size_t count = line_words(line, " \t", words, 6);
	if (count != 5) {
		why_set(why,
		        "a row of %zu columns; Query_type num_queries max_time min_time "
		        "q_per_s are needed",
		        count);
		return false;
	}
	smack->rows = true;
	return take_row(result, words, why);
}

static bool smack_end(void *state, char why[WHY_SIZE])
{
	(void)why;
	struct smack *smack = state;
	if (output_last(smack->output) != NULL && !smack->rows)
		result_set_incomplete(output_last(smack->output), "no rows of queries");
	free(smack);
	return true;
}

const struct parser super_smack_parser = {
	.name = "super-smack",
	.title = "super-smack",
	.recognise = smack_recognise,
	.begin = smack_begin,
	.line = smack_line,
	.end = smack_end,
};
