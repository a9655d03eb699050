/*
 * One way to bring a report out, for `abshim report` and for the end of `abshim run`.
 */
#ifndef LOADER_REPORT_H
#define LOADER_REPORT_H

#include "sources.h"
#include "write.h"

struct report_options {
	const struct write_format *format; /* NULL: what the name in to asks for */
	struct write_options write;
	bool at_exit;   /* the process is waiting for this report */
	int fd;         /* where it goes when to is NULL */
	bool silent;    /* says nothing when the report cannot be written */
	const char *to; /* a path that is never overwritten */
};

/* The format that is in force. */
const struct write_format *report_format(const struct report_options *options);

/*
 * Writes the report of the sources, or, when there are others, of what differs in them. Returns 0,
 * or EXIT_OWN_FAILURE after one line on stderr.
 */
int report_write(const struct sources *sources, const struct sources *others,
        const struct report_options *options);

#endif
