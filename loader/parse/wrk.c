/*
 * wrk, and wrk2, which prints alike. wrk2 keeps to a rate that its output does not tell: requests
 * that time out say that the server did not follow, and that the latencies are those of the rest.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct wrk {
	struct output *output; /* of state_new() */
	char label[256];
	bool second; /* wrk2 */
	bool began, requests, transfer;
	bool spread; /* below the heading of the distribution of latencies */
	bool twice;  /* below that of the uncorrected latencies, which are no result */
};

static bool is_wrk(const char *text, size_t size)
{
	return text_has(text, size, "test @ ") && text_has(text, size, "Thread Stats");
}

static bool is_wrk2(const char *text, size_t size)
{
	return text_has(text, size, "Thread calibration: ") ||
	       text_has(text, size, "Distribution (HdrHistogram");
}

static int wrk_recognise(const char *text, size_t size)
{
	if (is_wrk(text, size))
		return 90;
	return text_has_line(text, size, "Requests/sec:") || text_has(text, size, "test @ http")
	               ? 70
	               : 0;
}

static int wrk2_recognise(const char *text, size_t size)
{
	return is_wrk2(text, size) && text_has(text, size, "test @ ") ? 95 : 0;
}

static void *wrk_begin(struct output *output)
{
	return state_new(output, sizeof(struct wrk));
}

static void *wrk2_begin(struct output *output)
{
	struct wrk *wrk = state_new(output, sizeof(*wrk));
	if (wrk != NULL)
		wrk->second = true;
	return wrk;
}

static void finish_result(struct wrk *wrk)
{
	if (!wrk->began)
		return;
	wrk->began = false;
	if (!wrk->requests)
		result_set_incomplete(output_last(wrk->output), "no Requests/sec");
	else if (!wrk->transfer)
		result_set_incomplete(output_last(wrk->output), "no Transfer/sec");
}

static bool begin_result(struct wrk *wrk, const char *label, char why[WHY_SIZE])
{
	finish_result(wrk);
	snprintf(wrk->label, sizeof(wrk->label), "%s", label);
	wrk->began = true;
	wrk->requests = wrk->transfer = wrk->spread = wrk->twice = false;
	return state_result(wrk->output, label, why);
}

/* "63.02ms   29.98ms 344.36ms   75.69%". */
static bool take_latency(struct result *result, char *text, char why[WHY_SIZE])
{
	static const char *const names[] = { "latency.mean", "latency.stddev", "latency.max" };
	char *words[5];
	size_t count = line_words(text, " \t", words, 5);
	if (count != 4) {
		why_set(why, "Latency with %zu columns; Avg, Stdev, Max and +/- Stdev are needed",
		        count);
		return false;
	}
	for (size_t i = 0; i < 3; i++)
		if (!figure_read(result, names[i], words[i], UNIT_SECONDS, 0, why))
			return false;
	return true;
}

/* "99%   91.51ms", wrk2: "99.900%    5.72ms". */
static bool take_percentile(struct result *result, char *line, char why[WHY_SIZE])
{
	char name[NAME_SIZE], *sign = strchr(line, '%');
	double percentile;
	*sign = '\0';
	if (!parse_number(line, &percentile) || !(percentile >= 0 && percentile <= 100)) {
		why_set(why, "percentile '%.20s'; one between 0 and 100 is needed", line);
		return false;
	}
	name_percentile(name, "latency", percentile);
	return percentile == 100 ||
	       figure_read(result, name, line_trim(sign + 1), UNIT_SECONDS, 0, why);
}

static bool add_bytes(struct result *result, const char *name, const char *text,
        enum metric_unit unit, char why[WHY_SIZE])
{
	double bytes;
	if (parse_bytes(text, 1024, &bytes))
		return figure_add(result, name, bytes, unit, 0, why);
	why_set(why, "%s is '%.40s'; a size like 1.5MB is needed", name, text);
	return false;
}

/* "117458 requests in 30.08s, 25.65MB read". */
static bool take_requests(struct result *result, char *line, char why[WHY_SIZE])
{
	char *time = strstr(line, " requests in "), *comma = strrchr(line, ',');
	char *read = comma != NULL ? strstr(comma, " read") : NULL;
	if (read == NULL || comma < time) {
		why_set(why, "'%.60s'; N requests in TIME, SIZE read is needed", line);
		return false;
	}
	*time = *comma = *read = '\0';
	return figure_read(result, "operations", line, UNIT_COUNT, 1, why) &&
	       figure_read(result, "runtime", time + 13, UNIT_SECONDS, 0, why) &&
	       add_bytes(result, "bytes", line_trim(comma + 1), UNIT_BYTES, why);
}

