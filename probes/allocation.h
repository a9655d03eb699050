/*
 * The tunables of an arm of ABSHIM_ALLOC as text: what the shim and the command put into
 * GLIBC_TUNABLES alike.
 */
#ifndef PROBES_ALLOCATION_H
#define PROBES_ALLOCATION_H

#include <stdbool.h>
#include <stddef.h>

#include "record.h"

#define ALLOCATION_VARIABLE "GLIBC_TUNABLES"

/* The longest value of GLIBC_TUNABLES that is added to. */
#define ALLOCATION_TEXT_SIZE 4096

enum allocation_result {
	ALLOCATION_THERE,    /* all of the arm's tunables were in it: text is as it was */
	ALLOCATION_ADDED,    /* text is to be set */
	ALLOCATION_CONFLICT, /* *name has another value */
	ALLOCATION_TOO_LONG,
};

/* Adds what the arm needs to the value of GLIBC_TUNABLES (NULL: not set). *name: the tunable of a
 * conflict, without "glibc.malloc.". */
enum allocation_result allocation_add(enum record_alloc_choice arm, const char *value,
        char text[ALLOCATION_TEXT_SIZE], const char **name);

/* Takes the arm's tunables off the end of the value, where all of them stand there as
 * allocation_add() puts them behind another value, or alone; false: they do not. */
bool allocation_take_away(
        enum record_alloc_choice arm, const char *value, char text[ALLOCATION_TEXT_SIZE]);

/* The value that the arm gives a tunable, NULL: it leaves it alone. */
const char *allocation_value(enum record_alloc_choice arm, enum record_tunable tunable);
const char *allocation_name(enum record_tunable tunable);

/* A number as glibc reads it: decimal, or 0x... or 0...; false: it is none. */
bool allocation_number(const char *text, size_t length, uint64_t *value);

/* The value of a tunable of malloc in GLIBC_TUNABLES; false: it does not stand there, or has no
 * number. The last one counts. */
bool allocation_find(const char *value, enum record_tunable tunable, uint64_t *number);

#endif
