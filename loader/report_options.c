/*
 * Reads the options of `abshim report` and says which of them do not go together.
 */
#include "report_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "message.h"

#define MAX_FORMATS 16

enum { AT_EXIT = 1000, TOP, TO, HELP, HOLDER, BY, DIFF, SINCE, FORMAT };

static const struct option plain_options[] = {
	{ "at-exit", no_argument, NULL, AT_EXIT },
	{ "holder", no_argument, NULL, HOLDER },
	{ "by", required_argument, NULL, BY },
	{ "diff", required_argument, NULL, DIFF },
	{ "since", required_argument, NULL, SINCE },
	{ "top", required_argument, NULL, TOP },
	{ "to", required_argument, NULL, TO },
	{ "help", no_argument, NULL, HELP },
};

#define PLAIN_OPTIONS (sizeof(plain_options) / sizeof(*plain_options))

static int print_usage(void)
{
	fputs("Usage: abshim report [--FORMAT] [--by lock|site|creation|thread|type]\n"
	      "                     [--diff OTHER] [--since EARLIER] [--holder] [--top N]\n"
	      "                     [--to FILE] FILE|PID|DIRECTORY|- ...\n"
	      "\n"
	      "Prints who waited for which lock, where, and for whom. FILE is a record that\n"
	      "libabshim.so left behind (DIR/NAME.PID.N.abshim), also after kill -9; PID a "
	      "process\n"
	      "(./123 is a file of that name); DIRECTORY stands for all records in it; - reads a\n"
	      "record from standard input. Several records make one report, as of the processes\n"
	      "of one server.\n"
	      "\n",
	        stdout);
	for (size_t i = 0; i < write_format_count; i++)
		printf("  --%-9s%s%s\n", write_formats[i].name,
		        strlen(write_formats[i].name) < 10 ? " " : "\n              ",
		        write_formats[i].help);
	fputs("  --by GROUP  one table, a row for each lock, site, creation, thread or type;\n"
	      "              creation: locks of one variable, or initialised by one call\n"
	      "  --diff OTHER\n"
	      "              what differs in OTHER (FILE, PID or DIRECTORY), the largest change\n"
	      "              first\n"
	      "  --since EARLIER\n"
	      "              only what happened after EARLIER, a copy of the same record made\n"
	      "              while the process ran\n"
	      "  --holder    with --folded and --pprof: by the stacks that held the lock\n"
	      "              meanwhile\n"
	      "  --top N     rows of each table of text and OpenMetrics (default 10)\n"
	      "  --to FILE   write to FILE, as JSON when its name ends in .json; an existing file\n"
	      "              is kept, and the new one gets a number\n"
	      "\n"
	      "Exit status: 0; 2 when there is no record to be read, or one that was named cannot\n"
	      "be (the others are reported); 125 for anything else.\n",
	        stdout);
	return fflush(stdout) == 0 ? 0 : EXIT_OWN_FAILURE;
}

static bool parse_top(const char *text, size_t *top)
{
	char *end;
	errno = 0;
	unsigned long value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value == 0) {
		message("report: --top %s: must be a number from 1", text);
		return false;
	}
	*top = value;
	return true;
}

static bool parse_by(const char *text, enum group_by *by)
{
	*by = group_by_name(text);
	if (*by == GROUP_NONE)
		message("report: --by %s: right are lock, site, creation, thread and type", text);
	return *by != GROUP_NONE;
}

/* "10m", "90", "5 minutes ago": what people give who expect a history. */
static bool parse_since(const char *text, const char **since)
{
	size_t digits = strspn(text, "0123456789");
	*since = text;
	if (access(text, F_OK) == 0 || digits == 0 || strchr(text, '/') != NULL ||
	        strstr(text, RECORD_SUFFIX) != NULL)
		return true;
	message("report: --since %s: a record holds totals, no history: give the path of an "
	        "earlier "
	        "copy of it",
	        text);
	return false;
}

/* False, with one line on stderr, when another format was asked for before. */
static bool take_format(struct report_options *options, const struct write_format *format)
{
	if (options->format != NULL && options->format != format) {
		message("report: --%s and --%s: give one format; see abshim report --help",
		        options->format->name, format->name);
		return false;
	}
	options->format = format;
	return true;
}

static bool take_option(struct report_request *request, int option)
{
	struct report_options *options = &request->options;
	switch (option) {
	case AT_EXIT:
		options->at_exit = true;
		options->fd = STDERR_FILENO;
		return true;
	case HOLDER:
		options->write.by_holder = true;
		return true;
	case BY:
		return parse_by(optarg, &options->write.by);
	case DIFF:
		request->diff = optarg;
		return true;
	case SINCE:
		return parse_since(optarg, &request->since);
	case TOP:
		return parse_top(optarg, &options->write.top);
	case TO:
		options->to = optarg;
		return true;
	default:
		return take_format(options, &write_formats[option - FORMAT]);
	}
}

/* Whether the parts of the request go together. */
static bool is_possible(const struct report_request *request)
{
	const struct report_options *options = &request->options;
	const struct write_format *format = report_format(options);
	if (request->operand_count == 0)
		message("report: give a FILE, PID, DIRECTORY or -; see abshim report --help");
	else if (options->write.by != GROUP_NONE && request->diff != NULL)
		message("report: --by and --diff: give one of them; --diff compares every "
		        "grouping");
	else if (options->write.by != GROUP_NONE && format->write_groups == NULL)
		message("report: --by does not go with --%s", format->name);
	else if (request->diff != NULL && format->write_diff == NULL)
		message("report: --diff does not go with --%s", format->name);
	else if (options->write.by_holder && !format->by_holder)
		message("report: --holder goes with --folded or --pprof, not with --%s",
		        format->name);
	else if (request->since != NULL && request->operand_count > 1)
		message("report: --since takes one record, its own earlier copy apart");
	else
		return true;
	return false;
}

int report_parse_arguments(int argc, char **argv, struct report_request *request)
{
	struct option all[PLAIN_OPTIONS + MAX_FORMATS + 1] = { { NULL, 0, NULL, 0 } };
	memcpy(all, plain_options, sizeof(plain_options));
	for (size_t i = 0; i < write_format_count && i < MAX_FORMATS; i++)
		all[PLAIN_OPTIONS + i] = (struct option){ write_formats[i].name, no_argument, NULL,
			FORMAT + (int)i };
	int option;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", all, NULL)) != -1) {
		if (option == HELP)
			return print_usage();
		if (option == ':' || option == '?') {
			message("report: %s: %s; see abshim report --help", argv[optind - 1],
			        option == ':' ? "needs a value" : "unknown option");
			return EXIT_OWN_FAILURE;
		}
		if (!take_option(request, option))
			return EXIT_OWN_FAILURE;
	}
	request->operands = argv + optind;
	request->operand_count = (size_t)(argc - optind);
	return is_possible(request) ? -1 : EXIT_OWN_FAILURE;
}