/* "connect 253, read 21, write 0, timeout 0". */
static bool take_errors(struct wrk *wrk, char *text, char why[WHY_SIZE])
{
	char *words[10];
	double count, total = 0;
	size_t words_count = line_words(text, " ,", words, 10);
	for (size_t i = 1; i < words_count; i += 2) {
		if (!parse_number(words[i], &count)) {
			why_set(why, "%s errors are '%.20s'; a number is needed", words[i - 1],
			        words[i]);
			return false;
		}
		total += count;
		if (wrk->second && strcmp(words[i - 1], "timeout") == 0 && count > 0)
			result_set_invalid(output_last(wrk->output),
			        "%.15g requests timed out: saturated below the rate that was asked "
			        "for, so latencies mislead",
			        count);
	}
	return figure_errors(output_last(wrk->output), total, why);
}

static bool take_setup(struct wrk *wrk, char *line, char why[WHY_SIZE])
{
	char *threads = strstr(line, " threads and "), *end = strstr(line, " connections");
	char label[sizeof(wrk->label) + 64];
	if (threads == NULL || end == NULL || end < threads)
		return true;
	*threads = *end = '\0';
	snprintf(label, sizeof(label), "%s threads=%.12s connections=%.12s", wrk->label, line,
	        threads + 13);
	return state_label(output_last(wrk->output), label, why);
}

static bool take_figure(struct wrk *wrk, char *line, char why[WHY_SIZE])
{
	struct result *result = output_last(wrk->output);
	char *text;
	double count;
	if ((text = line_after(line, "Requests/sec:")) != NULL) {
		wrk->requests = true;
		return figure_read(result, "throughput", text, UNIT_RATE, 1, why);
	}
	if ((text = line_after(line, "Transfer/sec:")) != NULL) {
		wrk->transfer = true;
		return add_bytes(result, "bandwidth", text, UNIT_BYTE_RATE, why);
	}
	if ((text = line_after(line, "Socket errors:")) != NULL)
		return take_errors(wrk, text, why);
	if ((text = line_after(line, "Non-2xx or 3xx responses:")) != NULL) {
		if (parse_number(text, &count))
			return figure_errors(result, count, why);
		why_set(why, "Non-2xx responses are '%.20s'; a number is needed", text);
		return false;
	}
	if (strstr(line, " requests in ") != NULL)
		return take_requests(result, line, why);
	return strstr(line, " threads and ") == NULL || take_setup(wrk, line, why);
}

static bool wrk_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	(void)number, (void)length;
	struct wrk *wrk = state;
	char *text;
	line = line_trim(line);
	if ((text = line_after(line, "Running ")) != NULL && strstr(text, " @ ") != NULL)
		return begin_result(wrk, text, why);
	if (!wrk->began)
		return true;
	if ((text = line_after(line, "Latency ")) != NULL) {
		wrk->spread = strncmp(text, "Distribution", 12) == 0;
		if (!wrk->spread && *text >= '0' && *text <= '9')
			return take_latency(output_last(wrk->output), text, why);
		wrk->twice = wrk->spread && strstr(text, "Uncorrected") != NULL;
		return true;
	}
	if (wrk->spread && isdigit((unsigned char)*line) && strchr(line, '%') != NULL)
		return wrk->twice || take_percentile(output_last(wrk->output), line, why);
	return take_figure(wrk, line, why);
}

static bool wrk_end(void *state, char why[WHY_SIZE])
{
	(void)why;
	finish_result(state);
	free(state);
	return true;
}

const struct parser wrk_parser = {
	.name = "wrk",
	.title = "wrk",
	.recognise = wrk_recognise,
	.begin = wrk_begin,
	.line = wrk_line,
	.end = wrk_end,
};

const struct parser wrk2_parser = {
	.name = "wrk2",
	.title = "wrk2",
	.recognise = wrk2_recognise,
	.begin = wrk2_begin,
	.line = wrk_line,
	.end = wrk_end,
};
