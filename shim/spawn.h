/*
 * A process of the shim's own that the target cannot notice: no SIGCHLD, and wait() never returns
 * it. The kernel gives SIGCHLD back to every child that executes a program, so a warden without
 * one stands between: it starts the program, waits for it, and ends with its exit status.
 */
#ifndef SHIM_SPAWN_H
#define SHIM_SPAWN_H

#include <stdint.h>

#define SPAWN_FAILED (-1) /* no process could be made, or it ended by a signal or was too slow */

/*
 * Runs become(argument), which executes a program or returns a status to exit with, in a child that
 * shares the memory of this process but not its descriptors and signal handlers; it must make raw
 * system calls only. Kills it after limit_ns. Returns its exit status or SPAWN_FAILED.
 * All signals must be blocked. One call at a time.
 */
int spawn_hidden(int (*become)(void *argument), void *argument, uint64_t limit_ns);

#endif
