/*
 * sysbench 0.4 to 1.1: oltp, cpu, memory, fileio, mutex, threads. The report is "label: value"
 * below headings; times are in ms with a unit (0.4, 0.5) or with one in the heading (1.0).
 */
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct sysbench {
	struct output *output; /* of state_new() */
	char label[128];
	bool latency; /* below the heading of the latencies */
	bool began, ended;
};

static const struct figure figures[] = {
	{ "transactions", "transactions", UNIT_COUNT, 1 },
	{ "deadlocks", "deadlocks", UNIT_COUNT, 1 },
	{ "reconnects", "reconnects", UNIT_COUNT, 1 },
	{ "total time", "runtime", UNIT_SECONDS, 1 },
	{ "time elapsed", "runtime", UNIT_SECONDS, 1 },
	{ "total number of events", "events", UNIT_COUNT, 1 },
	{ "events per second", "throughput", UNIT_RATE, 1 },
	{ "events/s (eps)", "events.throughput", UNIT_RATE, 1 },
	{ "Total operations", "operations", UNIT_COUNT, 1 },
	{ "reads/s", "read.throughput", UNIT_RATE, 1 },
	{ "writes/s", "write.throughput", UNIT_RATE, 1 },
	{ "fsyncs/s", "fsync.throughput", UNIT_RATE, 1 },
	{ "read, MiB/s", "read.bandwidth", UNIT_BYTE_RATE, 1 << 20 },
	{ "written, MiB/s", "write.bandwidth", UNIT_BYTE_RATE, 1 << 20 },
};

/* The rate in parentheses after a count. */
static const struct figure rates[] = {
	{ "transactions", "throughput", UNIT_RATE, 1 },
	{ "queries", "queries.throughput", UNIT_RATE, 1 },
	{ "read/write requests", "requests.throughput", UNIT_RATE, 1 },
	{ "other operations", "other.throughput", UNIT_RATE, 1 },
	{ "Total operations", "throughput", UNIT_RATE, 1 },
	{ "Operations performed", "throughput", UNIT_RATE, 1 },
};

