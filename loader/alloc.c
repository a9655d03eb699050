/*
 * Sets and checks what glibc reads before the library has a say.
 */
#include "alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/resolve.h"
#include "command.h"
#include "probes/allocation.h"
#include "probes/allocation_names.h"
#include "words.h"

static enum record_alloc_choice asked_arm(const struct environment *environment)
{
	const char *value = environment_get(environment, "ABSHIM_ALLOC");
	for (uint32_t arm = ALLOC_SHARED; value != NULL && arm <= ALLOC_TLAB; arm++)
		if (strcmp(value, words_alloc(arm)) == 0)
			return (enum record_alloc_choice)arm;
	return ALLOC_LIBC;
}

static bool asks_for_counts(const struct environment *environment)
{
	const char *value = environment_get(environment, "ABSHIM_STATS");
	return value != NULL && strcmp(value, "alloc") == 0;
}

bool alloc_is_asked(const struct environment *environment)
{
	return asked_arm(environment) != ALLOC_LIBC || asks_for_counts(environment);
}

bool alloc_set(struct environment *environment)
{
	char text[ALLOCATION_TEXT_SIZE];
	const char *name, *value = environment_get(environment, ALLOCATION_VARIABLE);
	enum record_alloc_choice arm = asked_arm(environment);
	if (arm == ALLOC_LIBC || allocation_add(arm, value, text, &name) != ALLOCATION_ADDED)
		return true;
	return environment_set(environment, ALLOCATION_VARIABLE, text);
}

bool alloc_unset(struct environment *environment)
{
	char text[ALLOCATION_TEXT_SIZE];
	enum record_alloc_choice arm = asked_arm(environment);
	const char *value = environment_get(environment, ALLOCATION_VARIABLE);
	if (arm == ALLOC_LIBC || !allocation_take_away(arm, value, text))
		return true;
	if (*text != '\0')
		return environment_set(environment, ALLOCATION_VARIABLE, text);
	environment_unset(environment, ALLOCATION_VARIABLE);
	return true;
}

char *alloc_counter(const struct environment *environment, const char *library)
{
	char *path;
	const char *slash = strrchr(library, '/');
	int directory = slash != NULL ? (int)(slash + 1 - library) : 0;
	if (!asks_for_counts(environment) ||
	        asprintf(&path, "%.*s%s", directory, library, ALLOCATION_LIBRARY) < 0)
		return NULL;
	return path;
}

/* Older names of two tunables, which glibc takes as well. */
static const char *conflicting_alias(
        const struct environment *environment, enum record_alloc_choice arm)
{
	static const struct {
		const char *name;
		enum record_tunable tunable;
	} aliases[] = {
		{ "MALLOC_ARENA_MAX", TUNABLE_arena_max },
		{ "MALLOC_ARENA_TEST", TUNABLE_arena_test },
	};
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++) {
		const char *value = environment_get(environment, aliases[i].name);
		const char *wanted = allocation_value(arm, aliases[i].tunable);
		if (value != NULL && wanted != NULL && strcmp(value, wanted) != 0)
			return aliases[i].name;
	}
	return NULL;
}

int alloc_check_settings(const struct environment *environment, char why[WHY_SIZE])
{
	char text[ALLOCATION_TEXT_SIZE];
	const char *name = "", *value = environment_get(environment, ALLOCATION_VARIABLE);
	enum record_alloc_choice arm = asked_arm(environment);
	const char *alias = arm != ALLOC_LIBC ? conflicting_alias(environment, arm) : NULL;
	if (arm == ALLOC_LIBC)
		return 0;
	enum allocation_result result = allocation_add(arm, value, text, &name);
	if (alias != NULL)
		why_set(why, "alloc=%s: it sets the same as %s, which has another value: unset it",
		        words_alloc(arm), alias);
	else if (result == ALLOCATION_CONFLICT)
		why_set(why,
		        "alloc=%s: GLIBC_TUNABLES gives another value to glibc.malloc.%s: take "
		        "that out",
		        words_alloc(arm), name);
	else if (result == ALLOCATION_TOO_LONG)
		why_set(why, "alloc=%s: GLIBC_TUNABLES is too long to add to", words_alloc(arm));
	else
		return 0;
	return EXIT_REFUSED;
}

static void note_malloc(void *context, const struct dynamic_symbol *symbol)
{
	bool *found = context;
	*found = *found || (symbol->defined && strcmp(symbol->name, "malloc") == 0);
}

