/*
 * Shell patterns without locale and allocation, which fnmatch may need. Hidden, so that they may be
 * called before this library has been relocated.
 */
#ifndef SHIM_GLOB_H
#define SHIM_GLOB_H

#include <stdbool.h>

/* Whether the pattern is not empty, each [ has its ], and no \ is the last byte. */
bool glob_is_valid(const char *pattern) __attribute__((visibility("hidden")));

/* Whether the whole text matches: * any run, ? any byte, [a-z] and [!a-z] sets, \ quotes. The
 * pattern must be a valid one. */
bool glob_matches(const char *pattern, const char *text) __attribute__((visibility("hidden")));

#endif
