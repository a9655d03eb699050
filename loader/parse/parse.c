/*
 * Reads a file in constant memory, finds out whose it is, and feeds it to that tool's parser.
 */
#include "parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEEN_SIZE   (64u << 10)  /* what parsers recognise a text by */
#define LINE_SIZE   (256u << 10) /* the longest line, and all that is held of a file */
#define WHOLE_LIMIT (256u << 20) /* of a document */

#define PARSER(name) &name##_parser,
const struct parser *const parsers[] = {
#include "parsers.def"
};
#undef PARSER
const size_t parser_count = sizeof(parsers) / sizeof(*parsers);

const struct parser *parser_by_name(const char *name)
{
	for (size_t i = 0; i < parser_count; i++)
		if (strcmp(parsers[i]->name, name) == 0)
			return parsers[i];
	return NULL;
}

/* The file's bytes from start to end are in the buffer, which has a byte more for a NUL. */
struct reader {
	FILE *in;
	const char *name;
	char *buffer;
	size_t start, end;
	unsigned long number; /* of the line read last */
	bool ended;           /* nothing follows the buffer's content */
	bool cut;             /* the line read last may lack its end */
	bool failed;          /* why has been said */
};

/* Fills the buffer up to a size. */
static bool fill(struct reader *reader, size_t size, char why[WHY_SIZE])
{
	while (!reader->ended && reader->end < size) {
		size_t got = fread(reader->buffer + reader->end, 1, size - reader->end, reader->in);
		reader->end += got;
		if (got == 0 && ferror(reader->in)) {
			why_set(why, "%s: cannot be read: %s", reader->name, strerror(errno));
			return false;
		}
		reader->ended = got == 0;
	}
	return true;
}

/* Makes room in a buffer that holds a part of one line. Of a line that a terminal has overwritten
 * (\r) only the last text counts. */
static bool make_room(struct reader *reader, char why[WHY_SIZE])
{
	char *from = reader->buffer + reader->start;
	size_t held = reader->end - reader->start;
	const char *carriage = held == LINE_SIZE ? memrchr(from, '\r', held - 1) : NULL;
	if (carriage != NULL) {
		held -= (size_t)(carriage + 1 - from);
		from = reader->buffer + (carriage + 1 - reader->buffer);
	}
	if (held == LINE_SIZE) {
		why_set(why, "%s:%lu: a line of more than %u bytes; results are lines of text",
		        reader->name, reader->number + 1, LINE_SIZE);
		return false;
	}
	memmove(reader->buffer, from, held);
	reader->start = 0;
	reader->end = held;
	return true;
}

static bool is_prompt(const char *line, size_t size)
{
	return size >= 2 && line[size - 1] == ' ' && strchr("$#>", line[size - 2]) != NULL;
}

/* The next line without its newline, NULL at the end or after a failure. */
static char *next_line(struct reader *reader, size_t *length, char why[WHY_SIZE])
{
	char *line = reader->buffer + reader->start, *newline;
	while ((newline = memchr(line, '\n', reader->end - reader->start)) == NULL &&
	        !reader->ended) {
		if (!make_room(reader, why) || !fill(reader, LINE_SIZE, why)) {
			reader->failed = true;
			return NULL;
		}
		line = reader->buffer;
	}
	size_t size = newline != NULL ? (size_t)(newline - line) : reader->end - reader->start;
	if (newline == NULL && size == 0)
		return NULL;
	reader->cut = newline == NULL && !is_prompt(line, size);
	reader->start += size + (newline != NULL);
	reader->number++;
	if (size > 0 && line[size - 1] == '\r')
		size--;
	line[size] = '\0';
	char *carriage = memrchr(line, '\r', size);
	if (carriage != NULL) {
		size -= (size_t)(carriage + 1 - line);
		line = carriage + 1;
	}
	*length = size;
	return line;
}

static bool read_lines(struct reader *reader, struct output *output, char why[WHY_SIZE])
{
	const struct parser *parser = output->parser;
	char reason[WHY_SIZE] = "no memory", *line;
	size_t length;
	void *state = parser->begin(output);
	if (state == NULL) {
		why_set(why, "%s: no memory", reader->name);
		return false;
	}
	bool good = true;
	while (good && (line = next_line(reader, &length, why)) != NULL)
		good = parser->line(state, line, length, reader->number, reason);
	if (!good)
		why_set(why, "%s:%lu: %s", reader->name, reader->number, reason);
	char last[WHY_SIZE] = "no memory";
	bool ended = parser->end(state, last);
	if (!good || reader->failed)
		return false;
	if (!ended) {
		why_set(why, "%s:%lu: %s", reader->name, reader->number, last);
		return false;
	}
	if (output->result_count > 0 && reader->cut && !parser->open_end)
		result_set_incomplete(
		        output_last(output), "line %lu stops before its end", reader->number);
	return true;
}

