/*
 * YCSB's summary, "[SECTION], measurement, value", and the status lines before it. Each [OVERALL]
 * begins a run. Latencies come in ms (0.1) or us, histograms' buckets are not results.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

#define SECTION_SIZE 64

struct ycsb {
	struct output *output; /* of state_new() */
	char command[WHY_SIZE];
	char section[SECTION_SIZE];
	bool zero; /* the section's operations: none, so its latencies mean nothing */
	bool overall, throughput;
	bool operations, latencies, buckets; /* what the section has had */
	unsigned percentiles, most;          /* of the section, and of any section of the run */
	char status[WHY_SIZE];               /* the last status line */
	double failed, returned, status_failed;
};

static int ycsb_recognise(const char *text, size_t size)
{
	if (text_has_line(text, size, "[OVERALL]") || text_has_line(text, size, "YCSB Client") ||
	        text_has(text, size, "], AverageLatency("))
		return 95;
	return text_has(text, size, " sec: ") && text_has(text, size, " operations; ") ? 80 : 0;
}

static void *ycsb_begin(struct output *output)
{
	return state_new(output, sizeof(struct ycsb));
}

/* Adds a figure of a status line, whose decimals are those of some language. */
static bool add_status(struct result *result, const char *name, const char *text,
        enum metric_unit unit, char why[WHY_SIZE])
{
	double value;
	return !figure_value(text, unit, 1, &value) ||
	       figure_add(result, name, value, unit, 0, why);
}

/* "5 sec: 1000 operations; 200.5 current ops/sec; ...". */
static bool take_status(struct ycsb *ycsb, char why[WHY_SIZE])
{
	struct result *result = output_last(ycsb->output);
	char *at = strstr(ycsb->status, " sec: "), *start = at;
	char *operations = strstr(ycsb->status, " operations");
	if (at == NULL || operations == NULL || operations < at)
		return true;
	*at = *operations = '\0';
	while (start > ycsb->status && start[-1] != ' ')
		start--;
	char *current = strstr(operations + 1, "; "), *end;
	if (!add_status(result, "status.runtime", start, UNIT_SECONDS, why) ||
	        !add_status(result, "status.operations", at + 6, UNIT_COUNT, why))
		return false;
	if (current == NULL || (end = strstr(current, " current ops/sec")) == NULL)
		return true;
	*end = '\0';
	return add_status(result, "status.throughput", current + 2, UNIT_RATE, why);
}

/* Failures are told up to three times: by section, by return code, while it runs. */
static bool finish_errors(struct ycsb *ycsb, char why[WHY_SIZE])
{
	double most = fmax(ycsb->failed, fmax(ycsb->returned, ycsb->status_failed));
	ycsb->failed = ycsb->returned = ycsb->status_failed = 0;
	return figure_errors(output_last(ycsb->output), most, why);
}

/* Which percentiles there are is the user's choice, the same for every section. */
static bool is_section_cut(const struct ycsb *ycsb)
{
	if (!ycsb->latencies)
		return ycsb->operations;
	return ycsb->percentiles < ycsb->most || (ycsb->most == 0 && !ycsb->buckets);
}

static bool finish_run(struct ycsb *ycsb, char why[WHY_SIZE])
{
	struct result *result = output_last(ycsb->output);
	if (!ycsb->throughput) {
		result_set_incomplete(result, "no [OVERALL] throughput");
		if (!take_status(ycsb, why))
			return false;
	} else if (ycsb->section[0] == '\0') {
		result_set_incomplete(result, "no operation's section follows [OVERALL]");
	} else if (is_section_cut(ycsb)) {
		result_set_incomplete(result, "[%s] stops before its end", ycsb->section);
	}
	return finish_errors(ycsb, why);
}

static bool begin_run(struct ycsb *ycsb, char why[WHY_SIZE])
{
	if (!state_result(ycsb->output, ycsb->command, why))
		return false;
	ycsb->overall = ycsb->throughput = false;
	ycsb->operations = ycsb->latencies = ycsb->buckets = false;
	ycsb->percentiles = ycsb->most = 0;
	ycsb->section[0] = ycsb->status[0] = '\0';
	return true;
}

