/*
 * `abshim plan`: how many runs an experiment needs, from the spread that was measured.
 */
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../command.h"
#include "../message.h"
#include "../verdict/gather.h"
#include "experiment.h"
#include "numbers.h"
#include "resolution.h"

static const char usage[] =
        "Usage: abshim plan --detect SHARE [OPTION]... DIR|FILE...\n"
        "\n"
        "Says how many runs of each arm show a difference of that share, from the spread of the\n"
        "runs of an experiment, or of runs of one setting whose output is in files.\n"
        "\n"
        "  --detect SHARE  the difference of means to be found, a percentage such as 2%\n"
        "  --power SHARE   how surely, default 80%; from 50%\n"
        "  --level SHARE   confidence of the test, default 95%; from 50%\n"
        "  --metric NAME   default: the primary one, or throughput, or the first\n"
        "  --json          prints JSON\n"
        "\n"
        "Exit status: 0; 2 a file cannot be read; 125 wrong usage, or abshim itself failed.\n";

#define FORMAT_VERSION 1

struct plan {
	double detect, power, level;
	const char *metric;
	bool json;
	/* What was found. */
	char *name;
	double mean, stddev;
	size_t n;
};

static bool fail(const char *format, const char *what)
{
	message(format, what);
	return false;
}

static bool take(struct plan *plan, const struct metric_values *metric)
{
	plan->n = 0;
	for (size_t i = 0; i < metric->arm_count; i++)
		plan->n += metric->arms[i].summary.n;
	plan->name = strdup(metric->name);
	plan->mean = metric->arms[0].summary.mean;
	plan->stddev = resolution_spread(metric);
	if (isnan(plan->stddev))
		return fail("plan: %s: two runs of one arm are needed to know its spread",
		        metric->name);
	if (!(plan->mean != 0))
		return fail("plan: %s: its mean is 0: a share of it cannot be looked for",
		        metric->name);
	return plan->name != NULL;
}

static bool choose(struct plan *plan, const struct metric_values *metrics, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (plan->metric == NULL || strcmp(metrics[i].name, plan->metric) == 0)
			return take(plan, &metrics[i]);
	return fail("plan: there is no metric %s", plan->metric != NULL ? plan->metric : "yet");
}

static int read_directory(struct plan *plan, const char *path)
{
	char why[WHY_SIZE];
	struct experiment_values *values = experiment_load(path, why);
	if (values == NULL) {
		message("plan: %s", why);
		return EXIT_UNREADABLE;
	}
	bool good = choose(plan, values->metrics, values->count);
	experiment_values_free(values);
	return good ? 0 : EXIT_OWN_FAILURE;
}

/* Files are runs of one arm. */
static int read_files(struct plan *plan, char **paths, size_t count)
{
	char why[WHY_SIZE];
	int status = EXIT_OWN_FAILURE;
	const struct output **outputs = calloc(count, sizeof(*outputs));
	for (size_t i = 0; i < count && outputs != NULL; i++) {
		outputs[i] = output_read(paths[i], NULL, why);
		if (outputs[i] != NULL)
			continue;
		message("plan: %s", why);
		status = EXIT_UNREADABLE;
		count = i;
	}
	const struct gather_arm arm = { "a", (const char *const *)paths, outputs, count, 0 };
	struct gathered *gathered = NULL;
	if (outputs != NULL && status != EXIT_UNREADABLE)
		gathered = gather(&arm, 1);
	if (gathered != NULL && choose(plan, gathered->metrics, gathered->count))
		status = 0;
	gathered_free(gathered);
	for (size_t i = 0; i < count && outputs != NULL; i++)
		output_free((struct output *)outputs[i]);
	free(outputs);
	return status;
}

/* "17 runs", and of a number that is not known to be right, more than the largest that is. */
static void print_runs(size_t runs)
{
	if (runs == 0)
		fputs("more than 1,000,000,000 runs", stdout);
	else
		printf("%zu runs", runs);
}

