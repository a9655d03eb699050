/*
 * Parses what `abshim compare` is given: -a and -b take files up to the next option.
 */
#include "compare_options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "message.h"
#include "parse/parse.h"
#include "verdict/ministat.h"

#define WIDTH_MOST 500

static const char usage[] =
        "Usage: abshim compare [OPTION]... A B [C]...\n"
        "       abshim compare [OPTION]... -a FILE... -b FILE...\n"
        "       abshim compare [OPTION]... DIRECTORY\n"
        "\n"
        "Says whether arms differ: files of one number a line, or the output of a benchmark tool,\n"
        "several files an arm, or the directory of an experiment of abshim ab. The first arm is\n"
        "the reference.\n"
        "\n"
        "  --as PARSER         the files are this tool's (abshim list names them); default: found\n"
        "                      out by content\n"
        "  --metric NAME       only this one; repeatable, the first is the primary one; list\n"
        "                      prints what there is\n"
        "  --level SHARE       confidence of intervals, a percentage (default 95%)\n"
        "  --equivalence SHARE tests whether the arms are equal within that, such as 1%\n"
        "  --seed N            of all resampling (default 1)\n"
        "  --student           what ministat prints, in its form\n"
        "  --convention classic|freebsd   of the relative error in it (default classic)\n"
        "  -C N                the column of plain numbers (default 1); with -C or -d the\n"
        "                      files are of such numbers\n"
        "  -d CHARS            what parts columns (default blanks)\n"
        "  --width N           columns of the plot (default 74)\n"
        "  --no-plot           none\n"
        "  --full              all metrics in full, not the primary one alone\n"
        "  --json              everything, as one JSON object\n"
        "\n"
        "Exit status: 0 whatever the verdict, 2 when a file cannot be read or no metric is in\n"
        "all arms, 125 for anything else.\n";

bool compare_parse_percent(const char *text, double *share)
{
	char *end;
	double value = strtod(text, &end);
	if (end == text || strcmp(end + strspn(end, " "), "%") != 0 || !(value > 0 && value < 100))
		return false;
	*share = value / 100;
	return true;
}

static bool parse_count(
        const char *text, unsigned long least, unsigned long most, unsigned long *value)
{
	char *end;
	errno = 0;
	*value = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *value >= least &&
	       *value <= most;
}

static bool parse_level(const char *text, double *level)
{
	char *end;
	double value = strtod(text, &end);
	*level = value / 100;
	return end != text && (*end == '\0' || strcmp(end, "%") == 0) && value >= 50 && value < 100;
}

/* An option with a value. Returns NULL, or what would be right. */
static const char *take_value(struct compare_options *options, const char *name, const char *value)
{
	unsigned long number;
	if (strcmp(name, "--as") == 0) {
		options->as = parser_by_name(value);
		return options->as != NULL ? NULL : "no such tool; abshim list names those known";
	}
	if (strcmp(name, "--metric") == 0) {
		options->metrics[options->metric_count++] = value;
		return NULL;
	}
	if (strcmp(name, "--level") == 0)
		return parse_level(value, &options->evaluate.level)
		               ? NULL
		               : "must be a percentage from 50% to below 100%";
	if (strcmp(name, "--equivalence") == 0)
		return compare_parse_percent(value, &options->evaluate.equivalence)
		               ? NULL
		               : "must be a percentage between 0% and 100%, such as 1%";
	if (strcmp(name, "--seed") == 0)
		return parse_count(value, 0, UINT32_MAX, &options->evaluate.seed)
		               ? NULL
		               : "must be a number from 0 to 4294967295";
	if (strcmp(name, "--convention") == 0) {
		options->evaluate.convention =
		        strcmp(value, "freebsd") == 0 ? STATS_FREEBSD : STATS_CLASSIC;
		return strcmp(value, "freebsd") == 0 || strcmp(value, "classic") == 0
		               ? NULL
		               : "right are classic and freebsd";
	}
	if (strcmp(name, "-d") == 0) {
		options->delimiters = value;
		return *value != '\0' ? NULL : "must be characters";
	}
	bool is_width = strcmp(name, "--width") == 0;
	if (!parse_count(value, is_width ? 5 : 1, is_width ? WIDTH_MOST : INT16_MAX, &number))
		return is_width ? "must be a number from 5 to 500" : "must be a number from 1";
	*(is_width ? &options->width : &options->column) = (int)number;
	return NULL;
}

