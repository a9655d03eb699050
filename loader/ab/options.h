/*
 * The command line of `abshim ab`.
 */
#ifndef LOADER_AB_OPTIONS_H
#define LOADER_AB_OPTIONS_H

#include "design.h"

struct ab_options {
	struct design design;  /* but for its directory */
	const char *directory; /* -o, NULL: one of its own name */
	const char *resume;    /* a directory: then there is no design */
	bool json, list;       /* list: one run, to see what its output offers */
	bool seeded;           /* --seed was given */
};

/* Reads the arguments. Returns -1 to go on, else the exit status, after one line on stderr or the
 * help text on stdout. */
int ab_options_read(struct ab_options *options, int argc, char **argv);

#endif
