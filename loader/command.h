/*
 * What the subcommands share: their entry points and the exit statuses that scripts rely on.
 */
#ifndef LOADER_COMMAND_H
#define LOADER_COMMAND_H

#define ABSHIM_VERSION "0.1.0"

enum exit_status {
	EXIT_CHECK_FAILED = 1,  /* doctor: a check failed */
	EXIT_UNREADABLE = 2,    /* report, audit: a record or file cannot be read */
	EXIT_INVALID_RUN = 3,   /* ab: a run stayed invalid */
	EXIT_REFUSED = 78,      /* the shim refused its settings and ended the target */
	EXIT_OWN_FAILURE = 125, /* wrong usage, or abshim itself failed */
	EXIT_CANNOT_RUN = 126,
	EXIT_NOT_FOUND = 127,
};

/* Each takes the arguments from its own name on and returns the exit status. */
int command_run(int argc, char **argv);
int command_ab(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_report(int argc, char **argv);
int command_audit(int argc, char **argv);
int command_list(int argc, char **argv);
int command_doctor(int argc, char **argv);

#endif
