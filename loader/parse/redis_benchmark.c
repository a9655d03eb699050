/*
 * redis-benchmark in full, with -q and with --csv. Its parameters are not in its output but in the
 * command line before it, where a terminal was recorded; a test seen again begins another run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

#define MAX_COLUMNS 16

struct redis {
	struct output *output; /* of state_new() */
	char command[128];     /* the label of the run that comes */
	char test[NAME_SIZE];  /* of the report in full; "" outside */
	bool open;             /* the test's rate is still to come */
	bool used;             /* the command has labelled a result */
	bool summary;          /* the latencies of the summary come next */
	double last;           /* the percentile of the last row of the distribution */
	char columns[MAX_COLUMNS][24];
	size_t column_count; /* of CSV; 0: no heading */
	double errors;
};

static int redis_recognise(const char *text, size_t size)
{
	if (text_has_line(text, size, "\"test\",\"rps\"") ||
	        text_has(text, size, " requests per second"))
		return 95;
	if (text_has_line(text, size, "====== ") && text_has(text, size, "requests completed in"))
		return 95;
	return text_has_line(text, size, "\"PING_INLINE\",\"") ||
	                       text_has_line(text, size, "\"SET\",\"") ||
	                       text_has_line(text, size, "\"GET\",\"")
	               ? 90
	               : 0;
}

static void *redis_begin(struct output *output)
{
	return state_new(output, sizeof(struct redis));
}

static bool begin_result(struct redis *redis, char why[WHY_SIZE])
{
	redis->used = true;
	return state_result(redis->output, redis->command, why);
}

static bool add(struct redis *redis, const char *test, const char *figure, double value,
        enum metric_unit unit, unsigned flags, char why[WHY_SIZE])
{
	char name[2 * NAME_SIZE];
	snprintf(name, sizeof(name), "%s.%s", test, figure);
	return figure_add(output_last(redis->output), name, value, unit, flags, why);
}

/* A test that the present run has had begins another one. */
static bool begin_test(struct redis *redis, const char *text, char why[WHY_SIZE])
{
	char name[2 * NAME_SIZE];
	struct result *result = output_last(redis->output);
	if (redis->open)
		result_set_incomplete(result, "no rate of %s", redis->test);
	/* LRANGE's lists are made by a test of the same name as another. */
	bool needed = strstr(text, "(needed to benchmark") != NULL;
	name_make(redis->test, needed ? "needed" : NULL, text);
	snprintf(name, sizeof(name), "%s.throughput", redis->test);
	redis->open = true;
	redis->summary = false;
	redis->last = 0;
	bool fresh = result == NULL || !redis->used || result->incomplete ||
	             result_metric(result, name) != NULL;
	return !fresh || begin_result(redis, why);
}

static bool add_rate(struct redis *redis, const char *text, char why[WHY_SIZE])
{
	char name[2 * NAME_SIZE];
	snprintf(name, sizeof(name), "%s.throughput", redis->test);
	redis->open = false;
	return figure_read(output_last(redis->output), name, text, UNIT_RATE, 1, why);
}

/* "99.86% <= 3 milliseconds": a bound of every percentile up to that one. Every percentile is told
 * once, by the first row that reaches it. */
static bool take_bound(struct redis *redis, char *line, char *bound, char why[WHY_SIZE])
{
	static const double percentiles[] = { 50, 95, 99, 99.9 };
	double percent, seconds;
	char *sign = strchr(line, '%'), *end = strstr(bound, " milliseconds");
	if (redis->last < 0 || sign == NULL || end == NULL)
		return true; /* newer versions have a summary, too */
	*sign = *end = '\0';
	if (!parse_number(line, &percent) || !parse_time(bound, 1e-3, &seconds)) {
		why_set(why, "'%.20s%% <= %.20s'; a share and a time are needed", line, bound);
		return false;
	}
	for (size_t i = 0; i < 4; i++) {
		char name[NAME_SIZE];
		if (redis->last >= percentiles[i] || percent < percentiles[i])
			continue;
		name_percentile(name, redis->test, percentiles[i]);
		if (!figure_add(output_last(redis->output), name, seconds, UNIT_SECONDS,
		            METRIC_BOUND, why))
			return false;
	}
	redis->last = fmax(redis->last, percent);
	return true;
}

static const char *column_name(const char *heading)
{
	static const char *const names[][2] = { { "rps", "throughput" }, { "avg", "mean" },
		{ "min", "min" }, { "max", "max" }, { "p50", "median" }, { "p95", "p95" },
		{ "p99", "p99" }, { "avg_latency_ms", "mean" }, { "min_latency_ms", "min" },
		{ "max_latency_ms", "max" }, { "p50_latency_ms", "median" },
		{ "p95_latency_ms", "p95" }, { "p99_latency_ms", "p99" } };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(heading, names[i][0]) == 0)
			return names[i][1];
	return "";
}

static bool add_column(
        struct redis *redis, const char *column, const char *text, char why[WHY_SIZE])
{
	char name[2 * NAME_SIZE];
	bool rate = strcmp(column, "throughput") == 0;
	if (*column == '\0')
		return true;
	snprintf(name, sizeof(name), "%s.%s", redis->test, column);
	return figure_read(output_last(redis->output), name, text, rate ? UNIT_RATE : UNIT_SECONDS,
	        rate ? 1 : 1e-3, why);
}

