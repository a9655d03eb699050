/*
 * Which calls of the program do not come to this library, so that the report can say so by name.
 */
#ifndef SHIM_UNCOVERED_H
#define SHIM_UNCOVERED_H

#include "probes/record.h"

/* Notes something once; symbol may be NULL. Safe in any thread at any time. */
void uncovered_note(enum record_uncovered_reason reason, const char *symbol, const char *path);

/* Notes the functions of ours that the program or a library before this one defines.
 * executable: the program's path. */
void uncovered_find_defined(const char *executable);

/* Writes all notes into a new record. */
void uncovered_put(void);

#endif
