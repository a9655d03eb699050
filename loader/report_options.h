/*
 * The command line of `abshim report`.
 */
#ifndef LOADER_REPORT_OPTIONS_H
#define LOADER_REPORT_OPTIONS_H

#include "report.h"

struct report_request {
	struct report_options options;
	char **operands; /* of argv: FILE, PID, DIRECTORY or - */
	size_t operand_count;
	const char *diff;  /* operand of --diff, or NULL */
	const char *since; /* path of --since, or NULL */
};

/* Fills in the request. Returns -1 to go on, else the exit status. */
int report_parse_arguments(int argc, char **argv, struct report_request *request);

#endif