/* "avg min p50 p95 p99 max" is the heading of a row of numbers. */
static bool take_summary(struct redis *redis, char *line, char why[WHY_SIZE])
{
	char *words[MAX_COLUMNS];
	size_t count = line_words(line, " \t", words, MAX_COLUMNS);
	if (count > 0 && column_name(words[0])[0] != '\0') {
		redis->column_count = count;
		for (size_t i = 0; i < count; i++)
			snprintf(redis->columns[i], sizeof(redis->columns[i]), "%s",
			        column_name(words[i]));
		return true;
	}
	if (count == 0 || strcmp(words[0], "latency") == 0)
		return true;
	redis->summary = false;
	if (count != redis->column_count) {
		why_set(why, "%zu latencies below a heading of %zu", count, redis->column_count);
		return false;
	}
	for (size_t i = 0; i < count; i++)
		if (!add_column(redis, redis->columns[i], words[i], why))
			return false;
	redis->column_count = 0;
	return true;
}

/* Fields in quotes; a comma inside of them belongs to them. */
static size_t csv_fields(char *line, char **fields, size_t max)
{
	size_t count = 0;
	while (count < max && *line == '"') {
		char *end = strchr(line + 1, '"');
		if (end == NULL)
			return 0;
		*end = '\0';
		fields[count++] = line + 1;
		line = end + 1;
		line += *line == ',';
	}
	return *line == '\0' ? count : 0;
}

static bool take_csv(struct redis *redis, char *line, char why[WHY_SIZE])
{
	char *fields[MAX_COLUMNS];
	size_t count = csv_fields(line, fields, MAX_COLUMNS);
	if (count < 2) {
		why_set(why, "a damaged row; fields in quotes with commas between are needed");
		return false;
	}
	if (strcmp(fields[0], "test") == 0) {
		redis->column_count = count;
		for (size_t i = 0; i < count; i++)
			snprintf(redis->columns[i], sizeof(redis->columns[i]), "%s",
			        column_name(fields[i]));
		return begin_result(redis, why);
	}
	if (redis->column_count == 0 ? count != 2 : count != redis->column_count) {
		why_set(why, "a row of %zu fields; %zu are needed", count,
		        redis->column_count == 0 ? 2 : redis->column_count);
		return false;
	}
	if (!begin_test(redis, fields[0], why))
		return false;
	redis->open = false;
	for (size_t i = 1; i < count; i++)
		if (!add_column(redis, redis->column_count == 0 ? "throughput" : redis->columns[i],
		            fields[i], why))
			return false;
	return true;
}

/* "SET: 139275.77 requests per second, p50=0.191 msec". */
static bool take_quiet(struct redis *redis, char *line, char *rate, char why[WHY_SIZE])
{
	double seconds;
	char *colon = strrchr(line, ':'), *p50 = strstr(rate + 1, "p50=");
	if (colon == NULL || colon > rate)
		return redis->open ? add_rate(redis, line, why) : true;
	*colon = *rate = '\0';
	if (!begin_test(redis, line, why) || !add_rate(redis, line_trim(colon + 1), why))
		return false;
	if (p50 == NULL)
		return true;
	if (parse_time(line_trim(p50 + 4), 0, &seconds))
		return add(redis, redis->test, "median", seconds, UNIT_SECONDS, 0, why);
	why_set(why, "p50 is '%.40s'; a time is needed", p50 + 4);
	return false;
}

static bool take_report(struct redis *redis, char *line, char why[WHY_SIZE])
{
	char *text;
	if ((text = strstr(line, "% <=")) != NULL)
		return take_bound(redis, line, text + 4 + strspn(text + 4, " "), why);
	if (line_after(line, "Latency by percentile") != NULL)
		redis->last = -1;
	redis->summary = (text = line_after(line, "throughput summary:")) != NULL;
	if (redis->summary)
		return add_rate(redis, text, why);
	if ((text = strstr(line, " requests per second")) != NULL)
		return add_rate(redis, line, why);
	return true;
}

static bool redis_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	(void)number, (void)length;
	struct redis *redis = state;
	char *text;
	line = line_trim(line);
	if ((text = strstr(line, "redis-benchmark ")) != NULL) {
		snprintf(redis->command, sizeof(redis->command), "%s", text);
		redis->used = false;
		redis->column_count = 0;
		return true;
	}
	if (*line == '"')
		return take_csv(redis, line, why);
	if ((text = line_after(line, "======")) != NULL) {
		char *end = strstr(text, "======");
		if (end != NULL)
			*end = '\0';
		return begin_test(redis, line_trim(text), why);
	}
	redis->errors += strncmp(line, "Error from server", 17) == 0;
	if (redis->summary)
		return take_summary(redis, line, why);
	if (redis->open)
		return take_report(redis, line, why);
	text = strstr(line, " requests per second");
	return text == NULL || take_quiet(redis, line, text, why);
}

static bool redis_end(void *state, char why[WHY_SIZE])
{
	struct redis *redis = state;
	struct result *result = output_last(redis->output);
	if (redis->open || redis->summary)
		result_set_incomplete(result, "the report of %s stops", redis->test);
	bool good =
	        redis->errors == 0 || result == NULL || figure_errors(result, redis->errors, why);
	free(redis);
	return good;
}

const struct parser redis_benchmark_parser = {
	.name = "redis-benchmark",
	.title = "redis-benchmark, in full, -q and --csv",
	.recognise = redis_recognise,
	.begin = redis_begin,
	.line = redis_line,
	.end = redis_end,
};
