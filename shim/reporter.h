/*
 * Has the exit report printed by the abshim command, in a process of its own.
 */
#ifndef SHIM_REPORTER_H
#define SHIM_REPORTER_H

#include <stdbool.h>

/* with_stderr: whether the command may write to the target's stderr. Returns whether it says that
 * the report has been written in full. All signals must be blocked; once per process. */
bool reporter_run(bool with_stderr);

#endif
