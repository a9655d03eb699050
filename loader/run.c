/*
 * `abshim run`: a program under libabshim.so, with proof that the library was really there.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aftermath.h"
#include "alloc.h"
#include "command.h"
#include "environment.h"
#include "launch.h"
#include "message.h"
#include "output.h"
#include "preflight.h"
#include "preload.h"
#include "settings.h"

static const char usage[] =
        "Usage: abshim run [-s KEY=VALUE]... [--report FILE] [--] COMMAND [ARG]...\n"
        "\n"
        "Runs COMMAND with libabshim.so preloaded and reports on its locks at the end.\n"
        "\n"
        "  -s KEY=VALUE    lower-case keys are the shim's: mutex, rwlock, stats, report, ...\n"
        "                  (abshim list explains them); other keys are variables of the\n"
        "                  environment\n"
        "  -s KEY+=VALUE   adds VALUE at the end of a variable, after a blank where the name\n"
        "                  begins with JAVA, _JAVA or JDK_ or ends in FLAGS, ARGS or OPTS,\n"
        "                  else after a colon\n"
        "  -s KEY-=VALUE   takes VALUE out of such a list; KEY-= unsets the variable\n"
        "  --report FILE   the same as -s report=FILE\n"
        "\n"
        "COMMAND finds this process's id in ABSHIM_RUN_PID: by it libabshim.so knows the\n"
        "process whose record it keeps as proof, even when nothing was counted.\n"
        "\n"
        "Other libraries in LD_PRELOAD are kept: sanitizer runtimes before libabshim.so, the\n"
        "rest after it.\n"
        "\n"
        "Exit status: that of COMMAND (a signal that kills it kills abshim too); 78 the shim\n"
        "refused a variable; 125 abshim itself failed, or libabshim.so never started in\n"
        "COMMAND; 126 COMMAND cannot be run, or nothing can be preloaded into it; 127 it was\n"
        "not found.\n";

static bool apply(struct environment *environment, const char *setting)
{
	char why[WHY_SIZE];
	if (setting_apply(environment, setting, why))
		return true;
	message("run: %s", why);
	return false;
}

static bool apply_report(struct environment *environment, const char *file)
{
	char *setting;
	if (asprintf(&setting, "report=%s", file) < 0)
		return false;
	bool done = apply(environment, setting);
	free(setting);
	return done;
}

/* A report that could not be written at the end is better refused now. */
static bool is_report_possible(const struct environment *environment)
{
	const char *report = environment_get(environment, "ABSHIM_REPORT");
	if (report == NULL || !output_is_directory(report))
		return true;
	message("run: the report cannot be written to %s: it is a directory; give the path of a "
	        "file "
	        "(%%p stands for the process id)",
	        report);
	return false;
}

/* A file that was asked for and will not come must not be waited for. */
static void warn_of_no_report(const struct environment *environment)
{
	const char *report = environment_get(environment, "ABSHIM_REPORT");
	const char *stats = environment_get(environment, "ABSHIM_STATS");
	if (stats == NULL || strcmp(stats, "off") != 0 || report == NULL ||
	        strcmp(report, "none") == 0 || strcmp(report, "stderr") == 0)
		return;
	message("run: ABSHIM_STATS=off counts nothing: no report will be written to %s", report);
}

/* Applies the options. Returns -1 to go on with argv[optind], else the exit status. */
static int parse_arguments(int argc, char **argv, struct environment *environment)
{
	enum { REPORT = 1000, HELP };
	static const struct option long_options[] = {
		{ "report", required_argument, NULL, REPORT },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	int option;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:s:", long_options, NULL)) != -1) {
		bool good = true;
		if (option == 's') {
			good = apply(environment, optarg);
		} else if (option == REPORT) {
			good = apply_report(environment, optarg);
		} else if (option == HELP) {
			fputs(usage, stdout);
			return fflush(stdout) == 0 ? 0 : EXIT_OWN_FAILURE;
		} else {
			message("run: %s: %s; see abshim run --help", argv[optind - 1],
			        option == ':' ? "needs a value" : "unknown option");
			good = false;
		}
		if (!good)
			return EXIT_OWN_FAILURE;
	}
	if (optind < argc)
		return is_report_possible(environment) ? -1 : EXIT_OWN_FAILURE;
	message("run: give a COMMAND; see abshim run --help");
	return EXIT_OWN_FAILURE;
}

