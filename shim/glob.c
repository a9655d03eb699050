/*
 * Matches the executable's name against ABSHIM_MATCH.
 */
#include "glob.h"

#include <stddef.h>

/* The set that begins after '[': sets *matches and returns the byte after its ']', or NULL when
 * there is none. */
static const char *set_end(const char *set, char byte, bool *matches)
{
	bool negated = *set == '!' || *set == '^', found = false;
	const char *first = set += negated;
	for (; *set != '\0' && (*set != ']' || set == first); set++) {
		if (set[1] == '-' && set[2] != ']' && set[2] != '\0') {
			found |= byte >= set[0] && byte <= set[2];
			set += 2;
		} else {
			found |= byte == *set;
		}
	}
	*matches = found != negated;
	return *set == ']' ? set + 1 : NULL;
}

bool glob_is_valid(const char *pattern)
{
	bool matches, is_empty = *pattern == '\0';
	while (pattern != NULL && *pattern != '\0') {
		if (*pattern == '[')
			pattern = set_end(pattern + 1, '\0', &matches);
		else if (*pattern != '\\')
			pattern++;
		else
			pattern = pattern[1] != '\0' ? pattern + 2 : NULL;
	}
	return pattern != NULL && !is_empty;
}

/* Matches one byte against the head of the pattern; returns the pattern's rest, NULL: no match. */
static const char *match_one(const char *pattern, char byte)
{
	bool matches;
	if (byte == '\0' || *pattern == '\0')
		return NULL;
	if (*pattern == '?')
		return pattern + 1;
	if (*pattern == '[') {
		const char *rest = set_end(pattern + 1, byte, &matches);
		return matches ? rest : NULL;
	}
	if (*pattern == '\\')
		pattern++;
	return *pattern == byte ? pattern + 1 : NULL;
}

bool glob_matches(const char *pattern, const char *text)
{
	const char *star = NULL, *star_text = NULL;
	for (;;) {
		if (*pattern == '*') {
			star = pattern++;
			star_text = text;
			continue;
		}
		const char *rest = match_one(pattern, *text);
		if (rest != NULL) {
			pattern = rest;
			text++;
		} else if (*pattern == '\0' && *text == '\0') {
			return true;
		} else if (star != NULL && *star_text != '\0') {
			pattern = star + 1; /* let the star take one byte more */
			text = ++star_text;
		} else {
			return false;
		}
	}
}
