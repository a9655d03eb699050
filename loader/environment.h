/*
 * An environment that is being put together for a program.
 */
#ifndef LOADER_ENVIRONMENT_H
#define LOADER_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

struct environment {
	char **strings; /* "NAME=VALUE", ended by NULL: fit for execve() */
	size_t count;
};

/* All changes return false when there is no memory, and then change nothing. */
bool environment_copy(struct environment *environment, char *const *from);
void environment_free(struct environment *environment);

/* NULL when the variable is not set. */
const char *environment_get(const struct environment *environment, const char *name);
bool environment_set(struct environment *environment, const char *name, const char *value);
void environment_unset(struct environment *environment, const char *name);

/* What separates the values in a variable: a blank for options (JAVA_TOOL_OPTIONS, CFLAGS, ...:
 * names that begin with JAVA, _JAVA or JDK_ or end in FLAGS, ARGS or OPTS), else a colon. */
char environment_separator(const char *name);

/* Adds a value at the end. */
bool environment_append(struct environment *environment, const char *name, const char *value);

/* Takes a value out, wherever it stands; an empty value takes the whole variable away. */
bool environment_remove(struct environment *environment, const char *name, const char *value);

#endif
