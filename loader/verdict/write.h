/*
 * The writers of an evaluation, for people and for programs.
 */
#ifndef LOADER_VERDICT_WRITE_H
#define LOADER_VERDICT_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "evaluate.h"

struct verdict_style {
	bool plot;
	int width;    /* of the plot */
	bool student; /* ministat's text instead of the table of tests */
	bool full;    /* every metric as the first one */
};

/* The first metric in full, with its plot; the others a line each. */
void verdict_write_text(
        FILE *out, const struct evaluation *evaluation, const struct verdict_style *style);

/* Everything, for abshim-json(5). NULL: no memory. The caller owns the reference. */
json_t *verdict_json(const struct evaluation *evaluation);

#endif
