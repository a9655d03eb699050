/*
 * Looks at a program before it starts: whether libabshim.so can be loaded into it at all.
 */
#ifndef LOADER_PREFLIGHT_H
#define LOADER_PREFLIGHT_H

#include <stdbool.h>

#include "elf.h"
#include "environment.h"
#include "message.h"

struct preflight {
	char *path;                    /* of the command itself; the caller's to free */
	char sanitizer[ELF_NAME_SIZE]; /* runtime that must stay first, or empty */
	bool is_java; /* it runs a Java virtual machine; looked for where ABSHIM_ALLOC is set */
};

/* Whether this machine can do what the environment asks the library for. Returns 0, or EXIT_REFUSED
 * with a reason, as the library would. */
int preflight_check_settings(const struct environment *environment, char why[WHY_SIZE]);

/*
 * Finds command on the PATH of the environment that the program will get, follows "#!" lines, and
 * checks the program that the kernel would run in the end, and the settings. Returns 0, or
 * EXIT_NOT_FOUND, EXIT_CANNOT_RUN or EXIT_REFUSED with a reason.
 */
int preflight_check(struct preflight *preflight, const char *command,
        const struct environment *environment, char why[WHY_SIZE]);

#endif
