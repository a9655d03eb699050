/*
 * pgbench 8 to 17. The throughput is that without the time for connecting, which the versions name
 * differently; progress lines are no result.
 */
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct pgbench {
	struct output *output; /* of state_new() */
	char label[WHY_SIZE];
	bool began, rate;
	bool scripts;         /* figures of single scripts follow */
	double progress[2];   /* times of the first two lines of progress, in s */
	size_t progress_seen; /* how many of them */
};

static const struct figure figures[] = {
	{ "latency average", "latency.mean", UNIT_SECONDS, 1e-3 },
	{ "latency stddev", "latency.stddev", UNIT_SECONDS, 1e-3 },
	{ "initial connection time", "connect.time", UNIT_SECONDS, 1e-3 },
	{ "average connection time", "connect.mean", UNIT_SECONDS, 1e-3 },
};

static int pgbench_recognise(const char *text, size_t size)
{
	if (text_has_line(text, size, "transaction type:") || text_has_line(text, size, "tps = "))
		return 90;
	return text_has_line(text, size, "progress: ") && text_has(text, size, " tps, lat ") ? 90
	                                                                                     : 0;
}

static void *pgbench_begin(struct output *output)
{
	return state_new(output, sizeof(struct pgbench));
}

static void finish_result(struct pgbench *pgbench)
{
	if (!pgbench->began)
		return;
	pgbench->began = false;
	struct result *result = output_last(pgbench->output);
	double interval = pgbench->progress[1] - pgbench->progress[0];
	if (!pgbench->rate)
		result_set_incomplete(result, "no tps");
	else if (pgbench->progress_seen == 2 && pgbench->progress[0] > 1.5 * interval)
		result_set_incomplete(result,
		        "progress begins at %.15g s: what was printed before is missing",
		        pgbench->progress[0]);
}

static bool begin_result(struct pgbench *pgbench, char why[WHY_SIZE])
{
	finish_result(pgbench);
	pgbench->label[0] = '\0';
	pgbench->began = true;
	pgbench->rate = pgbench->scripts = false;
	pgbench->progress_seen = 0;
	return state_result(pgbench->output, "", why);
}

/* "progress: 570.0 s, 571.3 tps, lat 14.001 ms stddev 23.078". */
static bool take_progress(struct pgbench *pgbench, const char *text, char why[WHY_SIZE])
{
	char number[32];
	if ((!pgbench->began || pgbench->rate) && !begin_result(pgbench, why))
		return false;
	if (pgbench->progress_seen == 2)
		return true;
	snprintf(number, sizeof(number), "%.*s", (int)strcspn(text, " "), text);
	double *time = &pgbench->progress[pgbench->progress_seen++];
	if (parse_number(number, time))
		return true;
	why_set(why, "progress at '%.20s'; a time in s is needed", number);
	return false;
}

static bool add_label(
        struct pgbench *pgbench, const char *key, const char *value, char why[WHY_SIZE])
{
	size_t used = strlen(pgbench->label);
	snprintf(pgbench->label + used, sizeof(pgbench->label) - used, "%s%s%.100s",
	        used > 0 ? " " : "", key, value);
	return state_label(output_last(pgbench->output), pgbench->label, why);
}

/* "tps = 752.528022 (including connections establishing)". */
static bool take_rate(struct pgbench *pgbench, const char *text, char why[WHY_SIZE])
{
	struct result *result = output_last(pgbench->output);
	if (strstr(text, "(including") != NULL && strstr(text, "reconnection") == NULL)
		return figure_read(result, "connecting.throughput", text, UNIT_RATE, 1, why);
	pgbench->rate = true;
	return figure_read(result, "throughput", text, UNIT_RATE, 1, why);
}

/* "411962", "411962/500000". */
static bool take_count(
        struct result *result, const char *name, const char *text, char why[WHY_SIZE])
{
	char number[64];
	snprintf(number, sizeof(number), "%.*s", (int)strcspn(text, "/ ("), text);
	return figure_read(result, name, number, UNIT_COUNT, 1, why);
}

