/*
 * A table whose columns are as wide as what stands in them; the last one is a name, which gets what
 * is left of a line, and begins on the left.
 */
#ifndef LOADER_AUDIT_COLUMNS_H
#define LOADER_AUDIT_COLUMNS_H

#include <stdint.h>
#include <stdio.h>

struct columns;

/* NULL: no memory; all that follows takes that, and does nothing. */
struct columns *columns_new(void);

/* The next cell of a line. */
void columns_text(struct columns *columns, const char *text);
void columns_count(struct columns *columns, uint64_t count);

/* The last cell of a line: cut at its front to fit, and escaped; behind it goes the mark. */
void columns_name(struct columns *columns, const char *name, const char *mark);

/* Writes all, and frees the table. */
void columns_print(struct columns *columns, FILE *out);

#endif
