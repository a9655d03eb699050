/*
 * memtier_benchmark: a table of kinds of commands, whose columns its heading names, then the
 * distribution of latencies. Latencies are in ms, KB are 1024 bytes.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

#define MAX_COLUMNS 32

enum memtier_place { MEMTIER_OUTSIDE, MEMTIER_TABLE, MEMTIER_HISTOGRAM };

struct column {
	char name[24]; /* of the metric, "" for what is left out */
	enum metric_unit unit;
	double scale;
};

struct memtier {
	struct output *output; /* of state_new() */
	enum memtier_place place;
	struct column columns[MAX_COLUMNS]; /* without that of the type */
	size_t column_count;
	char label[NAME_SIZE];
	bool began, total;
	bool excerpt;     /* somebody has left out rows of the distribution */
	bool distributed; /* a distribution has begun */
	double percent;   /* of its last row */
	double errors;
};

static int memtier_recognise(const char *text, size_t size)
{
	if (text_has(text, size, "Hits/sec") && text_has(text, size, "Ops/sec"))
		return 95;
	return text_has(text, size, "Writing results to stdout") ? 60 : 0;
}

static void *memtier_begin(struct output *output)
{
	return state_new(output, sizeof(struct memtier));
}

static bool finish_result(struct memtier *memtier, char why[WHY_SIZE])
{
	struct result *result = output_last(memtier->output);
	if (!memtier->began)
		return true;
	memtier->began = false;
	if (!memtier->total)
		result_set_incomplete(result, "no Totals row");
	else if (memtier->distributed && !memtier->excerpt && memtier->percent < 100)
		result_set_incomplete(
		        result, "the distribution of latencies stops at %.7g %%", memtier->percent);
	if (memtier->errors > 0 && !figure_errors(result, memtier->errors, why))
		return false;
	memtier->errors = 0;
	return true;
}

/* The words of a heading: a latency is told by the word before. */
static void take_word(struct memtier *memtier, const char *before, const char *word)
{
	static const struct {
		const char *word;
		struct column column;
	} known[] = {
		{ "Ops/sec", { "throughput", UNIT_RATE, 1 } },
		{ "Hits/sec", { "hits", UNIT_RATE, 1 } },
		{ "Misses/sec", { "misses", UNIT_RATE, 1 } },
		{ "KB/sec", { "bandwidth", UNIT_BYTE_RATE, 1024 } },
	};
	struct column *column = &memtier->columns[memtier->column_count];
	double percentile;
	if (strcmp(word, "Avg.") == 0 || (word[0] == 'p' && isdigit((unsigned char)word[1])))
		return;
	*column = (struct column){ "", UNIT_NONE, 1 };
	memtier->column_count++;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(word, known[i].word) == 0)
			*column = known[i].column;
	if (strcmp(word, "Latency") != 0)
		return;
	*column = (struct column){ "mean", UNIT_SECONDS, 1e-3 };
	if (before[0] == 'p' && parse_number(before + 1, &percentile)) {
		char name[NAME_SIZE];
		name_percentile(name, "", percentile);
		snprintf(column->name, sizeof(column->name), "%.20s", name + 1);
	}
}

static bool begin_table(struct memtier *memtier, char *heading, char why[WHY_SIZE])
{
	char *words[2 * MAX_COLUMNS];
	if (!finish_result(memtier, why) || !state_result(memtier->output, memtier->label, why))
		return false;
	memtier->began = true;
	memtier->total = memtier->excerpt = memtier->distributed = false;
	memtier->percent = 0;
	memtier->column_count = 0;
	memtier->place = MEMTIER_TABLE;
	memtier->label[0] = '\0';
	size_t count = line_words(heading, " \t", words, 2 * MAX_COLUMNS);
	for (size_t i = 1; i < count && memtier->column_count < MAX_COLUMNS; i++)
		take_word(memtier, words[i - 1], words[i]);
	return true;
}

static void name_cell(
        char name[2 * NAME_SIZE], const char *kind, bool total, const struct column *column)
{
	bool rate = column->unit != UNIT_SECONDS;
	if (total)
		snprintf(name, 2 * NAME_SIZE, "%s%s", rate ? "" : "latency.", column->name);
	else
		snprintf(name, 2 * NAME_SIZE, "%s.%s", kind, column->name);
}

static bool take_row(struct memtier *memtier, char *line, char why[WHY_SIZE])
{
	char *words[MAX_COLUMNS + 2], kind[NAME_SIZE], name[2 * NAME_SIZE];
	size_t count = line_words(line, " \t", words, MAX_COLUMNS + 2);
	if (count != memtier->column_count + 1) {
		why_set(why, "a row of %zu columns below a heading of %zu", count,
		        memtier->column_count + 1);
		return false;
	}
	bool total = strcmp(words[0], "Totals") == 0;
	name_make(kind, NULL, words[0]);
	size_t length = strlen(kind);
	if (length > 1 && kind[length - 1] == 's')
		kind[length - 1] = '\0';
	for (size_t i = 0; i < memtier->column_count && strcmp(kind, "wait") != 0; i++) {
		const struct column *column = &memtier->columns[i];
		if (column->name[0] == '\0' || strcmp(words[i + 1], "---") == 0)
			continue;
		name_cell(name, kind, total, column);
		if (!figure_read(output_last(memtier->output), name, words[i + 1], column->unit,
		            column->scale, why))
			return false;
	}
	memtier->total |= total;
	return true;
}

/* "GET  31.231  99.98": anything else means that rows have been left out. */
static void take_distribution(struct memtier *memtier, char *line)
{
	char *words[4];
	double percent;
	if (*line == '-')
		return;
	if (line_words(line, " \t", words, 4) != 3 || !parse_number(words[2], &percent))
		memtier->excerpt = true;
	else
		memtier->percent = percent;
}

static void take_heading(struct memtier *memtier, char *line)
{
	char *runs = strstr(line, "RESULTS");
	if (runs != NULL)
		name_make(memtier->label, NULL, line);
	if (strstr(line, "handle error response") != NULL)
		memtier->errors++;
}

static bool memtier_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	(void)number, (void)length;
	struct memtier *memtier = state;
	line = line_trim(line);
	if (line_after(line, "Type ") != NULL && strstr(line, "Ops/sec") != NULL)
		return begin_table(memtier, line, why);
	if (strstr(line, "Latency Distribution") != NULL) {
		memtier->place = MEMTIER_HISTOGRAM;
		memtier->distributed = true;
		return true;
	}
	if (strcmp(line, "ALL STATS") == 0 || strstr(line, "RESULTS") != NULL)
		memtier->place = MEMTIER_OUTSIDE;
	if (memtier->place == MEMTIER_OUTSIDE) {
		take_heading(memtier, line);
		return true;
	}
	if (*line == '\0' || *line == '-' || strncmp(line, "Type ", 5) == 0)
		return true;
	if (memtier->place == MEMTIER_HISTOGRAM) {
		take_distribution(memtier, line);
		return true;
	}
	return take_row(memtier, line, why);
}

static bool memtier_end(void *state, char why[WHY_SIZE])
{
	bool good = finish_result(state, why);
	free(state);
	return good;
}

const struct parser memtier_parser = {
	.name = "memtier",
	.title = "memtier_benchmark",
	.recognise = memtier_recognise,
	.begin = memtier_begin,
	.line = memtier_line,
	.end = memtier_end,
};