static bool is_success(const char *code)
{
	return strcmp(code, "0") == 0 || strcmp(code, "OK") == 0 || strcmp(code, "BATCHED_OK") == 0;
}

/* "95thPercentileLatency(us)", "99.9PercentileLatency(us)". */
static bool take_percentile(
        struct ycsb *ycsb, const char *label, const char *section, double value, char why[WHY_SIZE])
{
	char name[NAME_SIZE];
	double percentile;
	snprintf(name, sizeof(name), "%.*s", (int)strspn(label, "0123456789."), label);
	if (!parse_number(name, &percentile) || !(percentile > 0 && percentile <= 100)) {
		why_set(why, "percentile '%.40s'; one between 0 and 100 is needed", label);
		return false;
	}
	if (++ycsb->percentiles > ycsb->most)
		ycsb->most = ycsb->percentiles;
	if (ycsb->zero)
		return true;
	name_percentile(name, section, percentile);
	return figure_add(output_last(ycsb->output), name, value, UNIT_SECONDS, 0, why);
}

/* "AverageLatency(us)": scale is the unit's, 0 when it is none that is known. */
static double latency_scale(const char *label)
{
	if (strstr(label, "Latency(us)") != NULL)
		return 1e-6;
	return strstr(label, "Latency(ms)") != NULL ? 1e-3 : 0;
}

static bool take_latency(
        struct ycsb *ycsb, const char *section, const char *label, double value, char why[WHY_SIZE])
{
	static const char *const kinds[][2] = { { "AverageLatency(", "mean" },
		{ "MinLatency(", "min" }, { "MaxLatency(", "max" } };
	if (strstr(label, "ercentileLatency(") != NULL)
		return take_percentile(ycsb, label, section, value, why);
	for (size_t i = 0; i < 3; i++) {
		char name[NAME_SIZE];
		if (strncmp(label, kinds[i][0], strlen(kinds[i][0])) != 0)
			continue;
		ycsb->latencies = true;
		snprintf(name, sizeof(name), "%.100s.%s", section, kinds[i][1]);
		return ycsb->zero ||
		       figure_add(output_last(ycsb->output), name, value, UNIT_SECONDS, 0, why);
	}
	return true;
}

static bool take_overall(struct ycsb *ycsb, const char *label, const char *text, char why[WHY_SIZE])
{
	static const struct figure figures[] = {
		{ "RunTime(ms)", "runtime", UNIT_SECONDS, 1e-3 },
		{ "Throughput(ops/sec)", "throughput", UNIT_RATE, 1 },
	};
	struct result *result = output_last(ycsb->output);
	ycsb->overall = true;
	ycsb->throughput |= strcmp(label, figures[1].label) == 0;
	return figure_take(result, figures, 2, label, text, why);
}

static bool take_collector(
        struct result *result, const char *section, const char *text, char why[WHY_SIZE])
{
	static const struct figure figures[] = {
		{ "TOTAL_GCs", "gc.count", UNIT_COUNT, 1 },
		{ "TOTAL_GC_TIME", "gc.time", UNIT_SECONDS, 1e-3 },
		{ "TOTAL_GC_TIME_%", "gc.share", UNIT_RATIO, 1e-2 },
	};
	return figure_take(result, figures, 3, section, text, why);
}

static void begin_section(struct ycsb *ycsb, const char *section)
{
	snprintf(ycsb->section, sizeof(ycsb->section), "%s", section);
	ycsb->percentiles = 0;
	ycsb->zero = ycsb->operations = ycsb->latencies = ycsb->buckets = false;
}

