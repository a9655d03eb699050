/*
 * The end of the process, of whatever kind: the record is closed and the report comes out.
 */
#ifndef SHIM_EXIT_H
#define SHIM_EXIT_H

#include "probes/record.h"

/* At start: remembers what stderr is, and asks libc to be called at exit and quick_exit. */
void exit_watch(void);

/*
 * The process is about to end. status: what it will exit with, -1 unknown. Closes the record, and
 * prints the report or removes an empty record. Does nothing in a child that shares the memory of
 * the process (vfork), and nothing the second time. Only system calls: may be called from a signal
 * handler. Keeps errno.
 */
void exit_report(enum record_end kind, int status);

/* In the parent, after a fork. */
void exit_after_fork(void);

#endif