static const struct figure latencies[] = {
	{ "min", "latency.min", UNIT_SECONDS, 1e-3 },
	{ "avg", "latency.mean", UNIT_SECONDS, 1e-3 },
	{ "max", "latency.max", UNIT_SECONDS, 1e-3 },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static int sysbench_recognise(const char *text, size_t size)
{
	if (text_has_line(text, size, "sysbench 0.") || text_has_line(text, size, "sysbench 1."))
		return 90;
	return text_has_line(text, size, "Test execution summary:") ||
	                       text_has_line(text, size, "General statistics:") ||
	                       text_has_line(text, size, "SQL statistics:")
	               ? 85
	               : 0;
}

static void *sysbench_begin(struct output *output)
{
	return state_new(output, sizeof(struct sysbench));
}

static bool finish_result(struct sysbench *sysbench, char why[WHY_SIZE])
{
	struct result *result = output_last(sysbench->output);
	if (result == NULL || !sysbench->began)
		return true;
	sysbench->began = false;
	if (!sysbench->ended)
		result_set_incomplete(result, "no Threads fairness at the end");
	const struct metric *rate = result_metric(result, "events.throughput"),
	                    *events = result_metric(result, "events"),
	                    *runtime = result_metric(result, "runtime");
	if (result_metric(result, "throughput") != NULL)
		return true;
	if (rate != NULL)
		return figure_add(result, "throughput", rate->value, UNIT_RATE, 0, why);
	if (events == NULL || runtime == NULL || !(runtime->value > 0))
		return true;
	return figure_add(result, "throughput", events->value / runtime->value, UNIT_RATE,
	        METRIC_DERIVED, why);
}

static bool begin_result(struct sysbench *sysbench, char why[WHY_SIZE])
{
	if (!finish_result(sysbench, why) || !state_result(sysbench->output, "", why))
		return false;
	sysbench->began = true;
	sysbench->ended = sysbench->latency = false;
	sysbench->label[0] = '\0';
	return true;
}

static bool add_label(
        struct sysbench *sysbench, const char *key, const char *value, char why[WHY_SIZE])
{
	size_t used = strlen(sysbench->label);
	snprintf(sysbench->label + used, sizeof(sysbench->label) - used, "%s%s%s",
	        used > 0 ? " " : "", key, value);
	return state_label(output_last(sysbench->output), sysbench->label, why);
}

/* "approx.  95 percentile", "95th percentile". */
static bool take_latency(
        struct result *result, const char *label, const char *text, char why[WHY_SIZE])
{
	char name[NAME_SIZE];
	const char *digits = label + strcspn(label, "0123456789");
	double percentile;
	if (strstr(label, "percentile") == NULL)
		return figure_take(result, latencies, COUNT(latencies), label, text, why);
	snprintf(name, sizeof(name), "%.*s", (int)strspn(digits, "0123456789."), digits);
	if (!parse_number(name, &percentile) || !(percentile > 0 && percentile <= 100))
		return true; /* switched off */
	name_percentile(name, "latency", percentile);
	return figure_read(result, name, text, UNIT_SECONDS, 1e-3, why);
}

/* "24.00 MiB transferred (12.00 MiB/sec)", "Read 1Mb  Written 2Mb  Total transferred 3Mb
 * (4.5Mb/sec)", "12.5 Requests/sec executed". */
static bool take_sentence(struct result *result, char *line, char why[WHY_SIZE])
{
	char *paren = strchr(line, '('), *slash;
	double value;
	if (strstr(line, "Requests/sec executed") != NULL)
		return figure_read(result, "throughput", line, UNIT_RATE, 1, why);
	if (strstr(line, "transferred") == NULL || paren == NULL)
		return true;
	if ((slash = strstr(paren, "/sec")) != NULL)
		*slash = '\0';
	if (slash == NULL || !parse_bytes(paren + 1, 1024, &value)) {
		why_set(why, "'%.40s' of what was transferred; a size per second is needed", paren);
		return false;
	}
	return figure_add(result, "bandwidth", value, UNIT_BYTE_RATE, 0, why);
}

static bool take_figure(struct result *result, const char *label, char *text, char why[WHY_SIZE])
{
	double errors;
	const char *paren = strchr(text, '(');
	if (strcmp(label, "ignored errors") == 0) {
		if (figure_value(text, UNIT_COUNT, 1, &errors))
			return figure_errors(result, errors, why);
		why_set(why, "ignored errors is '%.40s'; a number is needed", text);
		return false;
	}
	return figure_take(result, figures, COUNT(figures), label, text, why) &&
	       (paren == NULL || figure_take(result, rates, COUNT(rates), label, paren + 1, why));
}

static bool take_head(struct sysbench *sysbench, char *line, bool *taken, char why[WHY_SIZE])
{
	struct result *result = output_last(sysbench->output);
	char *text;
	*taken = true;
	if ((text = line_after(line, "sysbench ")) != NULL && *text >= '0' && *text <= '9') {
		if (sysbench->output->version[0] == '\0')
			snprintf(sysbench->output->version, sizeof(sysbench->output->version),
			        "%.*s", (int)strspn(text, "0123456789."), text);
		return begin_result(sysbench, why);
	}
	if (line_after(line, "Running the test with following options:") != NULL)
		return (sysbench->began && result->metric_count == 0) ||
		       begin_result(sysbench, why);
	if ((result == NULL || !sysbench->began) && !begin_result(sysbench, why))
		return false;
	if ((text = line_after(line, "FATAL:")) != NULL)
		result_set_invalid(output_last(sysbench->output), "FATAL: %s", text);
	else if ((text = line_after(line, "Number of threads:")) != NULL)
		return add_label(sysbench, "threads=", text, why);
	else if ((text = line_after(line, "Running ")) != NULL && strstr(text, " test") != NULL)
		return add_label(sysbench, "", text, why);
	else
		*taken = false;
	return true;
}

static bool sysbench_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	(void)number, (void)length;
	struct sysbench *sysbench = state;
	bool taken;
	line = line_trim(line);
	if (*line == '\0' || *line == '[')
		return true;
	if (!take_head(sysbench, line, &taken, why))
		return false;
	struct result *result = output_last(sysbench->output);
	if (taken)
		return true;
	char *text = line_value(line, ':');
	if (text == NULL)
		return take_sentence(result, line, why);
	if (strcmp(line, "execution time (avg/stddev)") == 0)
		sysbench->ended = true;
	if (*text == '\0') {
		sysbench->latency = strncmp(line, "Latency", 7) == 0 ||
		                    strcmp(line, "per-request statistics") == 0 ||
		                    strcmp(line, "response time") == 0;
		return true;
	}
	return sysbench->latency ? take_latency(result, line, text, why)
	                         : take_figure(result, line, text, why);
}

static bool sysbench_end(void *state, char why[WHY_SIZE])
{
	bool good = finish_result(state, why);
	free(state);
	return good;
}

const struct parser sysbench_parser = {
	.name = "sysbench",
	.title = "sysbench 0.4 to 1.1",
	.recognise = sysbench_recognise,
	.begin = sysbench_begin,
	.line = sysbench_line,
	.end = sysbench_end,
};