static bool read_whole(struct reader *reader, struct output *output, char why[WHY_SIZE])
{
	size_t size = LINE_SIZE;
	while (!reader->ended) {
		if (!fill(reader, size, why))
			return false;
		if (reader->end < size)
			break;
		if (size >= WHOLE_LIMIT) {
			why_set(why, "%s: a document of more than %u bytes", reader->name,
			        WHOLE_LIMIT);
			return false;
		}
		char *grown = realloc(reader->buffer, 2 * size + 1);
		if (grown == NULL) {
			why_set(why, "%s: no memory", reader->name);
			return false;
		}
		reader->buffer = grown;
		size *= 2;
	}
	reader->buffer[reader->end] = '\0';
	char reason[WHY_SIZE] = "1: no memory";
	if (output->parser->whole(output, reader->buffer, reader->end, reason))
		return true;
	why_set(why, "%s:%s", reader->name, reason);
	return false;
}

static const struct parser *recognise(const struct reader *reader)
{
	const struct parser *best = NULL;
	int surest = 0;
	for (size_t i = 0; i < parser_count; i++) {
		int sure = parsers[i]->recognise(reader->buffer, reader->end);
		if (sure > surest) {
			surest = sure;
			best = parsers[i];
		}
	}
	return best;
}

static size_t count_figures(const struct result *result)
{
	return result->metric_count + result->series_count + result->summary_count;
}

/* Names the results, and refuses those that say nothing. */
static bool finish(struct output *output, const struct reader *reader, char why[WHY_SIZE])
{
	bool said = false;
	for (size_t i = 0; i < output->result_count; i++) {
		struct result *result = &output->results[i];
		char label[32] = "";
		if (output->result_count > 1)
			snprintf(label, sizeof(label), "run=%zu", i + 1);
		if (output->result_count == 1 || result->label[0] == '\0') {
			free(result->label);
			result->label = strdup(label);
			if (result->label == NULL) {
				why_set(why, "%s: no memory", reader->name);
				return false;
			}
		}
		said |= count_figures(result) > 0 || result->incomplete || result->invalid;
	}
	if (!said)
		why_set(why, "%s: no result of %s in it; its lines are not those of that tool",
		        reader->name, output->parser->title);
	return said;
}

static bool read_output(struct reader *reader, struct output *output, char why[WHY_SIZE])
{
	reader->buffer = malloc(LINE_SIZE + 1);
	if (reader->buffer == NULL) {
		why_set(why, "%s: no memory", reader->name);
		return false;
	}
	if (!fill(reader, SEEN_SIZE, why))
		return false;
	reader->buffer[reader->end] = '\0';
	if (reader->end == 0) {
		why_set(why, "%s: is empty; a tool's output is needed", reader->name);
		return false;
	}
	if (output->parser == NULL)
		output->parser = recognise(reader);
	if (output->parser == NULL) {
		why_set(why,
		        "%s:1: no tool's output that is known here; name the tool with "
		        "--as, or give one number a line",
		        reader->name);
		return false;
	}
	bool (*read)(struct reader *, struct output *, char *) =
	        output->parser->whole != NULL ? read_whole : read_lines;
	return read(reader, output, why) && finish(output, reader, why);
}

static struct output *read_as(
        FILE *in, const char *name, const struct output *model, char why[WHY_SIZE])
{
	struct reader reader = { .in = in, .name = name };
	struct output *output = malloc(sizeof(*output));
	if (output == NULL) {
		why_set(why, "%s: no memory", name);
		return NULL;
	}
	*output = *model;
	if (!read_output(&reader, output, why)) {
		output_free(output);
		output = NULL;
	}
	free(reader.buffer);
	return output;
}

static struct output *read_path(const char *path, const struct output *model, char why[WHY_SIZE])
{
	FILE *in = fopen(path, "re");
	if (in == NULL) {
		why_set(why, "%s: cannot be opened: %s", path, strerror(errno));
		return NULL;
	}
	struct output *output = read_as(in, path, model, why);
	fclose(in);
	return output;
}

struct output *output_read(const char *path, const struct parser *as, char why[WHY_SIZE])
{
	struct output model = { .parser = as, .column = 1 };
	return read_path(path, &model, why);
}

struct output *output_read_stream(
        FILE *in, const char *name, const struct parser *as, char why[WHY_SIZE])
{
	struct output model = { .parser = as, .column = 1 };
	return read_as(in, name, &model, why);
}

struct output *output_read_column(
        const char *path, unsigned column, const char *delimiters, char why[WHY_SIZE])
{
	struct output model = {
		.parser = &ministat_parser, .column = column, .delimiters = delimiters
	};
	return read_path(path, &model, why);
}
