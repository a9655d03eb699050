/*
 * The writers of an audit, for people and for programs.
 */
#ifndef LOADER_AUDIT_WRITE_H
#define LOADER_AUDIT_WRITE_H

#include <jansson.h>
#include <stdio.h>

#include "survey.h"

struct audit_style {
	size_t top;    /* rows of a table */
	bool families; /* a table of instructions too */
};

void audit_write_text(FILE *out, const struct survey *survey, const struct audit_style *style);

/* What is to be said of each target, behind the tables. */
void audit_write_verdicts(FILE *out, const struct survey *survey);

/* Everything, for abshim-json(5). NULL: no memory. The caller owns the reference. */
json_t *audit_json(const struct survey *survey);

/* "exec", "pie", "shared", "relocatable", "refused" */
const char *audit_kind_word(enum audit_kind kind);
/* "file", "program", "process", "directory" */
const char *target_kind_word(enum target_kind kind);

/* The figures of several files. */
struct audit_sum {
	uint64_t files;            /* of the machine */
	uint64_t unread, codeless; /* of all: those that count as not complete; without code, in a
	                              directory */
	uint64_t switchable, rewritable, fixed; /* AArch64 */
	uint64_t locked;                        /* x86-64 */
	uint64_t callers;                       /* files that call functions of libabshim.so */
};

/* Of those of a target's files that are for a machine, as rows call it. */
struct audit_sum audit_sum(
        const struct survey *survey, const struct target *target, const char *machine);

/* Whether all files of the target have been found, and read whole. What a directory holds beside
 * code (debug information, core dumps) is not missed. */
bool target_is_complete(const struct survey *survey, const struct target *target);

/* What is in the way of a preload into the program or process; NULL: nothing. */
const char *target_bar(const struct survey *survey, const struct target *target);

#endif
