/*
 * Figures of a run: from what the client printed, and from the kernel's account of its processes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "stage.h"

#define NAMED_MOST 6 /* of the metrics of a run, for whoever asked for another */

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

static bool is_empty(const char *path)
{
	struct stat status;
	return path == NULL || stat(path, &status) != 0 || status.st_size == 0;
}

/* The file with the client's figures: what it printed, or else its errors. */
static char *choose_output(const struct stage *stage)
{
	char *out = stage_path(stage, "client.out"), *err = stage_path(stage, "client.err");
	bool use_err = is_empty(out) && !is_empty(err);
	free(use_err ? out : err);
	return use_err ? err : out;
}

/* why begins with the file, whose directory is known. */
static void keep_problem(struct stage *stage, const char *why)
{
	const char *directory = stage->places->directory;
	size_t length = strlen(directory);
	if (strncmp(why, directory, length) == 0 && why[length] == '/')
		why += length + 1;
	why_set(stage->run->output, "%s", why);
}

void measure_output(struct stage *stage)
{
	const struct parser *as =
	        stage->design->parser != NULL ? parser_by_name(stage->design->parser) : NULL;
	char why[WHY_SIZE];
	char *path = choose_output(stage);
	struct output *output = path != NULL ? output_read(path, as, why) : NULL;
	if (output != NULL)
		add_output(stage, output);
	else if (as != NULL && path != NULL)
		run_refuse(stage->run, "%s", why);
	else if (!is_empty(path))
		keep_problem(stage, why);
	output_free(output);
	free(path);
	for (size_t i = 0; i < stage->design->metrics.count; i++)
		if (measure_is_expression(stage->design->metrics.items[i]))
			measure_expression(stage, stage->design->metrics.items[i]);
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

/* NAN: the client's output does not tell. A rate is that of the time that the client says, or of
 * all the time it took. */
static double operations(const struct run *run)
{
	const struct run_metric *count = run_metric(run, "operations");
	const struct run_metric *rate = run_metric(run, "throughput");
	const struct run_metric *time = run_metric(run, "runtime");
	if (count != NULL)
		return count->value;
	if (time == NULL || time->unit != UNIT_SECONDS)
		time = run_metric(run, "client.wall");
	if (rate == NULL || rate->unit != UNIT_RATE || time == NULL)
		return NAN;
	return rate->value * time->value;
}

void measure_per_operation(struct run *run)
{
	const struct run_metric *server = run_metric(run, "server.cpu");
	const struct run_metric *cpu = server != NULL ? server : run_metric(run, "client.cpu");
	double count = operations(run);
	if (cpu != NULL && count > 0)
		run_add(run,
		        server != NULL ? "server.cpu_per_operation" : "client.cpu_per_operation",
		        cpu->value / count, UNIT_SECONDS, BETTER_LESS);
}

/* Counters are left out. */
static void list_metrics(const struct run *run, char *text, size_t size)
{
	size_t length = 0, shown = 0;
	*text = '\0';
	for (size_t i = 0; i < run->metric_count && shown <= NAMED_MOST; i++) {
		if (strncmp(run->metrics[i].name, "shim.", 5) == 0 || shown++ == NAMED_MOST)
			continue;
		length += (size_t)snprintf(text + length, size - length, "%s%.30s",
		        length > 0 ? ", " : "", run->metrics[i].name);
	}
	if (shown > NAMED_MOST)
		snprintf(text + length, size - length, " and others (--metric list)");
}

void measure_check_metrics(struct stage *stage)
{
	char there[WHY_SIZE];
	const struct texts *metrics = &stage->design->metrics;
	for (size_t i = 0; i < metrics->count; i++) {
		const char *name = metrics->items[i];
		if (strncmp(name, "shim.", 5) == 0 || run_metric(stage->run, name) != NULL)
			continue;
		list_metrics(stage->run, there, sizeof(there));
		const char *problem = stage->run->output;
		run_refuse(stage->run, "no metric %.100s in this run; there are %s%s%s", name,
		        there, *problem != '\0' ? "; " : "", problem);
		/* Later on it is the run that is wrong, not the name. */
		if (stage->run->number == 1)
			stage->hopeless = true;
		return;
	}
}
