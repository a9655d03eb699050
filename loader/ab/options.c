/*
 * Reads and checks the options of an experiment before anything runs.
 */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "numbers.h"
#include "ready.h"
#include "real.h"
#include "signals.h"
#include "stage.h"

#define MOST_RUNS 1000000

static const char usage[] =
        "Usage: abshim ab [-a KEY=VALUE]... [-b KEY=VALUE]... [OPTION]... [--] COMMAND [ARG]...\n"
        "       abshim ab --resume DIR [--json]\n"
        "\n"
        "Runs COMMAND again and again, with one setting of libabshim.so or of the environment and\n"
        "with another, in interleaved order, and says whether they differ.\n"
        "\n"
        "Arms\n"
        "  -a KEY=VALUE         a setting of arm a, as abshim run takes them; KEY+=VALUE and\n"
        "                       KEY-=VALUE too\n"
        "  -b KEY=VALUE         one of arm b; without any, b is the same as a, and the runs show\n"
        "                       what chance does (A/A)\n"
        "  --arm NAME:KEY=VALUE\n"
        "                       one of a further arm\n"
        "Runs\n"
        "  -n RUNS              counted runs of each arm, default 10\n"
        "  --warmup RUNS        runs of each arm before them that do not count, default 1\n"
        "  --order abba|random|fixed\n"
        "                       within a block of one run of each arm; default abba for two arms,\n"
        "                       random for more\n"
        "  --seed N             of the order; one is made up and printed where none is given\n"
        "  --until SHARE        such as 1%: go on until the primary metric's difference is known "
        "to\n"
        "                       +-1 % with 95 % confidence, instead of -n; at least 10 runs\n"
        "  --max-runs RUNS      counted runs of each arm at most, with --until, default 200\n"
        "  --retries N          how often an invalid run is repeated, default 3\n"
        "What is compared\n"
        "  --metric NAME        throughput, read.p99, client.cpu, server.max_rss,\n"
        "                       shim.mutex.wait_ns_total, ...; may be given again, the first is "
        "the\n"
        "                       primary one; default throughput, or else client.wall\n"
        "  --metric regex:E     the number in ( ) of the extended regular expression E\n"
        "  --metric list        runs once and lists what there is\n"
        "  --as PARSER          whose output COMMAND prints, instead of finding it out\n"
        "  --allow-errors N     errors in the output that do not make a run invalid, default 0\n"
        "A server: the library goes into it, and COMMAND is the load\n"
        "  --server CMD         starts it in the foreground, by /bin/sh\n"
        "  --ready HOW          when it is ready: tcp:PORT or tcp:HOST:PORT answers, a line of "
        "its\n"
        "                       output matches log:REGEX, or a command exits with 0\n"
        "  --stop HOW           by a signal, or by a command; default TERM\n"
        "  --reset CMD          restores its data before each start\n"
        "Limits in seconds\n"
        "  --start-timeout S    of --reset, and of the library's start in the server; 60\n"
        "  --ready-timeout S    60\n"
        "  --run-timeout S      of COMMAND; 3600\n"
        "  --stop-timeout S     30\n"
        "Results\n"
        "  -o DIR               where everything is kept; default abshim-YYYYmmdd-HHMMSS\n"
        "  --resume DIR         goes on with an experiment that was ended in any way\n"
        "  --json               prints the verdict as JSON\n"
        "\n"
        "Commands find AB_DIRECTORY (of the run's files), AB_ARM, AB_RUN and AB_SERVER_PID in "
        "their\n"
        "environment. COMMAND runs with LC_ALL=C.\n"
        "\n"
        "Exit status: 0 all runs are there, whatever they say; 3 a run stayed invalid; 78 the\n"
        "library refused a setting; 125 wrong usage, or abshim itself failed; 126 COMMAND cannot\n"
        "be run; 127 it was not found. A signal that ends abshim ends it after its children.\n";

enum ab_option {
	ARM = 1000,
	WARMUP,
	ORDER,
	SEED,
	UNTIL,
	MAX_RUNS,
	RETRIES,
	METRIC,
	AS,
	ALLOW_ERRORS,
	SERVER,
	READY,
	STOP,
	RESET,
	START_TIMEOUT,
	READY_TIMEOUT,
	RUN_TIMEOUT,
	STOP_TIMEOUT,
	RESUME,
	JSON,
	HELP
};

