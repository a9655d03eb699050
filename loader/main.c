/*
 * The abshim command: a table of subcommands.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "message.h"
#include "output.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *synopsis, *help;
} commands[] = {
	{ "run", command_run, "[-s KEY=VALUE]... [--report FILE] [--] COMMAND [ARG]...",
	        "runs a program under libabshim.so" },
	{ "ab", command_ab, "[-a KEY=VALUE]... [-b KEY=VALUE]... [OPTION]... [--] COMMAND [ARG]...",
	        "measures a program or server under two settings, or more, and says whether they "
	        "differ" },
	{ "compare", command_compare, "[OPTION]... A B|-a FILE... -b FILE...|DIRECTORY",
	        "says whether figures of files or of an experiment differ" },
	{ "plan", command_plan, "--detect SHARE [OPTION]... DIR|FILE...",
	        "says how many runs show a difference, from the spread of those there are" },
	{ "report", command_report, "[--FORMAT] [OPTION]... FILE|PID|DIRECTORY|- ...",
	        "prints records, or what running processes have counted so far" },
	{ "audit", command_audit, "[OPTION]... FILE|DIR|PID|COMMAND...",
	        "says which atomic instructions programs hold, and what can be switched in them" },
	{ "list", command_list, "[--json]", "lists strategies, variables, counters and parsers" },
	{ "doctor", command_doctor, "[--seconds S] [--json]",
	        "looks for what makes measurements on this machine untrustworthy" },
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static int print_help(void)
{
	puts("abshim: how a program's threads wait for its locks, switched and measured\n"
	     "\n"
	     "Usage:");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  abshim %s %s\n      %s\n", commands[i].name, commands[i].synopsis,
		        commands[i].help);
	puts("  abshim --help | --version\n"
	     "\n"
	     "abshim COMMAND --help says more.\n"
	     "\n"
	     "Exit status: of run, the program's own. Else 0; 1 a check of doctor failed;\n"
	     "2 a record or file cannot be read; 3 a run of ab stayed invalid;\n"
	     "125 wrong usage, or abshim itself failed; 126 the program cannot be run;\n"
	     "127 it is not there; 78 libabshim.so refused a variable.");
	return fflush(stdout) == 0 ? 0 : EXIT_OWN_FAILURE;
}

int main(int argc, char **argv)
{
	output_guard_standard_descriptors();
	if (argc < 2) {
		message("give a command: run, ab, compare, plan, report, audit, list or doctor; "
		        "see abshim --help");
		return EXIT_OWN_FAILURE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_help();
	if (strcmp(argv[1], "--version") == 0) {
		puts("abshim " ABSHIM_VERSION);
		return fflush(stdout) == 0 ? 0 : EXIT_OWN_FAILURE;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	message("%s: unknown command; right are run, ab, compare, plan, report, audit, list and "
	        "doctor (abshim --help)",
	        argv[1]);
	return EXIT_OWN_FAILURE;
}
