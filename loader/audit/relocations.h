/*
 * What relocatable objects call is in their relocations alone.
 */
#ifndef LOADER_AUDIT_RELOCATIONS_H
#define LOADER_AUDIT_RELOCATIONS_H

#include "symbols.h"

/* The calls (BL and B) of outline helpers by an AArch64 object's sections of code. */
uint64_t relocations_count_calls(const struct image *image, struct audit_file *row);

#endif