/* Adds the library and what it is told by the command itself. */
static bool prepare(struct environment *environment, const struct preflight *preflight)
{
	char why[WHY_SIZE], pid[24];
	char *library = preload_find_library(why);
	if (library == NULL) {
		message("run: %s", why);
		return false;
	}
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	bool done = preload_set(environment, library, preflight->sanitizer) &&
	            environment_set(environment, "ABSHIM_RUN_PID", pid) &&
	            (preflight->is_java ? alloc_unset(environment) : alloc_set(environment));
	free(library);
	if (!done) {
		message("run: no memory for the environment");
	} else if (!aftermath_directory_usable(environment)) {
		message("run: no private directory for records can be made in /dev/shm, /run/user "
		        "or /tmp: give one with -s dir=DIRECTORY");
		done = false;
	}
	return done;
}

/* Without a record of the program itself the run must not pass as measured. */
static bool is_proven(const struct aftermath *aftermath, const struct environment *environment,
        const char *command)
{
	const char *match = environment_get(environment, "ABSHIM_MATCH");
	int status = aftermath->wait_status;
	char end[64];
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_REFUSED)
		return true;
	if (aftermath->found > aftermath->replaced)
		return true;
	if (WIFSIGNALED(status))
		snprintf(end, sizeof(end), "was killed by signal %d", WTERMSIG(status));
	else
		snprintf(end, sizeof(end), "exited with status %d", WEXITSTATUS(status));
	if (aftermath->found > 0)
		message("run: %s: libabshim.so never started in the program that process %d became "
		        "by exec and that %s: it was not switched or measured",
		        command, (int)aftermath->pid, end);
	else if (match != NULL)
		message("run: %s: no record of process %d, which %s: ABSHIM_MATCH=%s leaves it "
		        "alone, or libabshim.so never started in it",
		        command, (int)aftermath->pid, end, match);
	else
		message("run: %s: libabshim.so never started in it: no record of process %d, which "
		        "%s: nothing was switched or measured",
		        command, (int)aftermath->pid, end);
	return false;
}

/* Returns an exit status; or -1 with the program's own status in *wait_status. */
static int run(struct environment *environment, char **command, int *wait_status)
{
	char why[WHY_SIZE];
	struct preflight preflight;
	int status = preflight_check(&preflight, command[0], environment, why);
	if (status != 0) {
		message("run: %s", why);
		return status;
	}
	struct launch launch = { .path = preflight.path, .arguments = command };
	status = prepare(environment, &preflight) ? -1 : EXIT_OWN_FAILURE;
	if (status == -1) {
		warn_of_no_report(environment);
		launch.environment = environment->strings;
		int error = launch_start(&launch);
		if (error != 0) {
			message("run: %s: %s", preflight.path, strerror(error));
			status = error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
		}
	}
	if (status == -1) {
		struct aftermath aftermath = { .pid = launch.pid,
			.start_ticks = launch.start_ticks };
		aftermath.wait_status = *wait_status = launch_wait(&launch);
		aftermath_settle(&aftermath, environment);
		status = is_proven(&aftermath, environment, command[0]) ? -1 : EXIT_OWN_FAILURE;
		if (aftermath.threads_lost > 0)
			message("run: %s: threads that found no room in the record, and of which "
			        "nothing was counted: %" PRIu64,
			        command[0], aftermath.threads_lost);
	}
	free(preflight.path);
	return status;
}

int command_run(int argc, char **argv)
{
	struct environment environment;
	int wait_status = 0;
	if (!environment_copy(&environment, environ)) {
		message("run: no memory for the environment");
		return EXIT_OWN_FAILURE;
	}
	int status = parse_arguments(argc, argv, &environment);
	if (status == -1)
		status = run(&environment, argv + optind, &wait_status);
	environment_free(&environment);
	if (status == -1)
		launch_end_like(wait_status);
	return status;
}
