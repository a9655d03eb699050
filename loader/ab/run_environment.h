/*
 * The environments of a run: the target's, that of the arm and equally large in every arm, and that
 * of the commands around it.
 */
#ifndef LOADER_AB_RUN_ENVIRONMENT_H
#define LOADER_AB_RUN_ENVIRONMENT_H

#include "design.h"
#include "run_line.h"

struct run_places {
	const struct environment *base; /* this process's own */
	const char *library;            /* libabshim.so */
	const char *sanitizer;          /* see preload_set() */
	const char *records;            /* directory of the processes' records */
	const char *directory;          /* of the run's files */
};

/*
 * Environment of the program under libabshim.so. All arms' have the same number of variables and
 * bytes, so that no arm's stack lies elsewhere: AB_PADDING_N fill them up. False: no memory.
 */
bool run_environment_target(struct environment *environment, const struct design *design,
        const struct run *run, const struct run_places *places);

/* The same of the other commands of a run: no library, LC_ALL=C. server: its process, 0: none. */
bool run_environment_other(struct environment *environment, const struct design *design,
        const struct run *run, const struct run_places *places, pid_t server);

/* How many bytes the strings and pointers of an environment take on the stack. */
size_t run_environment_size(const struct environment *environment);

#endif