/* Whether calls of malloc come to that file. */
static bool serves_malloc(const char *path, bool *is_libc)
{
	struct dynamic dynamic;
	bool found = false;
	int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
	if (fd < 0 || !dynamic_read(fd, &dynamic)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	const char *soname = dynamic.soname != NULL ? dynamic.soname : "";
	*is_libc = strcmp(soname, "libc.so.6") == 0;
	if (strcmp(soname, ALLOCATION_LIBRARY) != 0)
		dynamic_walk(fd, &dynamic, note_malloc, &found);
	dynamic_free(&dynamic);
	close(fd);
	return found;
}

static bool is_of_java(const struct resolution *resolution)
{
	for (size_t i = 0; i < resolution->count; i++) {
		const char *name = words_base_name(resolution->files[i].name);
		if (strncmp(name, "libjli.so", 9) == 0 || strncmp(name, "libjvm.so", 9) == 0)
			return true;
	}
	return false;
}

static int judge(const struct resolution *resolution, const struct environment *environment,
        bool is_java, char why[WHY_SIZE])
{
	enum record_alloc_choice arm = asked_arm(environment);
	const char *path = resolution->files[0].path;
	bool is_libc = false;
	size_t first = 0;
	while (first < resolution->count && !serves_malloc(resolution->files[first].path, &is_libc))
		first++;
	if (first == resolution->count || is_libc)
		return 0;
	if (asks_for_counts(environment) && first == 0)
		why_set(why,
		        "%.300s brings its own malloc, so stats=alloc cannot count what it "
		        "allocates",
		        path);
	else if (arm == ALLOC_LIBC || is_java)
		return 0;
	else if (first == 0)
		why_set(why,
		        "%.300s brings its own malloc, which alloc=%s does not reach: leave it at "
		        "libc",
		        path, words_alloc(arm));
	else
		why_set(why,
		        "%.200s gets its malloc from %.200s, which alloc=%s does not reach: leave "
		        "it at libc",
		        path, resolution->files[first].name, words_alloc(arm));
	return EXIT_REFUSED;
}

int alloc_check_program(const char *path, int fd, const struct environment *environment,
        bool *is_java, char why[WHY_SIZE])
{
	struct resolution resolution;
	const struct resolve_options options = {
		.library_path = environment_get(environment, "LD_LIBRARY_PATH"),
		.preload = environment_get(environment, "LD_PRELOAD"),
	};
	int status = 0;
	if (!alloc_is_asked(environment))
		return 0;
	/* What cannot be found out here is for the library to say. */
	if (resolve_program(&resolution, path, fd, &options) && resolution.count > 0) {
		*is_java = is_of_java(&resolution);
		status = judge(&resolution, environment, *is_java, why);
	}
	resolve_free(&resolution);
	return status;
}

static const struct {
	const char *title, *name;
} known[] = {
	{ "jemalloc", "libjemalloc.so.2" },
	{ "jemalloc", "libjemalloc.so.1" },
	{ "tcmalloc", "libtcmalloc.so.4" },
	{ "tcmalloc without its profiler", "libtcmalloc_minimal.so.4" },
	{ "mimalloc", "libmimalloc.so.3" },
	{ "mimalloc", "libmimalloc.so.2" },
	{ "mimalloc", "libmimalloc.so.1" },
};

#define KNOWN (sizeof(known) / sizeof(*known))

/* Where each of the known ones is that was found. */
static size_t take_found(const struct resolution *resolution, struct alloc_library *libraries)
{
	size_t used = 0;
	for (size_t i = 0; i < KNOWN; i++)
		for (size_t file = 0; file < resolution->count; file++) {
			const struct resolved *found = &resolution->files[file];
			if (found->path == NULL ||
			        strcmp(words_base_name(found->name), known[i].name) != 0)
				continue;
			libraries[used] = (struct alloc_library){ known[i].title,
				strdup(known[i].name), realpath(found->path, NULL) };
			used++;
			break;
		}
	return used;
}

/* As ld.so would look for them, for this program. */
struct alloc_library *alloc_list(size_t *count)
{
	static const char self[] = "/proc/self/exe";
	struct resolution resolution = { .count = 0 };
	struct alloc_library *libraries = calloc(KNOWN, sizeof(*libraries));
	char names[512] = "";
	int fd = open(self, O_RDONLY | O_CLOEXEC);
	*count = 0;
	for (size_t i = 0; i < KNOWN; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
		        i > 0 ? ":" : "", known[i].name);
	const struct resolve_options options = { .library_path = getenv("LD_LIBRARY_PATH"),
		.preload = names };
	if (libraries != NULL && fd >= 0) {
		if (resolve_program(&resolution, self, fd, &options))
			*count = take_found(&resolution, libraries);
		resolve_free(&resolution);
	}
	if (fd >= 0)
		close(fd);
	return libraries;
}

void alloc_list_free(struct alloc_library *libraries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(libraries[i].name);
		free(libraries[i].path);
	}
	free(libraries);
}
