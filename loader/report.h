/*
 * One way to bring a report out, for `abshim report` and for the end of `abshim run`.
 */
#ifndef LOADER_REPORT_H
#define LOADER_REPORT_H

#include "model.h"

struct report_options {
	struct model_options model;
	bool json;
	size_t top;
	int fd;         /* where it goes when to is NULL */
	bool silent;    /* says nothing when the report cannot be written */
	const char *to; /* a path that is never overwritten; JSON when it ends in .json */
};

/* Writes the report. Returns 0, or EXIT_OWN_FAILURE after one line on stderr. */
int report_write(const struct record *record, const struct report_options *options);

#endif
