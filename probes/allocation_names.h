/*
 * What libabshim.so and the library that counts allocations know of each other.
 */
#ifndef PROBES_ALLOCATION_NAMES_H
#define PROBES_ALLOCATION_NAMES_H

#include "record.h"

#define ALLOCATION_LIBRARY "libabshim-alloc.so"

/* One address in so many is remembered with the thread that got it. */
#define ALLOCATION_SAMPLE 16u

/* The calling thread's counters; NULL where it is not counted: before the record exists, and when
 * there is no slot. May be called before libabshim.so's constructor, and from a signal handler. */
struct alloc_counters *abshim_alloc_counters(void);

/* The next definition of the function behind the object with that dynamic section, NULL: none. */
void *abshim_alloc_next(const void *dynamic, const char *name);

#endif