static bool take_failed(struct result *result, const char *text, char why[WHY_SIZE])
{
	double failed;
	if (figure_value(text, UNIT_COUNT, 1, &failed))
		return figure_errors(result, failed, why);
	why_set(why, "number of failed transactions is '%.40s'; a number is needed", text);
	return false;
}

static bool take_number(struct pgbench *pgbench, char *line, char why[WHY_SIZE])
{
	static const struct {
		const char *label, *key;
	} parameters[] = {
		{ "scaling factor", "scale=" },
		{ "query mode", "mode=" },
		{ "number of clients", "clients=" },
		{ "number of threads", "threads=" },
		{ "number of transactions per client", "transactions=" },
		{ "duration", "duration=" },
	};
	struct result *result = output_last(pgbench->output);
	char *text = line_value(line, ':');
	if (text == NULL)
		return true;
	for (size_t i = 0; i < sizeof(parameters) / sizeof(*parameters); i++)
		if (strcmp(line, parameters[i].label) == 0)
			return add_label(pgbench, parameters[i].key, text, why);
	if (strcmp(line, "number of transactions actually processed") == 0)
		return take_count(result, "transactions", text, why);
	if (strcmp(line, "number of failed transactions") == 0)
		return take_failed(result, text, why);
	if (strncmp(line, "number of transactions above the", 32) == 0)
		return take_count(result, "late", text, why);
	return figure_take(result, figures, 2, line, text, why);
}

static bool take_complaint(struct pgbench *pgbench, const char *line, char why[WHY_SIZE])
{
	bool aborted = strstr(line, "the above results are incomplete") != NULL;
	if (!aborted && strstr(line, "error:") == NULL && strstr(line, "fatal:") == NULL)
		return true;
	if (!pgbench->began && !begin_result(pgbench, why))
		return false;
	if (aborted)
		result_set_incomplete(output_last(pgbench->output), "the run was aborted");
	else
		result_set_invalid(output_last(pgbench->output), "%s", line);
	return true;
}

static bool pgbench_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	(void)number, (void)length;
	struct pgbench *pgbench = state;
	char *text;
	line = line_trim(line);
	if ((text = line_after(line, "progress:")) != NULL)
		return take_progress(pgbench, text, why);
	if (strncmp(line, "pgbench: ", 9) == 0 || strncmp(line, "Run was aborted", 15) == 0)
		return take_complaint(pgbench, line, why);
	if ((text = line_after(line, "transaction type:")) != NULL) {
		if ((!pgbench->began || pgbench->rate) && !begin_result(pgbench, why))
			return false;
		return add_label(pgbench, "", text, why);
	}
	if (!pgbench->began && strncmp(line, "tps = ", 6) == 0 && !begin_result(pgbench, why))
		return false;
	pgbench->scripts |= strncmp(line, "SQL script ", 11) == 0;
	if (!pgbench->began || pgbench->scripts || *line == '-')
		return true;
	if ((text = line_after(line, "tps = ")) != NULL)
		return take_rate(pgbench, text, why);
	char *equals = strchr(line, '=');
	if (equals == NULL || strchr(line, ':') != NULL)
		return take_number(pgbench, line, why);
	text = line_value(line, '=');
	return figure_take(output_last(pgbench->output), figures,
	        sizeof(figures) / sizeof(*figures), line, text, why);
}

static bool pgbench_end(void *state, char why[WHY_SIZE])
{
	(void)why;
	finish_result(state);
	free(state);
	return true;
}

const struct parser pgbench_parser = {
	.name = "pgbench",
	.title = "pgbench",
	.recognise = pgbench_recognise,
	.begin = pgbench_begin,
	.line = pgbench_line,
	.end = pgbench_end,
};
