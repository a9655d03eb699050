/*
 * Reads back which tunables of glibc's malloc are in force.
 */
#ifndef SHIM_ALLOC_TUNABLES_H
#define SHIM_ALLOC_TUNABLES_H

#include "probes/record.h"

/* By the loader's own account; TUNABLE_NOT_READ each where its list is of an unknown shape. */
void tunables_read(uint64_t values[TUNABLE_COUNT]);

#endif
