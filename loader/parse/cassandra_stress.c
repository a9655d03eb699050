/*
 * cassandra-stress: "label : value" after "Results:" (2.1 and later) or after "Averages from the
 * middle 80% of values:" (1.1 to 2.0); before 1.1 only a row every 10 s. Times without a unit are
 * milliseconds.
 *
 * 2.1 and later print the rate of the whole run. What the versions before called the average of the
 * middle 80 %, the mean of the rates in those rows that lie between 10 and 90 % of what was asked
 * for, is computed from their rows.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct cassandra {
	struct output *output; /* of state_new() */
	char label[64];        /* of the run that comes */
	bool inside;           /* a result has begun, and its time is still to come */
	bool rows;             /* progress since the last result */
	bool averages_missing; /* the rows are those of before 1.1 */
	char row[128];         /* the last one of those */

	char kind[NAME_SIZE / 2];        /* of the operations that run; "": several, or untold */
	double planned;                  /* operations or seconds; 0: untold */
	bool timed;                      /* it is seconds */
	size_t rate_column, time_column; /* of a row; 0: its head has not told */
	double middle_rates;             /* the sum over the rows between 10 and 90 % of it */
	size_t middle_rows;
};

static const struct figure figures[] = {
	{ "interval_op_rate", "throughput", UNIT_RATE, 1 },
	{ "op rate", "throughput", UNIT_RATE, 1 },
	{ "real op rate", "throughput", UNIT_RATE, 1 },
	{ "adjusted op rate", "adjusted.throughput", UNIT_RATE, 1 },
	{ "interval_key_rate", "keys.throughput", UNIT_RATE, 1 },
	{ "key rate", "keys.throughput", UNIT_RATE, 1 },
	{ "partition rate", "partitions.throughput", UNIT_RATE, 1 },
	{ "row rate", "rows.throughput", UNIT_RATE, 1 },
	{ "latency mean", "latency.mean", UNIT_SECONDS, 1e-3 },
	{ "latency median", "latency.median", UNIT_SECONDS, 1e-3 },
	{ "latency 95th percentile", "latency.p95", UNIT_SECONDS, 1e-3 },
	{ "latency 99th percentile", "latency.p99", UNIT_SECONDS, 1e-3 },
	{ "latency 99.9th percentile", "latency.p99.9", UNIT_SECONDS, 1e-3 },
	{ "latency max", "latency.max", UNIT_SECONDS, 1e-3 },
	{ "total partitions", "partitions", UNIT_COUNT, 1 },
	{ "total gc count", "gc.count", UNIT_COUNT, 1 },
	{ "total gc time", "gc.time", UNIT_SECONDS, 1 },
};

#define FIGURES (sizeof(figures) / sizeof(*figures))

static int cassandra_recognise(const char *text, size_t size)
{
	if (text_has(text, size, "interval_op_rate") || text_has_line(text, size, "total ops,") ||
	        text_has(text, size, "Averages from the middle 80%"))
		return 95;
	if (text_has_line(text, size, "Results:") &&
	        (text_has_line(text, size, "Op rate") || text_has_line(text, size, "op rate") ||
	                text_has_line(text, size, "real op rate")))
		return 95;
	return text_has_line(text, size, "type       total ops") ? 90 : 0;
}

static void *cassandra_begin(struct output *output)
{
	return state_new(output, sizeof(struct cassandra));
}

static bool add_middle(struct cassandra *cassandra, char why[WHY_SIZE])
{
	char name[NAME_SIZE];
	double rows = (double)cassandra->middle_rows;
	if (cassandra->middle_rows == 0)
		return true;
	cassandra->middle_rows = 0;
	snprintf(name, sizeof(name), "%s%smiddle80.throughput", cassandra->kind,
	        *cassandra->kind != '\0' ? "." : "");
	return figure_add(output_last(cassandra->output), name, cassandra->middle_rates / rows,
	        UNIT_RATE, METRIC_DERIVED, why);
}

static bool begin_result(struct cassandra *cassandra, char why[WHY_SIZE])
{
	if (cassandra->inside)
		result_set_incomplete(output_last(cassandra->output), "no Total operation time");
	cassandra->inside = true;
	cassandra->rows = cassandra->averages_missing = false;
	return state_result(cassandra->output, cassandra->label, why) && add_middle(cassandra, why);
}

/* "00:01:44". */
static bool take_duration(struct cassandra *cassandra, char *text, char why[WHY_SIZE])
{
	char *parts[4], copy[64];
	double seconds = 0;
	snprintf(copy, sizeof(copy), "%s", text);
	size_t count = line_words(copy, ":", parts, 4);
	for (size_t i = 0; i < count; i++) {
		double part;
		if (!parse_number(parts[i], &part) || !(part >= 0))
			count = 0;
		seconds = seconds * 60 + part;
	}
	if (count != 3) {
		why_set(why, "Total operation time is '%.40s'; hours:minutes:seconds are needed",
		        text);
		return false;
	}
	cassandra->inside = false;
	return figure_add(output_last(cassandra->output), "runtime", seconds, UNIT_SECONDS, 0, why);
}

