/*
 * What the process was started with, for calls that may come before this library's constructor, and
 * even before it has been relocated: resolvers of ifuncs in the libraries behind it run then.
 */
#ifndef SHIM_EARLY_H
#define SHIM_EARLY_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Whether the loader has relocated this library: before that, nothing outside it can be reached,
 * and nothing inside it by a pointer in data. */
bool early_is_relocated(void);

/* Whether ABSHIM_ATOMICS=llsc is in force in this program, malformed variables aside. Asks once: a
 * program may overwrite what it was started with. */
bool early_wants_llsc(void);

/* The value of an AT_ type by /proc/self/auxv; false where there is none. */
bool early_auxv(unsigned long type, unsigned long *value);

#pragma GCC visibility pop

#endif
