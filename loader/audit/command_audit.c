/*
 * `abshim audit`: which atomic instructions programs hold, and what libabshim.so can do about them.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ab/numbers.h"
#include "../command.h"
#include "../message.h"
#include "../output.h"
#include "survey.h"
#include "write.h"

#define DEFAULT_TOP 40u

static const char usage[] =
        "Usage: abshim audit [OPTION]... FILE|DIR|PID|COMMAND...\n"
        "\n"
        "Says which atomic instructions ELF files hold, how many of them ABSHIM_ATOMICS can "
        "switch,\n"
        "and what libabshim.so can take over: of files, of those in a directory, of a program "
        "with\n"
        "the libraries that its loader would map, of what a process has mapped. Nothing is run.\n"
        "\n"
        "  --root DIR      names and libraries are those of the system below DIR\n"
        "  --families      counts each instruction too\n"
        "  --top N         rows of a table, default 40\n"
        "  --json          prints JSON\n"
        "\n"
        "Exit status: 0; 2 something could not be read whole, or a library is missing; 125 wrong\n"
        "usage, or abshim itself failed.\n";

struct request {
	struct survey survey;
	struct audit_style style;
	bool json;
};

/* Sets the root to the directory's real path; "/" is none. */
static bool take_root(struct request *request, const char *path)
{
	struct stat status;
	char *real = realpath(path, NULL);
	if (real == NULL || stat(real, &status) != 0 || !S_ISDIR(status.st_mode)) {
		message("audit: --root %s: no such directory", path);
		free(real);
		return false;
	}
	free((char *)request->survey.root);
	request->survey.root = strcmp(real, "/") == 0 ? NULL : real;
	if (request->survey.root == NULL)
		free(real);
	return true;
}

static bool take_top(struct request *request, const char *text)
{
	unsigned long top;
	if (!number_read(text, 1, INT_MAX, &top)) {
		message("audit: --top %s: must be a number from 1", text);
		return false;
	}
	request->style.top = top;
	return true;
}

/* Returns -1 to go on with argv[optind], else the exit status. */
static int parse_arguments(struct request *request, int argc, char **argv)
{
	enum { ROOT = 1000, FAMILIES, TOP, JSON, HELP };
	static const struct option long_options[] = {
		{ "root", required_argument, NULL, ROOT },
		{ "families", no_argument, NULL, FAMILIES },
		{ "top", required_argument, NULL, TOP },
		{ "json", no_argument, NULL, JSON },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	int option;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		if (option == HELP) {
			fputs(usage, stdout);
			return fflush(stdout) == 0 ? 0 : EXIT_OWN_FAILURE;
		}
		if (option == ':' || option == '?') {
			message("audit: %s: %s; see abshim audit --help", argv[optind - 1],
			        option == ':' ? "needs a value" : "unknown option");
			return EXIT_OWN_FAILURE;
		}
		request->json |= option == JSON;
		request->style.families |= option == FAMILIES;
		if ((option == ROOT && !take_root(request, optarg)) ||
		        (option == TOP && !take_top(request, optarg)))
			return EXIT_OWN_FAILURE;
	}
	if (optind < argc)
		return -1;
	message("audit: give files, directories, process ids or commands; see abshim audit --help");
	return EXIT_OWN_FAILURE;
}

static bool write_all(FILE *out, const struct request *request)
{
	if (!request->json) {
		audit_write_text(out, &request->survey, &request->style);
		return !ferror(out);
	}
	json_t *object = audit_json(&request->survey);
	bool done = object != NULL && json_dumpf(object, out, JSON_INDENT(2)) == 0;
	fputc('\n', out);
	json_decref(object);
	return done && !ferror(out);
}

/* Returns an exit status. */
static int bring_out(const struct request *request)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool done = out != NULL && write_all(out, request);
	if (out != NULL)
		done = fclose(out) == 0 && done;
	int error = done ? output_write(STDOUT_FILENO, text, size, OUTPUT_FOREVER) : 0;
	free(text);
	if (!done)
		message("audit: no memory");
	else if (error != 0)
		message("audit: cannot write to its output: %s", strerror(error));
	return done && error == 0 ? 0 : EXIT_OWN_FAILURE;
}

static int judge(const struct survey *survey)
{
	for (size_t i = 0; i < survey->target_count; i++)
		if (!target_is_complete(survey, &survey->targets[i]))
			return EXIT_UNREADABLE;
	return 0;
}

int command_audit(int argc, char **argv)
{
	struct request request = { .style = { .top = DEFAULT_TOP } };
	int status = parse_arguments(&request, argc, argv);
	if (status == -1) {
		for (int i = optind; i < argc; i++)
			survey_add(&request.survey, argv[i]);
		status = EXIT_OWN_FAILURE;
		if (request.survey.out_of_memory)
			message("audit: no memory");
		else
			status = bring_out(&request);
		if (status == 0)
			status = judge(&request.survey);
	}
	survey_free(&request.survey);
	free((char *)request.survey.root);
	return status;
}
