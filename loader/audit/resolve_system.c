/*
 * A system's root, and what its loader says of itself. glibc's loader is searched for the strings
 * it was built with: asking it would mean to run it.
 */
#include "resolve_system.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dynamic.h"
#include "files.h"

#define MOST_LINKS   40u
#define MOST_LOADER  (1u << 24)
#define MOST_CACHE   (1u << 27)
#define MOST_CONF    (1u << 20)
#define MOST_NESTING 8u
#define BLANKS       " \t"

/* Puts what a link says, and what is left of the path behind it, in the place of the path. */
static bool follow(char **rest, const char *at, const char *link, char *done, size_t root_length)
{
	char *joined;
	if (asprintf(&joined, "%s/%s", link, at) < 0)
		return false;
	if (*link == '/')
		done[root_length] = '\0';
	free(*rest);
	*rest = joined;
	return true;
}

/* Takes the last part of the path away, but nothing of the root. */
static void ascend(char *done, size_t root_length)
{
	char *slash = strrchr(done + root_length, '/');
	if (slash != NULL)
		*slash = '\0';
}

/* Walks rest, part by part; done has room for PATH_MAX. */
static bool walk(char *done, size_t root_length, char **rest)
{
	const char *at = *rest;
	for (unsigned links = 0;;) {
		at += strspn(at, "/");
		size_t part = strcspn(at, "/"), length = strlen(done);
		if (part == 0)
			return true;
		const char *next = at + part;
		if (part == 2 && at[0] == '.' && at[1] == '.')
			ascend(done, root_length);
		if ((part == 1 && at[0] == '.') || (part == 2 && at[0] == '.' && at[1] == '.')) {
			at = next;
			continue;
		}
		if (length + part + 2 > PATH_MAX)
			return false;
		snprintf(done + length, PATH_MAX - length, "/%.*s", (int)part, at);
		char link[PATH_MAX];
		ssize_t size = readlink(done, link, sizeof(link) - 1);
		at = next;
		if (size <= 0)
			continue;
		link[size] = '\0';
		done[length] = '\0';
		if (++links > MOST_LINKS || !follow(rest, at, link, done, root_length))
			return false;
		at = *rest;
	}
}

char *system_path(const char *root, const char *path)
{
	if (root == NULL || *path != '/')
		return strdup(path);
	size_t root_length = strlen(root);
	char *done = malloc(PATH_MAX), *rest = strdup(path);
	bool found = done != NULL && rest != NULL && root_length < PATH_MAX;
	if (found) {
		strcpy(done, root);
		found = walk(done, root_length, &rest);
	}
	free(rest);
	if (found)
		return done;
	free(done);
	return NULL;
}

/* A whole file of the system with a zero behind it; NULL: not there, too large, or no memory. */
static char *read_file(const char *root, const char *path, size_t most, size_t *size)
{
	char *real = system_path(root, path), *bytes = NULL;
	struct stat status;
	const char *why;
	int fd = real != NULL ? file_open(real, &status, &why) : -1;
	if (fd >= 0 && (uint64_t)status.st_size <= most) {
		*size = (size_t)status.st_size;
		bytes = dynamic_read_at(fd, 0, *size);
	}
	if (fd >= 0)
		close(fd);
	free(real);
	return bytes;
}

/* Whether a directory stands at text, as a loader holds it: "/lib/x86_64-linux-gnu/". */
static bool is_directory(const char *text, size_t size)
{
	size_t length = strnlen(text, size < PATH_MAX ? size : PATH_MAX);
	return length > 2 && length < size && text[0] == '/' && text[length - 1] == '/';
}

/* Finds glibc's array of system directories in its loader: strings one behind the other, one of
 * them
 * "/usr/lib..."; the same array twice counts once. */
static bool find_directories(struct system *system, const char *bytes, size_t size)
{
	for (size_t at = 1; at < size; at++) {
		if (bytes[at] != '/' || bytes[at - 1] != '\0' ||
		        !is_directory(bytes + at, size - at))
			continue;
		size_t end = at;
		bool is_system = false;
		for (; is_directory(bytes + end, size - end); end += strlen(bytes + end) + 1)
			is_system |= strstr(bytes + end, "/lib") != NULL;
		if (!is_system) {
			at = end - 1;
			continue;
		}
		for (; at < end; at += strlen(bytes + at) + 1)
			if (!texts_add(&system->directories, bytes + at))
				return false;
		return true;
	}
	return true;
}

/* The minor number of the release in "... release version 2.36."; 0: old releases do not say. */
static unsigned find_release(const char *bytes, size_t size)
{
	static const char words[] = "release version 2.";
	const char *found = memmem(bytes, size, words, sizeof(words) - 1);
	return found != NULL ? (unsigned)strtoul(found + sizeof(words) - 1, NULL, 10) : 0;
}

static bool add_usual(struct system *system)
{
	const char *triple = system->machine == EM_X86_64 ? "x86_64" : "aarch64";
	return texts_format(&system->directories, "/lib/%s-linux-gnu/", triple) &&
	       texts_format(&system->directories, "/usr/lib/%s-linux-gnu/", triple) &&
	       texts_add(&system->directories, "/lib64/") &&
	       texts_add(&system->directories, "/usr/lib64/") &&
	       texts_add(&system->directories, "/lib/") &&
	       texts_add(&system->directories, "/usr/lib/");
}

