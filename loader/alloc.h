/*
 * ABSHIM_ALLOC before the program starts: the variables that its arms need, and whether they can
 * act.
 */
#ifndef LOADER_ALLOC_H
#define LOADER_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "environment.h"
#include "message.h"

/* Puts the tunables of the arm that the environment asks for into it, so that the library has not
 * to execute the program again. A conflict is left as it is, for alloc_check_settings(). False: no
 * memory. */
bool alloc_set(struct environment *environment);

/* The same for a program of Java's: they go again. */
bool alloc_unset(struct environment *environment);

/* The library that counts allocations, beside libabshim.so at that path, where the environment asks
 * for it; NULL: it does not, or there is no memory. The caller frees it. */
char *alloc_counter(const struct environment *environment, const char *library);

/* Whether an arm other than libc, or the counting of allocations, is asked for. */
bool alloc_is_asked(const struct environment *environment);

/* Whether other variables are against the arm. Returns an exit status. */
int alloc_check_settings(const struct environment *environment, char why[WHY_SIZE]);

/* Whether the arm, and the counting of allocations, can act in an open program. Sets *is_java for a
 * program that runs a Java virtual machine. Returns an exit status. */
int alloc_check_program(const char *path, int fd, const struct environment *environment,
        bool *is_java, char why[WHY_SIZE]);

/* A library that serves malloc, installed on this system. */
struct alloc_library {
	const char *title;
	char *name, *path; /* name: of LD_PRELOAD+=name */
};

/* The ones found, with their places; *count: how many. The caller frees them. */
struct alloc_library *alloc_list(size_t *count);
void alloc_list_free(struct alloc_library *libraries, size_t count);

#endif
