/*
 * Source lines and inlined functions of an address in an opened file.
 */
#ifndef LOADER_SOURCE_LINES_H
#define LOADER_SOURCE_LINES_H

#include <elfutils/libdwfl.h>

#include "symbols.h"

/*
 * Sets the line of a place, which knows its function, walking outwards from the innermost inlined
 * function to the first one whose text is not in a header: wrappers such as std::mutex::lock() are
 * not what a reader looks for.
 */
void source_find_line(Dwfl_Module *file, uint64_t address, struct place *place);

/* Sets places[0], which knows its function, to the innermost function inlined there, and so on to
 * that function. Returns their number. */
unsigned source_find_inlined(
        Dwfl_Module *file, uint64_t address, struct place places[SYMBOL_MAX_INLINED]);

#endif
