/*
 * Sets, joins and removes variables in an array of strings.
 */
#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool environment_copy(struct environment *environment, char *const *from)
{
	size_t count = 0;
	while (from[count] != NULL)
		count++;
	environment->count = 0;
	environment->strings = calloc(count + 1, sizeof(*environment->strings));
	if (environment->strings == NULL)
		return false;
	for (; environment->count < count; environment->count++) {
		environment->strings[environment->count] = strdup(from[environment->count]);
		if (environment->strings[environment->count] == NULL) {
			environment_free(environment);
			return false;
		}
	}
	return true;
}

void environment_free(struct environment *environment)
{
	for (size_t i = 0; i < environment->count; i++)
		free(environment->strings[i]);
	free(environment->strings);
	*environment = (struct environment){ NULL, 0 };
}

/* Where the variable stands, or count. */
static size_t find(const struct environment *environment, const char *name)
{
	size_t length = strlen(name), i = 0;
	for (; i < environment->count; i++)
		if (strncmp(environment->strings[i], name, length) == 0 &&
		        environment->strings[i][length] == '=')
			break;
	return i;
}

const char *environment_get(const struct environment *environment, const char *name)
{
	size_t at = find(environment, name);
	return at < environment->count ? environment->strings[at] + strlen(name) + 1 : NULL;
}

bool environment_set(struct environment *environment, const char *name, const char *value)
{
	char *string;
	size_t at = find(environment, name);
	if (asprintf(&string, "%s=%s", name, value) < 0)
		return false;
	if (at < environment->count) {
		free(environment->strings[at]);
		environment->strings[at] = string;
		return true;
	}
	char **grown = realloc(environment->strings, (at + 2) * sizeof(*grown));
	if (grown == NULL) {
		free(string);
		return false;
	}
	grown[at] = string;
	grown[at + 1] = NULL;
	environment->strings = grown;
	environment->count = at + 1;
	return true;
}

void environment_unset(struct environment *environment, const char *name)
{
	size_t at;
	while ((at = find(environment, name)) < environment->count) {
		free(environment->strings[at]);
		memmove(&environment->strings[at], &environment->strings[at + 1],
		        (environment->count - at) * sizeof(*environment->strings));
		environment->count--;
	}
}

char environment_separator(const char *name)
{
	static const char *const begins[] = { "JAVA", "_JAVA", "JDK_" };
	static const char *const ends[] = { "FLAGS", "ARGS", "OPTS" };
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return ' ';
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t length = strlen(name), end = strlen(ends[i]);
		if (length >= end && strcmp(name + length - end, ends[i]) == 0)
			return ' ';
	}
	return ':';
}

bool environment_append(struct environment *environment, const char *name, const char *value)
{
	const char *old = environment_get(environment, name);
	char *joined;
	if (old == NULL || *old == '\0')
		return environment_set(environment, name, value);
	if (asprintf(&joined, "%s%c%s", old, environment_separator(name), value) < 0)
		return false;
	bool done = environment_set(environment, name, joined);
	free(joined);
	return done;
}

/* Copies the values of list that are not value to rest. */
static void leave_out(char *rest, const char *list, const char *value, char separator)
{
	const char separators[] = { separator, '\0' };
	size_t value_length = strlen(value);
	*rest = '\0';
	bool first = true;
	for (const char *at = list;; at++) {
		size_t length = strcspn(at, separators);
		if (length != value_length || strncmp(at, value, length) != 0) {
			if (!first)
				*rest++ = separator;
			first = false;
			memcpy(rest, at, length);
			rest += length;
			*rest = '\0';
		}
		at += length;
		if (*at == '\0')
			return;
	}
}

bool environment_remove(struct environment *environment, const char *name, const char *value)
{
	const char *old = environment_get(environment, name);
	if (old == NULL)
		return true;
	char *rest = malloc(strlen(old) + 1);
	if (rest == NULL)
		return false;
	leave_out(rest, old, value, environment_separator(name));
	bool done = true;
	if (*value == '\0' || *rest == '\0')
		environment_unset(environment, name);
	else
		done = environment_set(environment, name, rest);
	free(rest);
	return done;
}
