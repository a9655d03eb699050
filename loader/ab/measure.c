/*
 * Figures of a run: from what the client printed, and from the kernel's account of its processes.
 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "stage.h"

#define REGEX "regex:"

bool measure_check_expression(const char *metric, char why[WHY_SIZE])
{
	regex_t regex;
	if (strncmp(metric, REGEX, strlen(REGEX)) != 0)
		return true;
	int error = regcomp(&regex, metric + strlen(REGEX), REG_EXTENDED);
	if (error == 0) {
		size_t groups = regex.re_nsub;
		regfree(&regex);
		if (groups > 0)
			return true;
		why_set(why, "--metric %.200s: must have a group ( ) around the number", metric);
		return false;
	}
	char reason[128];
	regerror(error, &regex, reason, sizeof(reason));
	why_set(why, "--metric %.200s: %s", metric, reason);
	return false;
}

/* The last match in a file counts. */
static bool search(const char *path, const regex_t *regex, double *value)
{
	char *line = NULL;
	size_t room = 0;
	bool found = false;
	FILE *in = fopen(path, "re");
	while (in != NULL && getline(&line, &room, in) > 0) {
		regmatch_t groups[2];
		line[strcspn(line, "\r\n")] = '\0';
		if (regexec(regex, line, 2, groups, 0) != 0 || groups[1].rm_so < 0)
			continue;
		line[groups[1].rm_eo] = '\0';
		if (parse_number(line + groups[1].rm_so, value))
			found = true;
	}
	if (in != NULL)
		fclose(in);
	free(line);
	return found;
}

static void add_expression(struct stage *stage, const char *metric)
{
	static const char *const names[] = { "client.out", "client.err" };
	regex_t regex;
	double value;
	bool found = false;
	if (regcomp(&regex, metric + strlen(REGEX), REG_EXTENDED) != 0)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !found; i++) {
		char *path = stage_path(stage, names[i]);
		found = path != NULL && search(path, &regex, &value);
		free(path);
	}
	regfree(&regex);
	if (found)
		run_add(stage->run, metric, value, UNIT_NONE, BETTER_UNKNOWN);
}

static double mean(const struct series *series)
{
	double sum = 0;
	for (size_t i = 0; i < series->count; i++)
		sum += series->values[i];
	return sum / (double)series->count;
}

/* Metrics of one of several results are called LABEL/METRIC. */
static void add_result(struct run *run, const struct result *result, bool alone)
{
	char name[512];
	const char *label = alone ? "" : result->label, *slash = *label != '\0' ? "/" : "";
	for (size_t i = 0; i < result->metric_count; i++) {
		const struct metric *metric = &result->metrics[i];
		snprintf(name, sizeof(name), "%s%s%s", label, slash, metric->name);
		run_add(run, name, metric->value, metric->unit, metric->better);
	}
	for (size_t i = 0; i < result->series_count; i++) {
		const struct series *series = &result->series[i];
		snprintf(name, sizeof(name), "%s%s%s", label, slash, series->name);
		if (series->count > 0)
			run_add(run, name, mean(series), series->unit, series->better);
	}
	for (size_t i = 0; i < result->summary_count; i++) {
		const struct summary *summary = &result->summaries[i];
		snprintf(name, sizeof(name), "%s%s%s", label, slash, summary->name);
		run_add(run, name, summary->mean, summary->unit, summary->better);
	}
}

static void add_output(struct stage *stage, const struct output *output)
{
	uint64_t errors = 0;
	for (size_t i = 0; i < output->result_count; i++) {
		const struct result *result = &output->results[i];
		if (result->incomplete || result->invalid)
			run_refuse(stage->run, "%s: %s",
			        result->incomplete ? "INCOMPLETE output" : "no valid result",
			        result->why);
		errors += result->errors;
		add_result(stage->run, result, output->result_count == 1);
	}
	if (errors > stage->design->allowed_errors)
		run_refuse(stage->run,
		        "%llu errors in the client's output; --allow-errors says how many are "
		        "usual",
		        (unsigned long long)errors);
}

void measure_output(struct stage *stage)
{
	const struct parser *as =
	        stage->design->parser != NULL ? parser_by_name(stage->design->parser) : NULL;
	char why[WHY_SIZE];
	struct stat status;
	char *path = stage_path(stage, "client.out");
	if (path != NULL && stat(path, &status) == 0 && status.st_size == 0) {
		free(path);
		path = stage_path(stage, "client.err");
	}
	struct output *output = path != NULL ? output_read(path, as, why) : NULL;
	if (output != NULL)
		add_output(stage, output);
	else if (as != NULL && path != NULL)
		run_refuse(stage->run, "%s", why);
	output_free(output);
	free(path);
	for (size_t i = 0; i < stage->design->metrics.count; i++)
		if (strncmp(stage->design->metrics.items[i], REGEX, strlen(REGEX)) == 0)
			add_expression(stage, stage->design->metrics.items[i]);
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

void measure_usage(struct stage *stage, const char *prefix, const struct child *child)
{
	const struct rusage *usage = &child->usage;
	double user = seconds(usage->ru_utime), system = seconds(usage->ru_stime);
	const struct {
		const char *name;
		double value;
		enum metric_unit unit;
	} figures[] = {
		{ "wall", child->seconds, UNIT_SECONDS },
		{ "cpu", user + system, UNIT_SECONDS },
		{ "user", user, UNIT_SECONDS },
		{ "sys", system, UNIT_SECONDS },
		{ "max_rss", (double)usage->ru_maxrss * 1024, UNIT_BYTES },
		{ "voluntary_switches", (double)usage->ru_nvcsw, UNIT_COUNT },
		{ "involuntary_switches", (double)usage->ru_nivcsw, UNIT_COUNT },
	};
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		char name[64];
		snprintf(name, sizeof(name), "%s.%s", prefix, figures[i].name);
		run_add(stage->run, name, figures[i].value, figures[i].unit, BETTER_LESS);
	}
}

/* What the run has, for whoever asked for something else. Counters are left out. */
static void list_metrics(const struct run *run, char *text, size_t size)
{
	size_t length = 0;
	*text = '\0';
	for (size_t i = 0; i < run->metric_count && length < size; i++)
		if (strncmp(run->metrics[i].name, "shim.", 5) != 0)
			length += (size_t)snprintf(text + length, size - length, "%s%s",
			        length > 0 ? ", " : "", run->metrics[i].name);
}

void measure_check_metrics(struct stage *stage)
{
	char there[WHY_SIZE / 2];
	const struct texts *metrics = &stage->design->metrics;
	for (size_t i = 0; i < metrics->count; i++) {
		const char *name = metrics->items[i];
		if (strncmp(name, "shim.", 5) == 0 || run_metric(stage->run, name) != NULL)
			continue;
		list_metrics(stage->run, there, sizeof(there));
		run_refuse(stage->run, "no metric %.100s in this run; there are %s", name, there);
		/* Later on it is the run that is wrong, not the name. */
		if (stage->run->number == 1)
			stage->hopeless = true;
		return;
	}
}
