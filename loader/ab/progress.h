/*
 * What a person sees while an experiment runs: one line that changes, or one line a run.
 */
#ifndef LOADER_AB_PROGRESS_H
#define LOADER_AB_PROGRESS_H

#include <stdio.h>

#include "conduct.h"

struct progress {
	struct conduct_observer observer;
	FILE *out;
	bool terminal; /* out is one */
	size_t shown;  /* columns of the line that stands there */
};

void progress_init(struct progress *progress, FILE *out);

/* Clears the line, so that something else can be printed. */
void progress_end(struct progress *progress);

#endif
