/*
 * Calls us whenever the loader has mapped or unmapped objects, before their first code runs.
 */
#ifndef SHIM_ATOMICS_HOOK_H
#define SHIM_ATOMICS_HOOK_H

#include <stdbool.h>

/* From now on changed() is called, under the loader's lock. False when the loader's function is not
 * what is known, or may not be changed. */
bool hook_set(void (*changed)(void));

#endif
