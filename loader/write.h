/*
 * The writers of reports, all over the same model.
 */
#ifndef LOADER_WRITE_H
#define LOADER_WRITE_H

#include <stdio.h>

#include "model.h"
#include "symbols.h"

#define WRITE_DEFAULT_TOP 10

/*
 * For people: at most top rows of each table, 100 columns. With the default top it is shorter than
 * 16 KiB whatever the record holds, so that an empty pipe takes it without blocking.
 */
void write_text(FILE *out, const struct model *model, struct symbols *symbols, size_t top);

/* For programs: everything, exact, one JSON object and a newline. False: no memory. */
bool write_json(FILE *out, const struct model *model, struct symbols *symbols);

#endif
