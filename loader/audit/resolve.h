/*
 * Which libraries the program loader would map for a program, by the rules of ld.so(8), without
 * running either.
 */
#ifndef LOADER_AUDIT_RESOLVE_H
#define LOADER_AUDIT_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include "dynamic.h"

struct resolve_options {
	const char *root;         /* the system's root directory, its real path; NULL: this one's */
	const char *library_path; /* LD_LIBRARY_PATH; NULL: not set */
	const char *preload;      /* LD_PRELOAD; NULL: not set */
};

/* A file that would be mapped. */
struct resolved {
	char *name; /* as ld.so would call it, in its own system */
	char *path; /* where it can be opened from here; NULL: found nowhere */
	size_t needed_by;
};

struct resolution {
	struct resolved *files; /* the first one is the program; breadth first */
	size_t count;
	struct texts missing; /* "libx.so.1 (needed by /usr/lib/liby.so.2)" */
	struct texts notes;
	bool whole; /* all of it is known */
};

/* Of an open program of a machine that resolve_knows(). False: no memory. resolve_free() is needed
 * in any case. */
bool resolve_program(struct resolution *resolution, const char *path, int fd,
        const struct resolve_options *options);
void resolve_free(struct resolution *resolution);

/* Whether the rules of the machine's loader are known here. */
bool resolve_knows(const struct dynamic *dynamic);

#endif
