/*
 * Names as they stand in symbol tables, made readable.
 */
#ifndef LOADER_SYMBOL_NAMES_H
#define LOADER_SYMBOL_NAMES_H

#include <stdbool.h>

#include "symbols.h"

/* Demangles a C++ (or old-style Rust) name; anything else is copied. Cuts to fit. */
void symbol_demangle(const char *name, char to[SYMBOL_NAME_SIZE]);

/* Whether a source file is a header, of the system or of the program. */
bool symbol_is_header(const char *file);

/*
 * Makes a demangled name fit into `width` columns: arguments go first, then template arguments,
 * then outer scopes, then the beginning. to may hold width + 1 bytes or more.
 */
void symbol_shorten(const char *name, unsigned width, char *to);

#endif