static int print_plan(const struct plan *plan)
{
	char level[LEVEL_SIZE], power[LEVEL_SIZE];
	size_t runs = stats_runs_needed(
	        plan->stddev, fabs(plan->detect * plan->mean), plan->level, plan->power);
	if (plan->json) {
		json_t *object = json_pack("{s:i, s:{s:s, s:f, s:f, s:I, s:f, s:f, s:f, s:o}}",
		        "version", FORMAT_VERSION, "plan", "metric", plan->name, "mean", plan->mean,
		        "stddev", plan->stddev, "n", (json_int_t)plan->n, "detect", plan->detect,
		        "power", plan->power, "level", plan->level, "runs",
		        runs == 0 ? json_null() : json_integer((json_int_t)runs));
		if (runs == 0)
			message("plan: %s: more than 1,000,000,000 runs of each arm, so that runs "
			        "is null; a larger difference needs fewer",
			        plan->name);
		json_dumpf(object, stdout, JSON_INDENT(2));
		fputc('\n', stdout);
		json_decref(object);
	} else {
		print_runs(runs);
		printf(" of each arm find a difference of %g %% in %s with %s %% power at "
		       "%s %% confidence\n"
		       "(spread %.3g %% of the mean, from %zu runs)\n",
		        plan->detect * 100, plan->name, level_text(plan->power, power),
		        level_text(plan->level, level), fabs(plan->stddev / plan->mean) * 100,
		        plan->n);
	}
	return fflush(stdout) == 0 ? 0 : EXIT_OWN_FAILURE;
}

static bool take_share(const char *text, double least, double *share)
{
	if (!number_read_percent(text, share)) {
		message("plan: %s: must be a share such as 2%%", text);
		return false;
	}
	if (*share >= least)
		return true;
	message("plan: %s: power and confidence must be from 50%% to below 100%%", text);
	return false;
}

/* Returns -1 to go on with argv[optind], else the exit status. */
static int parse_arguments(struct plan *plan, int argc, char **argv)
{
	enum { DETECT = 1000, POWER, LEVEL, METRIC, JSON, HELP };
	static const struct option long_options[] = {
		{ "detect", required_argument, NULL, DETECT },
		{ "power", required_argument, NULL, POWER },
		{ "level", required_argument, NULL, LEVEL },
		{ "metric", required_argument, NULL, METRIC },
		{ "json", no_argument, NULL, JSON },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	int option;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		double *share = option == DETECT  ? &plan->detect
		                : option == POWER ? &plan->power
		                : option == LEVEL ? &plan->level
		                                  : NULL;
		if (option == HELP) {
			fputs(usage, stdout);
			return fflush(stdout) == 0 ? 0 : EXIT_OWN_FAILURE;
		}
		if (option == METRIC)
			plan->metric = optarg;
		else if (option == JSON)
			plan->json = true;
		if (option == ':' || option == '?') {
			message("plan: %s: %s; see abshim plan --help", argv[optind - 1],
			        option == ':' ? "needs a value" : "unknown option");
			return EXIT_OWN_FAILURE;
		}
		if (share != NULL && !take_share(optarg, option == DETECT ? 0 : 0.5, share))
			return EXIT_OWN_FAILURE;
	}
	if (plan->detect > 0 && optind < argc)
		return -1;
	message("plan: give %s; see abshim plan --help",
	        plan->detect > 0 ? "a directory or files" : "--detect");
	return EXIT_OWN_FAILURE;
}

int command_plan(int argc, char **argv)
{
	struct plan plan = { .power = 0.8, .level = 0.95 };
	struct stat status;
	int result = parse_arguments(&plan, argc, argv);
	if (result != -1)
		return result;
	if (argc == optind + 1 && stat(argv[optind], &status) == 0 && S_ISDIR(status.st_mode))
		result = read_directory(&plan, argv[optind]);
	else
		result = read_files(&plan, argv + optind, (size_t)(argc - optind));
	if (result == 0)
		result = print_plan(&plan);
	free(plan.name);
	return result;
}