/* "[READ: 9,645 op/s, WRITE: 1 op/s]": the same figure of each kind of operation. */
static bool take_kinds(
        struct result *result, const struct figure *figure, char *text, char why[WHY_SIZE])
{
	const char *last =
	        strncmp(figure->name, "latency.", 8) == 0 ? figure->name + 8 : figure->name;
	while (text != NULL && *text != '\0' && *text != ']') {
		char name[2 * NAME_SIZE], kind[NAME_SIZE];
		char *next = strstr(text, ", "), *colon = strchr(text, ':'), *end;
		if (next != NULL)
			*next = '\0';
		if (colon == NULL || (next != NULL && colon > next))
			return true;
		*colon = '\0';
		if ((end = strchr(colon + 1, ']')) != NULL)
			*end = '\0';
		name_make(kind, NULL, line_trim(text));
		snprintf(name, sizeof(name), "%s.%s", kind, last);
		if (!figure_read(
		            result, name, line_trim(colon + 1), figure->unit, figure->scale, why))
			return false;
		text = next != NULL ? next + 2 : NULL;
	}
	return true;
}

static bool take_figure(struct cassandra *cassandra, char *label, char *text, char why[WHY_SIZE])
{
	struct result *result = output_last(cassandra->output);
	for (char *at = label; *at != '\0'; at++)
		*at = (char)tolower((unsigned char)*at);
	if (strcmp(label, "total operation time") == 0)
		return take_duration(cassandra, text, why);
	if (strcmp(label, "total errors") == 0) {
		double errors;
		if (figure_value(text, UNIT_COUNT, 1, &errors))
			return figure_errors(result, errors, why);
		why_set(why, "Total errors is '%.40s'; a number is needed", text);
		return false;
	}
	if (strcmp(label, "total gc memory") == 0) {
		double bytes;
		if (parse_bytes(text, 1000, &bytes))
			return figure_add(result, "gc.memory", bytes, UNIT_BYTES, 0, why);
		why_set(why, "Total GC memory is '%.40s'; a size is needed", text);
		return false;
	}
	const struct figure *figure = figure_find(figures, FIGURES, label);
	if (figure == NULL)
		return true;
	if (!figure_read(result, figure->name, text, figure->unit, figure->scale, why))
		return false;
	char *kinds = strchr(text, '[');
	return kinds == NULL || take_kinds(result, figure, kinds + 1, why);
}

/* The only figures of a run before 1.1 are those of its last row. */
static bool take_last_row(struct cassandra *cassandra, char why[WHY_SIZE])
{
	char *words[8];
	double total, seconds;
	size_t count = line_words(cassandra->row, ",", words, 8);
	if (count < 5 || !parse_number(words[0], &total) ||
	        !parse_time(words[count - 1], 1, &seconds)) {
		why_set(why, "the last row before END has %zu numbers; 5 are needed", count);
		return false;
	}
	if (!begin_result(cassandra, why))
		return false;
	cassandra->inside = false;
	struct result *result = output_last(cassandra->output);
	return figure_add(result, "operations", total, UNIT_COUNT, 0, why) &&
	       figure_add(result, "runtime", seconds, UNIT_SECONDS, 0, why) &&
	       (seconds <= 0 || figure_add(result, "throughput", total / seconds, UNIT_RATE,
	                                METRIC_DERIVED, why));
}

/* "for 1000 iteration", "30 seconds". */
static void take_plan(struct cassandra *cassandra, const char *text)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "seconds", 1 }, { "minutes", 60 }, { "hours", 3600 } };
	char unit[16];
	double count;
	cassandra->planned = 0;
	if (sscanf(text, " for %lf %15s", &count, unit) == 2) {
		cassandra->planned = count;
		cassandra->timed = false;
	} else if (sscanf(text, " %lf %15s", &count, unit) == 2) {
		for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
			if (strcmp(unit, units[i].name) == 0)
				cassandra->planned = count * units[i].seconds;
		cassandra->timed = true;
	}
}

/* "WRITE", "[insert]"; several are "[insert, simple]". */
static void take_kind(struct cassandra *cassandra, const char *text, size_t length)
{
	char word[sizeof(cassandra->kind)], name[NAME_SIZE];
	if (*text == '[' && length > 2) {
		text++;
		length -= 2;
	}
	snprintf(word, sizeof(word), "%.*s", (int)length, text);
	name_make(name, NULL, strpbrk(word, " ,(") == NULL ? word : "");
	memcpy(cassandra->kind, name, sizeof(cassandra->kind));
}

