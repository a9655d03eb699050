/*
 * Shell patterns without locale and allocation, which fnmatch may need.
 */
#ifndef SHIM_GLOB_H
#define SHIM_GLOB_H

#include <stdbool.h>

/* Whether the whole text matches: * any run, ? any byte, [a-z] and [!a-z] sets, \ quotes. */
bool glob_matches(const char *pattern, const char *text);

#endif
