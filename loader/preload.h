/*
 * Where libabshim.so is, and its place in LD_PRELOAD.
 */
#ifndef LOADER_PRELOAD_H
#define LOADER_PRELOAD_H

#include "environment.h"
#include "message.h"

/* The library beside this executable, or in ../lib; the caller's to free. NULL with a reason. */
char *preload_find_library(char why[WHY_SIZE]);

/*
 * Puts the library into LD_PRELOAD: after sanitizer runtimes, which insist on being first (those
 * already there, and the one that the program needs), before everything else. False: no memory.
 */
bool preload_set(struct environment *environment, const char *library, const char *sanitizer);

#endif