/* "Running with 8 threadCount", "Running WRITE with 8 threads for 1000 iteration". */
static void take_running(struct cassandra *cassandra, const char *line)
{
	const char *with = strstr(line, "with "), *threads = strstr(line, " threads ");
	cassandra->middle_rates = 0;
	cassandra->middle_rows = cassandra->rate_column = cassandra->time_column = 0;
	if (with != NULL && threads > with && with > line + strlen("Running ")) {
		line += strlen("Running ");
		take_kind(cassandra, line, (size_t)(with - line) - 1);
		take_plan(cassandra, threads + strlen(" threads "));
	}
	if (with != NULL && isdigit((unsigned char)with[5]))
		snprintf(cassandra->label, sizeof(cassandra->label), "threads=%d", atoi(with + 5));
	cassandra->rows = true;
}

/* "Improvement over 4 threadCount: 51%" tells the threads of the run before the last. */
static bool take_improvement(struct cassandra *cassandra, const char *text, char why[WHY_SIZE])
{
	struct output *output = cassandra->output;
	char label[64];
	if (output->result_count < 2 || !isdigit((unsigned char)*text))
		return true;
	struct result *before = &output->results[output->result_count - 2];
	snprintf(label, sizeof(label), "threads=%d", atoi(text));
	return before->label[0] != '\0' || state_label(before, label, why);
}

/* "type       total ops,    op/s, ...", which some versions print as "type,      total ops, ...".
 */
static void take_head(struct cassandra *cassandra, char *line)
{
	char *words[32];
	size_t count = line_words(line, ",", words, 32);
	size_t before = count > 0 && strcmp(line_trim(words[0]), "type") == 0 ? 0 : 1;
	for (size_t i = 0; i < count; i++) {
		const char *word = line_trim(words[i]);
		if (strcmp(word, "op/s") == 0)
			cassandra->rate_column = i + before;
		else if (strcmp(word, "time") == 0)
			cassandra->time_column = i + before;
	}
}

/* "total,        100000,   11688, ...": all operations so far, and figures of those since the last
 * row. */
static void take_row(struct cassandra *cassandra, char *line)
{
	char *words[32];
	size_t rate = cassandra->rate_column;
	size_t progress = cassandra->timed ? cassandra->time_column : 1;
	double done, rates;
	size_t count = line_words(line, ",", words, 32);
	if (rate == 0 || progress == 0 || rate >= count || progress >= count ||
	        !parse_number(line_trim(words[progress]), &done) ||
	        !parse_number(line_trim(words[rate]), &rates))
		return;
	if (done > 0.1 * cassandra->planned && done < 0.9 * cassandra->planned) {
		cassandra->middle_rates += rates;
		cassandra->middle_rows++;
	}
}

static bool take_words(struct cassandra *cassandra, char *line, char why[WHY_SIZE])
{
	const char *text;
	if (strcmp(line, "Results:") == 0 || line_after(line, "Averages from the middle") != NULL)
		return begin_result(cassandra, why);
	if ((text = line_after(line, "Improvement over")) != NULL)
		return take_improvement(cassandra, text, why);
	if (line_after(line, "Running ") != NULL)
		take_running(cassandra, line);
	else if (line_after(line, "type") != NULL && strstr(line, "total ops,") != NULL)
		take_head(cassandra, line);
	else if (line_after(line, "total,interval_op_rate,interval_key_rate,avg_latency") != NULL)
		cassandra->averages_missing = true;
	else if (strcmp(line, "END") == 0 && cassandra->averages_missing && *cassandra->row != '\0')
		return take_last_row(cassandra, why);
	else if (strcmp(line, "FAILURE") == 0) {
		if (output_last(cassandra->output) == NULL && !begin_result(cassandra, why))
			return false;
		result_set_invalid(output_last(cassandra->output), "the tool says FAILURE");
	}
	return true;
}

static bool cassandra_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	(void)number, (void)length;
	struct cassandra *cassandra = state;
	if (isdigit((unsigned char)*line) || strncmp(line, "total,  ", 8) == 0) {
		cassandra->rows = true;
		if (cassandra->averages_missing)
			snprintf(cassandra->row, sizeof(cassandra->row), "%s", line);
		else if (*line == 't')
			take_row(cassandra, line);
		return true;
	}
	line = line_trim(line);
	char *text;
	if (cassandra->inside && strcmp(line, "Results:") != 0 &&
	        (text = line_value(line, ':')) != NULL)
		return take_figure(cassandra, line, text, why);
	return take_words(cassandra, line, why);
}

static bool cassandra_end(void *state, char why[WHY_SIZE])
{
	struct cassandra *cassandra = state;
	bool good = true;
	if (cassandra->inside) {
		result_set_incomplete(output_last(cassandra->output), "no Total operation time");
	} else if (cassandra->rows) {
		good = begin_result(cassandra, why);
		if (good)
			result_set_incomplete(
			        output_last(cassandra->output), "rows of progress without results");
	}
	free(cassandra);
	return good;
}

const struct parser cassandra_stress_parser = {
	.name = "cassandra-stress",
	.title = "cassandra-stress 1.x to 4.x",
	.recognise = cassandra_recognise,
	.begin = cassandra_begin,
	.line = cassandra_line,
	.end = cassandra_end,
};
