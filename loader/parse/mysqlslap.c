/*
 * mysqlslap: how long all queries took. Its rate is not printed, but follows.
 */
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct slap {
	struct output *output; /* of state_new() */
	char engine[64];
	double mean, clients, queries;
	bool began, ended;
};

static int slap_recognise(const char *text, size_t size)
{
	return text_has_line(text, size, "Average number of seconds to run all queries:") ||
	                       text_has_line(text, size, "mysqlslap:") ||
	                       text_has_line(text, size, "mariadb-slap:")
	               ? 95
	               : 0;
}

static void *slap_begin(struct output *output)
{
	return state_new(output, sizeof(struct slap));
}

static bool finish_result(struct slap *slap, char why[WHY_SIZE])
{
	struct result *result = output_last(slap->output);
	char label[128];
	if (!slap->began)
		return true;
	slap->began = false;
	if (!slap->ended)
		result_set_incomplete(result, "no number of queries at the end");
	snprintf(label, sizeof(label), "%s%sclients=%.15g queries=%.15g", slap->engine,
	        slap->engine[0] != '\0' ? " " : "", slap->clients, slap->queries);
	if (!state_label(result, label, why))
		return false;
	if (!slap->ended || !(slap->mean > 0))
		return true;
	return figure_add(result, "throughput", slap->clients * slap->queries / slap->mean,
	        UNIT_RATE, METRIC_DERIVED, why);
}

static bool begin_result(struct slap *slap, char why[WHY_SIZE])
{
	if (!finish_result(slap, why) || !state_result(slap->output, "", why))
		return false;
	slap->began = true;
	slap->ended = false;
	slap->mean = slap->clients = slap->queries = 0;
	return true;
}

static bool take_number(double *value, const char *text, char why[WHY_SIZE])
{
	if (figure_value(text, UNIT_COUNT, 1, value) && *value >= 0)
		return true;
	why_set(why, "'%.40s'; a number is needed", text);
	return false;
}

static bool take_figure(struct slap *slap, const char *label, char *text, char why[WHY_SIZE])
{
	static const struct figure figures[] = {
		{ "Average number of seconds to run all queries", "runtime.mean", UNIT_SECONDS, 1 },
		{ "Minimum number of seconds to run all queries", "runtime.min", UNIT_SECONDS, 1 },
		{ "Maximum number of seconds to run all queries", "runtime.max", UNIT_SECONDS, 1 },
	};
	if (!figure_take(output_last(slap->output), figures, 3, label, text, why))
		return false;
	if (strcmp(label, figures[0].label) == 0)
		return take_number(&slap->mean, text, why);
	if (strcmp(label, "Number of clients running queries") == 0)
		return take_number(&slap->clients, text, why);
	slap->ended = strcmp(label, "Average number of queries per client") == 0;
	return !slap->ended || take_number(&slap->queries, text, why);
}

static bool slap_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	(void)number, (void)length;
	struct slap *slap = state;
	line = line_trim(line);
	char *text = line_after(line, "Running for engine");
	if (text != NULL)
		snprintf(slap->engine, sizeof(slap->engine), "engine=%s", text);
	if (strcmp(line, "Benchmark") == 0)
		return begin_result(slap, why);
	bool error = strncmp(line, "mysqlslap: ", 11) == 0 && strstr(line, "[Warning]") == NULL;
	if (error && !slap->began && !begin_result(slap, why))
		return false;
	if (error) {
		result_set_invalid(output_last(slap->output), "%s", line);
		return true;
	}
	text = line_value(line, ':');
	bool figure = text != NULL && strstr(line, " number of ") != NULL;
	figure |= text != NULL && strncmp(line, "Number of clients", 17) == 0;
	if (!figure)
		return true;
	if (!slap->began && !begin_result(slap, why))
		return false;
	return take_figure(slap, line, text, why);
}

static bool slap_end(void *state, char why[WHY_SIZE])
{
	bool good = finish_result(state, why);
	free(state);
	return good;
}

const struct parser mysqlslap_parser = {
	.name = "mysqlslap",
	.title = "mysqlslap",
	.recognise = slap_recognise,
	.begin = slap_begin,
	.line = slap_line,
	.end = slap_end,
};
