/*
 * One way to bring a report out, for `abshim report` and for the end of `abshim run`.
 */
#ifndef LOADER_REPORT_H
#define LOADER_REPORT_H

#include "write.h"

struct report_options {
	const struct write_format *format; /* NULL: what the name in to asks for */
	struct write_options write;
	bool at_exit;   /* the process is waiting for this report */
	int fd;         /* where it goes when to is NULL */
	bool silent;    /* says nothing when the report cannot be written */
	const char *to; /* a path that is never overwritten */
};

/* Writes the report. Returns 0, or EXIT_OWN_FAILURE after one line on stderr. */
int report_write(
        const struct model_source *sources, size_t count, const struct report_options *options);

#endif
