/*
 * Places in a text report: as much of a name as a column has room for.
 */
#ifndef LOADER_PLACE_TEXT_H
#define LOADER_PLACE_TEXT_H

#include "symbols.h"

#define PLACE_TEXT_WIDTH 100 /* of a report; no column is wider */

/*
 * "function at file.c:12", "function+0x1f in libx.so", "libx.so+0x1234", "0x7f00": in `width`
 * columns, but lines, offsets and addresses stay whole whatever they need. What is left out of a
 * name leaves dots, or is the file as a whole. Not escaped.
 */
void place_text(const struct place *place, unsigned width, char to[PLACE_TEXT_WIDTH + 1]);

/* The whole of it, as a key that is equal for the same place in two runs of one program: module,
 * function, and line with column or else offset. The caller frees it. NULL: no
 * memory. */
char *place_key(const struct place *place);

#endif
