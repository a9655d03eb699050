/*
 * The records that a program left behind: found, judged and reported once it has ended.
 */
#ifndef LOADER_AFTERMATH_H
#define LOADER_AFTERMATH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "environment.h"

struct aftermath {
	pid_t pid;
	uint64_t start_ticks;
	int wait_status;
	unsigned found;        /* records of this very process */
	unsigned replaced;     /* those that were replaced by exec */
	uint64_t threads_lost; /* found no room in them */
};

/* Whether a record can be written at all: to ABSHIM_DIR when it is set (then the shim itself
 * judges), else to one of the default directories. */
bool aftermath_directory_usable(const struct environment *environment);

/* The path of the newest record that a process left in ABSHIM_DIR or else in a default directory;
 * the caller's to free. NULL: there is none. */
char *aftermath_find_record(pid_t pid);

/*
 * Looks for the records of the process. Prints the report of one whose own report did not come out,
 * and removes empty ones. Fills in what stands behind wait_status.
 */
void aftermath_settle(struct aftermath *aftermath, const struct environment *environment);

#endif
