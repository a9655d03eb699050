/*
 * What ministat printed: a summary of each set of data. Sets are told apart by the names above the
 * plot, or else by their symbols. Its median of an even number of values is the upper middle one.
 */
#include <stdlib.h>
#include <string.h>

#include "lines.h"

#define SYMBOLS "x+*%#@O"
#define HEADING "Median           Avg        Stddev"

struct ministat {
	struct output *output; /* of state_new() */
	char names[sizeof(SYMBOLS) - 1][128];
	bool table, rows;
};

static int ministat_recognise(const char *text, size_t size)
{
	return text_has(text, size, HEADING) ? 95 : 0;
}

static void *ministat_begin(struct output *output)
{
	return state_new(output, sizeof(struct ministat));
}

static bool is_number(const char *text)
{
	double value;
	return parse_number(text, &value);
}

/* "x  30  44790.57  48609.38  45831.065  45910.616  745.54679". */
static bool take_row(struct ministat *ministat, const char *label, char *text, char why[WHY_SIZE])
{
	char *words[7];
	double values[6];
	size_t count = line_words(text, " \t", words, 7);
	for (size_t i = 0; i < count && i < 6; i++)
		if (!parse_number(words[i], &values[i]))
			count = 0;
	if (count != 6 || !(values[0] >= 1 && values[0] < 1e9)) {
		why_set(why, "a damaged row; N, Min, Max, Median, Avg and Stddev are needed");
		return false;
	}
	ministat->rows = true;
	if (!state_result(ministat->output, label, why))
		return false;
	struct summary *summary =
	        result_add_summary(output_last(ministat->output), "value", (size_t)values[0]);
	if (summary == NULL) {
		why_set(why, "no memory");
		return false;
	}
	summary->min = values[1];
	summary->max = values[2];
	summary->median = values[3];
	summary->mean = values[4];
	summary->stddev = values[5];
	return true;
}

static bool ministat_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	(void)number, (void)length;
	struct ministat *ministat = state;
	if (strstr(line, HEADING) != NULL) {
		ministat->table = true;
		return true;
	}
	const char *symbol = *line != '\0' ? strchr(SYMBOLS, *line) : NULL;
	char bare[2] = { *line, '\0' };
	if (symbol == NULL || line[1] != ' ') {
		if (ministat->table && ministat->rows) {
			ministat->table = ministat->rows = false;
			memset(ministat->names, 0, sizeof(ministat->names));
		}
		return true;
	}
	char *name = ministat->names[symbol - SYMBOLS];
	if (ministat->table)
		return take_row(ministat, *name != '\0' ? name : bare, line + 1, why);
	if (!is_number(line_trim(line + 1)))
		snprintf(name, sizeof(*ministat->names), "%s", line_trim(line + 1));
	return true;
}

static bool ministat_end(void *state, char why[WHY_SIZE])
{
	struct ministat *ministat = state;
	bool good = true;
	if (ministat->table && !ministat->rows) {
		good = state_result(ministat->output, "", why);
		if (good)
			result_set_incomplete(
			        output_last(ministat->output), "no rows below the heading");
	}
	free(ministat);
	return good;
}

const struct parser ministat_output_parser = {
	.name = "ministat-output",
	.title = "the summary rows of ministat",
	.recognise = ministat_recognise,
	.begin = ministat_begin,
	.line = ministat_line,
	.end = ministat_end,
};