static const struct option long_options[] = {
	{ "arm", required_argument, NULL, ARM },
	{ "warmup", required_argument, NULL, WARMUP },
	{ "order", required_argument, NULL, ORDER },
	{ "seed", required_argument, NULL, SEED },
	{ "until", required_argument, NULL, UNTIL },
	{ "max-runs", required_argument, NULL, MAX_RUNS },
	{ "retries", required_argument, NULL, RETRIES },
	{ "metric", required_argument, NULL, METRIC },
	{ "as", required_argument, NULL, AS },
	{ "allow-errors", required_argument, NULL, ALLOW_ERRORS },
	{ "server", required_argument, NULL, SERVER },
	{ "ready", required_argument, NULL, READY },
	{ "stop", required_argument, NULL, STOP },
	{ "reset", required_argument, NULL, RESET },
	{ "start-timeout", required_argument, NULL, START_TIMEOUT },
	{ "ready-timeout", required_argument, NULL, READY_TIMEOUT },
	{ "run-timeout", required_argument, NULL, RUN_TIMEOUT },
	{ "stop-timeout", required_argument, NULL, STOP_TIMEOUT },
	{ "resume", required_argument, NULL, RESUME },
	{ "json", no_argument, NULL, JSON },
	{ "help", no_argument, NULL, HELP },
	{ NULL, 0, NULL, 0 },
};

/* What the options say before they are put together. */
struct reading {
	struct ab_options *options;
	bool ordered;     /* --order was given */
	bool counted;     /* -n was given */
	const char *last; /* the last option besides --resume and --json */
	char why[WHY_SIZE];
};

static bool wrong(struct reading *reading, const char *name, const char *value, const char *right)
{
	why_set(reading->why, "%s %.200s: must be %s", name, value, right);
	return false;
}

static bool read_count(struct reading *reading, const char *name, const char *value,
        unsigned long least, unsigned *count)
{
	char right[64];
	unsigned long number;
	if (number_read(value, least, MOST_RUNS, &number)) {
		*count = (unsigned)number;
		return true;
	}
	snprintf(right, sizeof(right), "a number from %lu to %d", least, MOST_RUNS);
	return wrong(reading, name, value, right);
}

static bool read_limit(struct reading *reading, const char *name, const char *value, double *limit)
{
	return number_read_seconds(value, limit) ||
	       wrong(reading, name, value, "a number of seconds");
}

static bool read_metric(struct reading *reading, const char *name)
{
	struct ab_options *options = reading->options;
	if (strcmp(name, "list") == 0) {
		options->list = true;
		return true;
	}
	for (size_t i = 0; i < options->design.metrics.count; i++)
		if (strcmp(options->design.metrics.items[i], name) == 0)
			return wrong(reading, "--metric", name, "given once");
	if (*name == '\0')
		return wrong(reading, "--metric", name, "a name; list shows which there are");
	return measure_check_expression(name, reading->why) &&
	       measure_check_counter(name, reading->why) &&
	       texts_add(&options->design.metrics, name);
}

static bool read_parser(struct reading *reading, const char *name)
{
	char names[WHY_SIZE / 2] = "";
	size_t length = 0;
	if (parser_by_name(name) != NULL) {
		free(reading->options->design.parser);
		reading->options->design.parser = strdup(name);
		return true;
	}
	for (size_t i = 0; i < parser_count && length < sizeof(names); i++)
		length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s",
		        i > 0 ? ", " : "", parsers[i]->name);
	return wrong(reading, "--as", name, names);
}

static bool set_text(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
	return *text != NULL;
}

/* Options of runs and metrics. */
static bool read_runs_option(struct reading *reading, int option, const char *value)
{
	struct design *design = &reading->options->design;
	unsigned long number;
	switch (option) {
	case 'n':
		reading->counted = true;
		return read_count(reading, "-n", value, 1, &design->runs);
	case WARMUP:
		return read_count(reading, "--warmup", value, 0, &design->warmups);
	case MAX_RUNS:
		return read_count(
		        reading, "--max-runs", value, DESIGN_LEAST_BLOCKS, &design->max_runs);
	case RETRIES:
		return read_count(reading, "--retries", value, 0, &design->retries);
	case ORDER:
		reading->ordered = true;
		return order_by_name(value, &design->order) ||
		       wrong(reading, "--order", value, "abba, random or fixed");
	case SEED:
		reading->options->seeded = true;
		if (!number_read(value, 0, INT64_MAX, &number))
			return wrong(reading, "--seed", value, "a number");
		design->seed = number;
		return true;
	case UNTIL:
		return number_read_percent(value, &design->until) ||
		       wrong(reading, "--until", value, "a share such as 1%");
	case METRIC:
		return read_metric(reading, value);
	case AS:
		return read_parser(reading, value);
	default:
		if (!number_read(value, 0, UINT_MAX, &number))
			return wrong(reading, "--allow-errors", value, "a number");
		design->allowed_errors = number;
		return true;
	}
}

