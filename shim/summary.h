/*
 * The plain lines that the shim writes itself where the abshim command cannot be started.
 */
#ifndef SHIM_SUMMARY_H
#define SHIM_SUMMARY_H

#include <stdbool.h>

/* Writes totals and the record's place to stderr, never waiting for a reader, and without SIGPIPE
 * for the target. Returns whether they were written. All signals must be blocked. */
bool summary_write(void);

/* The same with one write() and no other system call. */
bool summary_write_blindly(void);

/* One line to stderr that says where the record is, after a report file could not be written. */
bool summary_write_place(void);

#endif
