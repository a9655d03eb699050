/*
 * A growing list of strings, ended by NULL: what options collect, and arguments of commands.
 */
#ifndef LOADER_AB_TEXTS_H
#define LOADER_AB_TEXTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct texts {
	char **items; /* NULL while empty; items[count] is NULL */
	size_t count;
};

/* Adds a copy, or a formatted string. False: no memory, and nothing is changed. */
bool texts_add(struct texts *texts, const char *text);
bool texts_format(struct texts *texts, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
void texts_free(struct texts *texts);

/* An array of strings; broken UTF-8 is replaced. */
json_t *texts_json(const struct texts *texts);

/* Adds the strings of an array. False when it holds anything else. */
bool texts_from_json(struct texts *texts, const json_t *array);

#endif
