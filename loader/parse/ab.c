/*
 * ab, ApacheBench: "label: value", the table of connection times, the table of percentiles, in ms.
 * The first "Time per request" is what a client waits, the second one is the first by concurrency.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct ab {
	struct output *output; /* of state_new() */
	char path[128];
	bool began, rate, times, total, percentiles, longest;
	double failed, refused; /* by length or exception, by status: may be the same requests */
};

static const struct figure figures[] = {
	{ "Time taken for tests", "runtime", UNIT_SECONDS, 1 },
	{ "Complete requests", "operations", UNIT_COUNT, 1 },
	{ "Total transferred", "bytes", UNIT_BYTES, 1 },
	{ "Requests per second", "throughput", UNIT_RATE, 1 },
	{ "Transfer rate", "bandwidth", UNIT_BYTE_RATE, 1024 },
	{ "Non-2xx responses", "non2xx", UNIT_COUNT, 1 },
};

#define FIGURES (sizeof(figures) / sizeof(*figures))

static int ab_recognise(const char *text, size_t size)
{
	if (text_has_line(text, size, "This is ApacheBench"))
		return 95;
	return text_has_line(text, size, "Time taken for tests:") ||
	                       text_has_line(text, size, "Time per request:") ||
	                       text_has_line(text, size, "Server Hostname:")
	               ? 90
	               : 0;
}

static void *ab_begin(struct output *output)
{
	return state_new(output, sizeof(struct ab));
}

static bool finish_result(struct ab *ab, char why[WHY_SIZE])
{
	if (!ab->began)
		return true;
	struct result *result = output_last(ab->output);
	ab->began = false;
	if (!ab->rate)
		result_set_incomplete(result, "no Requests per second");
	else if (!ab->times || !ab->total)
		result_set_incomplete(result, "no Connection Times down to Total");
	else if (ab->percentiles && !ab->longest)
		result_set_incomplete(result, "the percentiles stop before 100%%");
	return !ab->rate || figure_errors(result, fmax(ab->failed, ab->refused), why);
}

static bool begin_result(struct ab *ab, char why[WHY_SIZE])
{
	struct output *output = ab->output;
	if (!finish_result(ab, why) || !state_result(output, "", why))
		return false;
	*ab = (struct ab){ .output = output, .began = true };
	return true;
}

/* "Total:        433  668  70.9    670     898": min, mean, sd, median, max. */
static bool take_times(struct ab *ab, const char *kind, char *text, char why[WHY_SIZE])
{
	static const char *const names[] = { "min", "mean", "stddev", "median", "max" };
	struct result *result = output_last(ab->output);
	bool total = strcmp(kind, "Total") == 0;
	char *words[6], prefix[NAME_SIZE], name[2 * NAME_SIZE];
	size_t count = line_words(text, " \t", words, 6);
	ab->total |= total;
	name_make(prefix, NULL, total ? "latency" : kind);
	if (count != 5) {
		why_set(why, "%s with %zu columns; min, mean, sd, median and max are needed", kind,
		        count);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s.%s", prefix, names[i]);
		if (result_metric(result, name) != NULL)
			continue; /* the mean, told more exactly before */
		if (!figure_read(result, name, words[i], UNIT_SECONDS, 1e-3, why))
			return false;
	}
	return true;
}

/* "50%    670", "100%    898 (longest request)". */
static bool take_percentile(struct ab *ab, char *line, char why[WHY_SIZE])
{
	char name[NAME_SIZE], *sign = strchr(line, '%');
	double percentile;
	*sign = '\0';
	if (!parse_number(line, &percentile) || !(percentile > 0 && percentile <= 100)) {
		why_set(why, "percentile '%.20s'; one between 0 and 100 is needed", line);
		return false;
	}
	ab->longest |= percentile == 100;
	name_percentile(name, "latency", percentile);
	if (percentile == 100 || result_metric(output_last(ab->output), name) != NULL)
		return true;
	return figure_read(
	        output_last(ab->output), name, line_trim(sign + 1), UNIT_SECONDS, 1e-3, why);
}

static bool take_count(double *count, const char *text, char why[WHY_SIZE])
{
	if (figure_value(text, UNIT_COUNT, 1, count) && *count >= 0)
		return true;
	why_set(why, "'%.40s'; a number of requests is needed", text);
	return false;
}

static bool take_figure(struct ab *ab, const char *label, char *text, char why[WHY_SIZE])
{
	struct result *result = output_last(ab->output);
	char name[WHY_SIZE];
	if (strcmp(label, "Time per request") == 0)
		return strstr(text, "across") != NULL ||
		       figure_read(result, "latency.mean", text, UNIT_SECONDS, 1e-3, why);
	if (strcmp(label, "Failed requests") == 0 && !take_count(&ab->failed, text, why))
		return false;
	if (strcmp(label, "Non-2xx responses") == 0 && !take_count(&ab->refused, text, why))
		return false;
	if (strcmp(label, "Document Path") == 0)
		snprintf(ab->path, sizeof(ab->path), "%s", text);
	ab->rate |= strcmp(label, "Requests per second") == 0;
	snprintf(name, sizeof(name), "%s concurrency=%s", ab->path, text);
	if (strcmp(label, "Concurrency Level") == 0)
		return state_label(result, name, why);
	return figure_take(result, figures, FIGURES, label, text, why);
}

static bool is_kind(const char *label)
{
	return strcmp(label, "Connect") == 0 || strcmp(label, "Processing") == 0 ||
	       strcmp(label, "Waiting") == 0 || strcmp(label, "Total") == 0;
}

static bool take_head(struct ab *ab, char *line, bool *taken, char why[WHY_SIZE])
{
	bool start = line_after(line, "This is ApacheBench") != NULL ||
	             (line_after(line, "Server Hostname:") != NULL && (!ab->began || ab->rate));
	bool error = strncmp(line, "apr_", 4) == 0 || strncmp(line, "ab: ", 4) == 0;
	*taken = start || error;
	if ((start || error) && (start || !ab->began) && !begin_result(ab, why))
		return false;
	if (error)
		result_set_invalid(output_last(ab->output), "%s", line);
	return true;
}

static bool ab_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	(void)number, (void)length;
	struct ab *ab = state;
	bool taken;
	line = line_trim(line);
	if (!take_head(ab, line, &taken, why))
		return false;
	if (taken)
		return true;
	if (!ab->began) {
		if (line_after(line, "Time taken for tests:") == NULL)
			return true;
		if (!begin_result(ab, why))
			return false;
	}
	if (ab->percentiles && *line >= '0' && *line <= '9' && strchr(line, '%') != NULL)
		return take_percentile(ab, line, why);
	ab->times |= strncmp(line, "Connection Times", 16) == 0;
	ab->percentiles |= strncmp(line, "Percentage of the requests", 26) == 0;
	char *text = line_value(line, ':');
	if (text == NULL)
		return true;
	return ab->times && is_kind(line) ? take_times(ab, line, text, why)
	                                  : take_figure(ab, line, text, why);
}

static bool ab_end(void *state, char why[WHY_SIZE])
{
	bool good = finish_result(state, why);
	free(state);
	return good;
}

const struct parser ab_parser = {
	.name = "ab",
	.title = "ab (ApacheBench)",
	.recognise = ab_recognise,
	.begin = ab_begin,
	.line = ab_line,
	.end = ab_end,
};
