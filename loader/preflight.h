/*
 * Looks at a program before it starts: whether libabshim.so can be loaded into it at all.
 */
#ifndef LOADER_PREFLIGHT_H
#define LOADER_PREFLIGHT_H

#include "elf.h"
#include "environment.h"
#include "message.h"

struct preflight {
	char *path;                    /* of the command itself; the caller's to free */
	char sanitizer[ELF_NAME_SIZE]; /* runtime that must stay first, or empty */
};

/*
 * Finds command on the PATH of the environment that the program will get, follows "#!" lines, and
 * checks the program that the kernel would run in the end. Returns 0, or EXIT_NOT_FOUND or
 * EXIT_CANNOT_RUN with a reason.
 */
int preflight_check(struct preflight *preflight, const char *command,
        const struct environment *environment, char why[WHY_SIZE]);

#endif
