/*
 * The library that counts allocations, libabshim-alloc.so: a library of its own, so that nobody
 * else pays for it.
 */
#ifndef SHIM_ALLOC_COUNT_H
#define SHIM_ALLOC_COUNT_H

struct link_map;

/* Where it is loaded, NULL: it is not. */
const struct link_map *count_library(void);

/* Sees to it that allocations are counted: returns "LD_PRELOAD=..." with which the program has to
 * be executed again, NULL when the library is at work already. Ends the process where it cannot be.
 * preload: the value of LD_PRELOAD, NULL not set. */
const char *count_plan(const char *preload);

#endif
