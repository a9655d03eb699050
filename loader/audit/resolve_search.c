/*
 * Where ld.so looks for a library, after glibc's elf/dl-load.c: RPATH of the one that needs it and
 * of those that needed that; LD_LIBRARY_PATH; RUNPATH; the cache; the system's directories. musl's
 * search is nearly the same.
 */
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolver.h"

char *resolver_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *made, *own = *path != '/' ? getcwd(NULL, 0) : NULL;
	int length = slash != NULL ? (int)(slash - path) : 0;
	if (asprintf(&made, "%s%s%.*s", own != NULL ? own : "", own != NULL ? "/" : "", length,
	            path) < 0)
		made = NULL;
	free(own);
	return made;
}

/* What is put for a token of ld.so(8) at text ("$ORIGIN", "${LIB}"); NULL: it is none. Sets its
 * length. */
static const char *token_value(
        const struct resolver *resolver, const char *text, const char *origin, size_t *length)
{
	const struct {
		const char *name, *value;
	} tokens[] = { { "ORIGIN", origin }, { "LIB", resolver->system.library_word },
		{ "PLATFORM", resolver->system.platform } };
	bool braces = text[1] == '{';
	const char *name = text + (braces ? 2 : 1);
	for (size_t i = 0; i < sizeof(tokens) / sizeof(*tokens); i++) {
		size_t size = strlen(tokens[i].name);
		if (strncmp(name, tokens[i].name, size) != 0 || (braces && name[size] != '}'))
			continue;
		*length = size + (braces ? 3 : 1);
		return tokens[i].value;
	}
	return NULL;
}

char *resolver_expand(
        struct resolver *resolver, const struct object *of, const char *text, size_t size)
{
	char *origin = resolver_directory(of->name), *made = NULL;
	size_t made_size, length;
	FILE *out = origin != NULL ? open_memstream(&made, &made_size) : NULL;
	for (const char *at = text; out != NULL && at < text + size; at += length) {
		const char *value = *at == '$' ? token_value(resolver, at, origin, &length) : NULL;
		if (value != NULL) {
			fputs(value, out);
			continue;
		}
		length = 1;
		fputc(*at, out);
	}
	if (out != NULL && fclose(out) != 0)
		made = NULL;
	free(origin);
	if (made == NULL)
		resolver_fail(resolver);
	return made;
}

/* Looks in one directory, which ends in a slash, and in its subdirectories for better CPUs. */
static bool try_directory(
        struct resolver *resolver, const char *directory, const char *wanted, size_t loader)
{
	const struct texts *subdirectories = &resolver->system.subdirectories;
	for (size_t i = 0; i < subdirectories->count; i++) {
		char name[PATH_MAX];
		int length = snprintf(
		        name, sizeof(name), "%s%s%s", directory, subdirectories->items[i], wanted);
		if (length < PATH_MAX && resolver_take(resolver, name, wanted, loader))
			return true;
	}
	return false;
}

/* The directories of a list as in RPATH and LD_LIBRARY_PATH, of an object. */
static bool try_list(struct resolver *resolver, size_t of, const char *list, const char *separators,
        const char *wanted, size_t loader)
{
	bool found = false;
	for (const char *at = list; list != NULL && *list != '\0' && !found;) {
		size_t length = strcspn(at, separators);
		char *made = resolver_expand(resolver, &resolver->objects[of], at, length);
		char directory[PATH_MAX];
		size_t made_length = made != NULL ? strlen(made) : 0;
		bool slash = made_length > 0 && made[made_length - 1] == '/';
		/* An empty one is the working directory. */
		if (made != NULL && made_length + 2 < sizeof(directory)) {
			snprintf(directory, sizeof(directory), "%s%s", made_length > 0 ? made : ".",
			        slash ? "" : "/");
			found = try_directory(resolver, directory, wanted, loader);
		}
		free(made);
		at += length;
		if (*at++ == '\0')
			break;
	}
	return found;
}

static bool try_rpaths(struct resolver *resolver, const char *wanted, size_t loader)
{
	bool did_program = false;
	if (resolver->objects[loader].dynamic.runpath != NULL && !resolver->system.is_musl)
		return false;
	for (size_t of = loader;; of = resolver->objects[of].loader) {
		const struct dynamic *dynamic = &resolver->objects[of].dynamic;
		const char *list = dynamic->rpath;
		if (resolver->system.is_musl && dynamic->runpath != NULL)
			list = dynamic->runpath;
		if (try_list(resolver, of, list, ":", wanted, loader))
			return true;
		did_program |= of == 0;
		if (of == resolver->objects[of].loader)
			break;
	}
	return !did_program &&
	       try_list(resolver, 0, resolver->objects[0].dynamic.rpath, ":", wanted, loader);
}

/* Whether the path lies in a directory of the system's: those are not for DF_1_NODEFLIB. */
static bool is_default(const struct system *system, const char *path)
{
	for (size_t i = 0; i < system->directories.count; i++) {
		const char *directory = system->directories.items[i];
		if (strncmp(path, directory, strlen(directory)) == 0)
			return true;
	}
	return false;
}

static bool try_all(struct resolver *resolver, const struct texts *directories, const char *wanted,
        size_t loader)
{
	for (size_t i = 0; i < directories->count; i++)
		if (try_directory(resolver, directories->items[i], wanted, loader))
			return true;
	return false;
}

static bool try_system(struct resolver *resolver, const char *wanted, size_t loader)
{
	const struct system *system = &resolver->system;
	bool defaults = (resolver->objects[loader].dynamic.flags_1 & DF_1_NODEFLIB) == 0;
	const char *cached = system_cached(system, wanted);
	if (cached != NULL && (defaults || !is_default(system, cached)) &&
	        resolver_take(resolver, cached, wanted, loader))
		return true;
	return try_all(resolver, &system->configured, wanted, loader) ||
	       (defaults && try_all(resolver, &system->directories, wanted, loader));
}

bool resolver_search(struct resolver *resolver, const char *wanted, size_t loader)
{
	const char *runpath = resolver->objects[loader].dynamic.runpath;
	return try_rpaths(resolver, wanted, loader) ||
	       try_list(resolver, 0, resolver->options->library_path, ":;", wanted, loader) ||
	       try_list(resolver, loader, runpath, ":", wanted, loader) ||
	       try_system(resolver, wanted, loader);
}
