/*
 * What the process was given at its start, to be recognised at its end: a server may have closed
 * its stderr and got a data file in its place, or may have changed its root directory.
 */
#ifndef SHIM_ORIGIN_H
#define SHIM_ORIGIN_H

#include <stdbool.h>

void origin_remember(void);

/* Whether descriptor 2 is still what it was: then, and only then, it may be written to. */
bool origin_stderr_same(void);

/* Whether a write to descriptor 2 raises no signal and waits for no reader. */
bool origin_stderr_is_harmless(void);

/* Whether absolute paths still mean what they meant. */
bool origin_root_same(void);

#endif