static bool add_split(struct texts *to, char *text, const char *separators)
{
	char *rest;
	for (char *part = strtok_r(text, separators, &rest); part != NULL;
	        part = strtok_r(NULL, separators, &rest))
		if (!texts_format(to, "%s/", part))
			return false;
	return true;
}

/* musl: a file beside its loader, /etc/ld-musl-x86_64.path, or what it was built with. */
static bool read_musl(struct system *system, const char *loader)
{
	char path[PATH_MAX], usual[] = "/lib:/usr/local/lib:/usr/lib";
	const char *base = strrchr(loader, '/') != NULL ? strrchr(loader, '/') + 1 : loader;
	size_t size;
	snprintf(path, sizeof(path), "/etc/%.*s.path", (int)strcspn(base, "."), base);
	char *text = read_file(system->root, path, MOST_CONF, &size);
	bool done = add_split(&system->directories, text != NULL ? text : usual, ":\n");
	free(text);
	return done;
}

static bool read_conf(struct system *system, const char *path, unsigned nesting);

static bool include(struct system *system, const char *pattern, unsigned nesting)
{
	glob_t found = { .gl_pathc = 0 };
	char *real = NULL;
	bool done = asprintf(&real, "%s%s%s", system->root != NULL ? system->root : "",
	                    *pattern == '/' ? "" : "/etc/", pattern) >= 0;
	if (done && glob(real, 0, NULL, &found) == 0) {
		size_t skip = system->root != NULL ? strlen(system->root) : 0;
		for (size_t i = 0; done && i < found.gl_pathc; i++)
			done = read_conf(system, found.gl_pathv[i] + skip, nesting + 1);
		globfree(&found);
	}
	free(real);
	return done;
}

/* ld.so.conf, as ldconfig reads it: a directory a line, comments, "include PATTERN". */
static bool read_conf(struct system *system, const char *path, unsigned nesting)
{
	size_t size;
	char *text =
	        nesting < MOST_NESTING ? read_file(system->root, path, MOST_CONF, &size) : NULL;
	char *rest = NULL;
	bool done = true;
	for (char *line = text != NULL ? strtok_r(text, "\n", &rest) : NULL; done && line != NULL;
	        line = strtok_r(NULL, "\n", &rest)) {
		line[strcspn(line, "#\r")] = '\0';
		line += strspn(line, BLANKS);
		if (strncmp(line, "include", 7) == 0 && strchr(BLANKS, line[7]) != NULL) {
			char *words;
			for (char *word = strtok_r(line + 7, BLANKS, &words); done && word != NULL;
			        word = strtok_r(NULL, BLANKS, &words))
				done = include(system, word, nesting);
		} else if (*line == '/') {
			line[strcspn(line, BLANKS "=")] = '\0';
			done = texts_format(&system->configured, "%s/", line);
		}
	}
	free(text);
	return done;
}

/* ld.so.preload without its comments. */
static void read_preload(struct system *system)
{
	size_t size;
	system->preload = read_file(system->root, "/etc/ld.so.preload", MOST_CONF, &size);
	for (char *at = system->preload; at != NULL && (at = strchr(at, '#')) != NULL;)
		memset(at, ' ', strcspn(at, "\n"));
}

static bool read_configuration(struct system *system)
{
	read_preload(system);
	system->cache =
	        read_file(system->root, "/etc/ld.so.cache", MOST_CACHE, &system->cache_size);
	if (system->cache != NULL)
		return true;
	return read_conf(system, "/etc/ld.so.conf", 0) &&
	       (system->configured.count > 0 || include(system, "/etc/ld.so.conf.d/*.conf", 0));
}

/* "/lib/x86_64-linux-gnu/" makes lib/x86_64-linux-gnu. */
static void set_library_word(struct system *system)
{
	const char *first = system->directories.items[0] + 1;
	snprintf(system->library_word, sizeof(system->library_word), "%.*s", (int)strlen(first) - 1,
	        first);
}

bool system_read(struct system *system, const char *loader)
{
	size_t size = 0;
	char *bytes = read_file(system->root, loader, MOST_LOADER, &size);
	bool done = true;
	system->is_musl = strstr(loader, "ld-musl") != NULL;
	if (system->is_musl) {
		done = read_musl(system, loader);
	} else {
		system->legacy = bytes == NULL || find_release(bytes, size) < 37;
		done = (bytes == NULL || find_directories(system, bytes, size)) &&
		       (system->directories.count > 0 || add_usual(system)) &&
		       read_configuration(system);
	}
	free(bytes);
	if (done && system->directories.count > 0)
		set_library_word(system);
	return done && system_read_cpu(system);
}

void system_free(struct system *system)
{
	texts_free(&system->directories);
	texts_free(&system->configured);
	texts_free(&system->subdirectories);
	free(system->cache);
	free(system->preload);
	system->cache = NULL;
}
