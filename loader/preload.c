/*
 * Finds the library and orders LD_PRELOAD.
 */
#include "preload.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "elf.h"
#include "probes/allocation_names.h"
#include "words.h"

#define LIBRARY_NAME "libabshim.so"
#define SEPARATORS   ": " /* ld.so(8) */

char *preload_find_library(char why[WHY_SIZE])
{
	static const char *const places[] = { "/" LIBRARY_NAME, "/../lib/" LIBRARY_NAME };
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (length < 0) {
		why_set(why, "cannot find libabshim.so: /proc/self/exe: %s", strerror(errno));
		return NULL;
	}
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char *path;
		if (asprintf(&path, "%s%s", self, places[i]) < 0)
			continue;
		char *resolved = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
		free(path);
		if (resolved != NULL && strpbrk(resolved, SEPARATORS) != NULL) {
			why_set(why, "%.300s: LD_PRELOAD cannot hold a path with a blank or colon",
			        resolved);
			free(resolved);
			return NULL;
		}
		if (resolved != NULL)
			return resolved;
	}
	why_set(why, "cannot find libabshim.so in %.200s or %.200s/../lib", self, self);
	return NULL;
}

/* Adds to list, which is large enough. */
static void add(char *list, const char *entry, size_t length)
{
	size_t at = strlen(list);
	if (at > 0)
		list[at++] = ':';
	memcpy(list + at, entry, length);
	list[at + length] = '\0';
}

/* Adds the old entries of one kind; another copy of the library is left out. */
static void add_old(char *list, const char *old, bool sanitizers)
{
	for (const char *at = old; *at != '\0';) {
		size_t length = strcspn(at, SEPARATORS);
		char entry[PATH_MAX];
		snprintf(entry, sizeof(entry), "%.*s", (int)length, at);
		if (length > 0 && elf_is_sanitizer(entry) == sanitizers &&
		        strcmp(words_base_name(entry), LIBRARY_NAME) != 0 &&
		        strcmp(words_base_name(entry), ALLOCATION_LIBRARY) != 0)
			add(list, at, length);
		at += length;
		at += strspn(at, SEPARATORS);
	}
}

bool preload_set(struct environment *environment, const char *library, const char *sanitizer)
{
	const char *old = environment_get(environment, "LD_PRELOAD");
	if (old == NULL)
		old = "";
	char *counter = alloc_counter(environment, library);
	size_t more = counter != NULL ? strlen(counter) : 0;
	char *list = malloc(strlen(old) + strlen(library) + strlen(sanitizer) + more + 5);
	if (list == NULL) {
		free(counter);
		return false;
	}
	list[0] = '\0';
	/* The runtime may already be named by a path: that entry then stands for it. */
	add_old(list, old, true);
	if (*sanitizer != '\0' && strstr(list, sanitizer) == NULL)
		add(list, sanitizer, strlen(sanitizer));
	add(list, library, strlen(library));
	if (counter != NULL)
		add(list, counter, more);
	add_old(list, old, false);
	bool done = environment_set(environment, "LD_PRELOAD", list);
	free(list);
	free(counter);
	return done;
}
