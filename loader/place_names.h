/*
 * One name for a place, where a format has room for nothing more.
 */
#ifndef LOADER_PLACE_NAMES_H
#define LOADER_PLACE_NAMES_H

#include "symbols.h"

#define PLACE_NAME_SIZE (SYMBOL_NAME_SIZE + 64)

/* The function, else the file and the offset in it, else the address. */
void place_function(const struct place *place, char name[PLACE_NAME_SIZE]);

/* The same, and where in it: "function at file.c:12", "function+0x1f". Of a variable: "table+0x8".
 */
void place_name(const struct place *place, char name[PLACE_NAME_SIZE]);

#endif