static bool read_option(struct reading *reading, int option, const char *value)
{
	struct design *design = &reading->options->design;
	switch (option) {
	case 'a':
	case 'b':
		return arms_add(&design->arms, option == 'a' ? "a" : "b", value, reading->why);
	case ARM:
		return arms_add_named(&design->arms, value, reading->why);
	case SERVER:
		return set_text(&design->server.start, value);
	case READY:
		return ready_check(value, reading->why) && set_text(&design->server.ready, value);
	case STOP:
		return signal_check(value, reading->why) && set_text(&design->server.stop, value);
	case RESET:
		return set_text(&design->server.reset, value);
	case START_TIMEOUT:
		return read_limit(reading, "--start-timeout", value, &design->limits.start);
	case READY_TIMEOUT:
		return read_limit(reading, "--ready-timeout", value, &design->limits.ready);
	case RUN_TIMEOUT:
		return read_limit(reading, "--run-timeout", value, &design->limits.run);
	case STOP_TIMEOUT:
		return read_limit(reading, "--stop-timeout", value, &design->limits.stop);
	case 'o':
		reading->options->directory = value;
		return true;
	case RESUME:
		reading->options->resume = value;
		return true;
	case JSON:
		reading->options->json = true;
		return true;
	default:
		return read_runs_option(reading, option, value);
	}
}

static bool check_server(struct reading *reading)
{
	const struct server_commands *server = &reading->options->design.server;
	const char *other = server->ready != NULL   ? "--ready"
	                    : server->stop != NULL  ? "--stop"
	                    : server->reset != NULL ? "--reset"
	                                            : NULL;
	if (server->start == NULL && other != NULL)
		why_set(reading->why, "%s is about a server: give --server too", other);
	else if (server->start != NULL && server->ready == NULL)
		why_set(reading->why, "--server needs --ready: when may the client start?");
	else
		return true;
	return false;
}

/* What can only be told once all options are read. */
static bool complete(struct reading *reading, char **client)
{
	struct environment base;
	struct design *design = &reading->options->design;
	if (*client == NULL) {
		why_set(reading->why, "give a COMMAND");
		return false;
	}
	for (; *client != NULL; client++)
		if (!texts_add(&design->client, *client))
			return false;
	if (reading->counted && design->until > 0) {
		why_set(reading->why,
		        "-n and --until: give one of them; --max-runs bounds --until");
		return false;
	}
	if (!check_server(reading) || !design_is_utf8(design, reading->why) ||
	        !real_base_environment(&base))
		return false;
	bool good = arms_complete(&design->arms, &base, reading->why);
	environment_free(&base);
	if (good && !reading->ordered && design->arms.count > 2)
		design->order = ORDER_RANDOM;
	return good;
}

static bool read_all(struct reading *reading, int argc, char **argv, bool *help)
{
	int option;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:a:b:n:o:", long_options, NULL)) != -1) {
		const char *name = argv[optind - 1];
		*help = option == HELP;
		if (*help)
			return true;
		if (option == ':' || option == '?') {
			why_set(reading->why, "%.200s: %s", name,
			        option == ':' ? "needs a value" : "unknown option");
			return false;
		}
		if (option != RESUME && option != JSON)
			reading->last = optarg == name ? argv[optind - 2] : name;
		if (!read_option(reading, option, optarg))
			return false;
	}
	if (reading->options->resume == NULL)
		return complete(reading, argv + optind);
	if (reading->last == NULL && optind == argc)
		return true;
	why_set(reading->why, "--resume: what is run is in the directory; %.200s must not be given",
	        reading->last != NULL ? reading->last : argv[optind]);
	return false;
}

int ab_options_read(struct ab_options *options, int argc, char **argv)
{
	struct reading reading = { .options = options };
	bool help = false;
	*options = (struct ab_options){ .design = DESIGN_DEFAULTS };
	if (read_all(&reading, argc, argv, &help)) {
		if (!help)
			return -1;
		fputs(usage, stdout);
		return fflush(stdout) == 0 ? 0 : EXIT_OWN_FAILURE;
	}
	message("ab: %s; see abshim ab --help",
	        reading.why[0] != '\0' ? reading.why : "no memory for the options");
	return EXIT_OWN_FAILURE;
}