static bool take_operation(
        struct ycsb *ycsb, const char *section, char *label, char *text, char why[WHY_SIZE])
{
	char name[NAME_SIZE], metric[NAME_SIZE + 16];
	double value, scale = latency_scale(label);
	if (strncmp(section, ycsb->section, sizeof(ycsb->section) - 1) != 0)
		begin_section(ycsb, section);
	name_make(name, NULL, section);
	const char *code = line_after(label, "Return=");
	bool count = strcmp(label, "Operations") == 0 || code != NULL;
	if (!count && scale == 0) {
		ycsb->buckets |= *label == '>' || (*label >= '0' && *label <= '9');
		return true;
	}
	if (!parse_number(text, &value)) {
		why_set(why, "[%s] %s is '%.60s'; a number is needed", section, label, text);
		return false;
	}
	if (code != NULL) {
		ycsb->returned += is_success(code) ? 0 : value;
		return true;
	}
	if (!count)
		return take_latency(ycsb, name, label, value * scale, why);
	ycsb->operations = true;
	ycsb->zero = value == 0;
	if (strstr(section, "-FAILED") != NULL)
		ycsb->failed += value;
	snprintf(metric, sizeof(metric), "%s.operations", name);
	return figure_add(output_last(ycsb->output), metric, value, UNIT_COUNT, 0, why);
}

static bool take_line(struct ycsb *ycsb, char *line, char why[WHY_SIZE])
{
	char *close = strchr(line, ']'), *comma, *label, *text;
	if (close == NULL || close[1] != ',' || (comma = strchr(close + 2, ',')) == NULL)
		return true; /* a log's line that begins with a bracket */
	*close = *comma = '\0';
	label = line_trim(close + 2);
	text = line_trim(comma + 1);
	const char *section = line + 1;
	bool overall = strcmp(section, "OVERALL") == 0;
	bool fresh = overall && strncmp(label, "RunTime", 7) == 0;
	bool began = ycsb->overall || ycsb->section[0] != '\0';
	if (fresh && began && output_last(ycsb->output) != NULL && !finish_run(ycsb, why))
		return false;
	if ((output_last(ycsb->output) == NULL || (fresh && began)) && !begin_run(ycsb, why))
		return false;
	if (overall)
		return take_overall(ycsb, label, text, why);
	if (strncmp(section, "TOTAL_GC", 8) == 0)
		return take_collector(output_last(ycsb->output), section, text, why);
	return take_operation(ycsb, section, label, text, why);
}

/* Counts in a status line are those since the line before. */
static bool take_running(struct ycsb *ycsb, const char *line, size_t length, char why[WHY_SIZE])
{
	static const char failed[] = "-FAILED: Count=";
	const char *at = line, *end = line + length;
	snprintf(ycsb->status, sizeof(ycsb->status), "%s", line);
	while ((at = memmem(at, (size_t)(end - at), failed, sizeof(failed) - 1)) != NULL) {
		at += sizeof(failed) - 1;
		char number[32];
		double count;
		snprintf(number, sizeof(number), "%.*s", (int)strspn(at, "0123456789"), at);
		if (!parse_number(number, &count)) {
			why_set(why, "Count='%.20s' of failures; a number is needed", at);
			return false;
		}
		ycsb->status_failed += count;
	}
	return true;
}

static bool ycsb_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	(void)number;
	struct ycsb *ycsb = state;
	const char *start = line;
	while (*line == ' ' || *line == '\t')
		line++;
	if (*line == '[')
		return take_line(ycsb, line, why);
	if (*line == 'C' && line_after(line, "Command line:") != NULL)
		snprintf(ycsb->command, sizeof(ycsb->command), "%s", line + 14);
	if (*line == 'Y' && strncmp(line, "YCSB Client ", 12) == 0)
		snprintf(ycsb->output->version, sizeof(ycsb->output->version), "%.30s", line + 12);
	length -= (size_t)(line - start);
	if (*line >= '0' && *line <= '9' &&
	        memmem(line, length < 96 ? length : 96, " sec: ", 6) != NULL) {
		if (ycsb->overall && !finish_run(ycsb, why))
			return false;
		if ((output_last(ycsb->output) == NULL || ycsb->overall) && !begin_run(ycsb, why))
			return false;
		return take_running(ycsb, line, length, why);
	}
	return true;
}

static bool ycsb_end(void *state, char why[WHY_SIZE])
{
	struct ycsb *ycsb = state;
	bool good = output_last(ycsb->output) == NULL || finish_run(ycsb, why);
	free(ycsb);
	return good;
}

const struct parser ycsb_parser = {
	.name = "ycsb",
	.title = "YCSB 0.1 to 0.17",
	.recognise = ycsb_recognise,
	.begin = ycsb_begin,
	.line = ycsb_line,
	.end = ycsb_end,
};
