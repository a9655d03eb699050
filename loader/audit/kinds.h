/*
 * What kind of file an image is, and whose libc it lives with.
 */
#ifndef LOADER_AUDIT_KINDS_H
#define LOADER_AUDIT_KINDS_H

#include "image.h"

/* Fills in the row's machine, class, byte order, kind, is_static and libc. */
void kinds_fill(struct audit_file *row, const struct image *image);

/* Why an image of this kind holds no code to be counted; NULL if it may hold some. */
const char *kinds_refusal(const struct image *image);

/* Notes what compilers leave: bytecode for the linker, Go's runtime. */
void kinds_note_compilers(struct audit_file *row, const struct image *image);

#endif
