/*
 * Files of numbers as ministat reads them: a column of each line, '#' begins a comment, what
 * follows the column is no matter, lines without it are left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct numbers {
	struct output *output; /* of state_new() */
};

static int numbers_recognise(const char *text, size_t size)
{
	const char *at = text, *end = text + size;
	while (at < end) {
		char word[64];
		double value;
		at += strspn(at, " \t\r\n");
		size_t length = strcspn(at, " \t\r\n");
		if (*at != '#') {
			snprintf(word, sizeof(word), "%.*s", (int)(length < 63 ? length : 63), at);
			return parse_number(word, &value) ? 40 : 0;
		}
		at += strcspn(at, "\n");
	}
	return 0;
}

static void *numbers_begin(struct output *output)
{
	return state_new(output, sizeof(struct numbers));
}

static bool numbers_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	(void)number;
	if (memchr(line, '\0', length) != NULL) {
		why_set(why, "a NUL byte; a line of text is needed");
		return false;
	}
	struct output *output = ((struct numbers *)state)->output;
	const char *delimiters = output->delimiters != NULL ? output->delimiters : " \t";
	char *rest = NULL, *word = strtok_r(line_trim(line), delimiters, &rest);
	double value;
	for (unsigned column = 1; column < output->column && word != NULL && *word != '#'; column++)
		word = strtok_r(NULL, delimiters, &rest);
	if (word == NULL || *word == '#')
		return true;
	word = line_trim(word);
	if (!parse_number(word, &value) || value != value) {
		why_set(why, "'%.60s' in column %u; a number is needed", word, output->column);
		return false;
	}
	if (output_last(output) == NULL && !state_result(output, "", why))
		return false;
	if (result_add_value(output_last(output), "value", value, UNIT_NONE, BETTER_UNKNOWN))
		return true;
	why_set(why, "%s", strerror(errno));
	return false;
}

static bool numbers_end(void *state, char why[WHY_SIZE])
{
	const struct output *output = ((struct numbers *)state)->output;
	bool found = output->result_count > 0 || output->column == 1;
	if (!found)
		why_set(why, "no line has a column %u; a column that lines have is needed",
		        output->column);
	free(state);
	return found;
}

const struct parser ministat_parser = {
	.name = "ministat",
	.title = "one number a line, as ministat takes them",
	.recognise = numbers_recognise,
	.begin = numbers_begin,
	.line = numbers_line,
	.end = numbers_end,
	.open_end = true,
};
