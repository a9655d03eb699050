/*
 * The end of the process, of whatever kind: the record is closed and the report comes out.
 */
#ifndef SHIM_EXIT_H
#define SHIM_EXIT_H

#include <stdbool.h>

#include "probes/record.h"

/* At start: remembers what stderr is, and asks libc to be called at exit and quick_exit. */
void exit_watch(void);

/*
 * The process is about to end. status: what it will exit with, -1 unknown. Closes the record, and
 * prints the report or removes an empty record. Does nothing in a child that shares the memory of
 * the process (vfork), and nothing the second time. Raw system calls only: may be called from a
 * signal handler. Keeps errno.
 */
void exit_report(enum record_end kind, int status);

/* Whether the calling process is the one of the record, and not a child that shares its memory. */
bool exit_is_ours(void);

/* Before and after an exec: closes the record, or removes an empty one; undoes that when the exec
 * has failed. Both do nothing in a child that shares the memory of the process. */
void exit_before_exec(void);
void exit_after_failed_exec(void);

/*
 * The process is about to install a seccomp filter, which may make every system call fatal. From
 * then on the shim's end makes none but write() to a stderr that is known to be good now.
 * Returns whether a filter was in place already; exit_without_filter() takes it back when the
 * kernel has refused.
 */
bool exit_before_filter(void);
void exit_without_filter(void);

#endif
