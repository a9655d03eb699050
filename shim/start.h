/*
 * Start of the shim in a process and in its forked children.
 */
#ifndef SHIM_START_H
#define SHIM_START_H

#include <stdbool.h>
#include <stddef.h>

/* Whether this process is counted: false before the constructor, and where the shim keeps out
 * (ABSHIM_MATCH, or ABSHIM_STATS=off with the glibc strategy). Written by start.c alone. */
extern bool start_counting __attribute__((visibility("hidden")));

/* Ends the process with a message where its libc is another one than the wrappers stand for. */
void start_need_glibc(void);

/* In a forked child: gives it a record of its own. */
void start_forked(void);

/* Makes a new record in place of one that is empty and has been removed. The calling thread must be
 * the only one that has been counted. */
void start_renew(void);

/* How many forks lie between this process and the one that started. */
unsigned start_era(void);

/* Whether the process has a record at all. */
bool start_has_record(void);

/* Writes name to path[size], made absolute with the directory in which the process started. False
 * when it does not fit. */
bool start_absolute(char *path, size_t size, const char *name);

#endif