static bool takes_value(const char *name)
{
	static const char *const names[] = { "--as", "--metric", "--level", "--equivalence",
		"--seed", "--convention", "-C", "-d", "--width" };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool take_switch(struct compare_options *options, const char *name)
{
	if (strcmp(name, "--json") == 0)
		options->json = true;
	else if (strcmp(name, "--student") == 0)
		options->student = true;
	else if (strcmp(name, "--no-plot") == 0)
		options->plot = false;
	else if (strcmp(name, "--full") == 0)
		options->full = true;
	else
		return false;
	return true;
}

/* A file that stands alone, or -a and -b. NULL after a message. */
static struct compare_arm *add_arm(struct compare_options *options, const char *name)
{
	bool letter = name[0] == '-' && name[1] != '\0';
	name += letter;
	if (options->arm_count > 0 && letter != options->letters) {
		message("compare: %s: files are given by -a and -b, or each alone, not both", name);
		return NULL;
	}
	options->letters = letter;
	for (size_t i = 0; letter && i < options->arm_count; i++)
		if (strcmp(options->arms[i].name, name) == 0) {
			message("compare: -%s: given twice; all files of an arm follow one -%s",
			        name, name);
			return NULL;
		}
	if (options->arm_count == COMPARE_ARMS) {
		message("compare: %s: more than %d arms", name, COMPARE_ARMS);
		return NULL;
	}
	struct compare_arm *arm = &options->arms[options->arm_count++];
	arm->name = name;
	return arm;
}

/* -a and -b. Files up to the next option are the arm's. Returns how many, or -1. */
static int take_files(struct compare_options *options, char **argv)
{
	struct compare_arm *arm = add_arm(options, argv[0]);
	int count = 0;
	if (arm == NULL)
		return -1;
	while (argv[count + 1] != NULL && argv[count + 1][0] != '-')
		count++;
	arm->paths = (const char *const *)&argv[1];
	arm->count = (size_t)count;
	if (count > 0)
		return count;
	message("compare: %s: wants files", argv[0]);
	return -1;
}

/* Returns how many arguments were used, or -1 after a message. */
static int take_argument(struct compare_options *options, char **argv)
{
	const char *name = argv[0];
	if (strcmp(name, "-a") == 0 || strcmp(name, "-b") == 0) {
		int files = take_files(options, argv);
		return files < 0 ? -1 : 1 + files;
	}
	if (name[0] != '-' || name[1] == '\0') {
		struct compare_arm *arm = add_arm(options, name);
		if (arm == NULL)
			return -1;
		arm->paths = (const char *const *)&argv[0];
		arm->count = 1;
		return 1;
	}
	if (take_switch(options, name))
		return 1;
	if (!takes_value(name)) {
		message("compare: %s: unknown option; see abshim compare --help", name);
		return -1;
	}
	const char *fault = argv[1] != NULL ? take_value(options, name, argv[1]) : "needs a value";
	if (fault == NULL)
		return 2;
	message("compare: %s %s: %s", name, argv[1] != NULL ? argv[1] : "", fault);
	return -1;
}

static int print_usage(void)
{
	fputs(usage, stdout);
	if (fflush(stdout) == 0)
		return 0;
	message("compare: cannot write the usage: %s", strerror(errno));
	return EXIT_OWN_FAILURE;
}

int compare_parse(int argc, char **argv, struct compare_options *options)
{
	*options = (struct compare_options){
		.evaluate = EVALUATE_DEFAULTS, .plot = true, .width = MINISTAT_WIDTH
	};
	options->metrics = calloc((size_t)argc + 1, sizeof(*options->metrics));
	if (options->metrics == NULL) {
		message("compare: no memory");
		return EXIT_OWN_FAILURE;
	}
	for (int at = 1; at < argc;) {
		int used = strcmp(argv[at], "--help") == 0 ? 0 : take_argument(options, &argv[at]);
		if (used <= 0) {
			compare_options_free(options);
			return used == 0 ? print_usage() : EXIT_OWN_FAILURE;
		}
		at += used;
	}
	if (options->arm_count == 2 && options->letters &&
	        strcmp(options->arms[0].name, "b") == 0) {
		struct compare_arm first = options->arms[0]; /* a is the reference */
		options->arms[0] = options->arms[1];
		options->arms[1] = first;
	}
	if (options->student && !options->json) /* nothing of it would be shown */
		options->evaluate.resamples = options->evaluate.permutations = 0;
	return -1;
}

void compare_options_free(struct compare_options *options)
{
	free(options->metrics);
}
