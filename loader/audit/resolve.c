/*
 * What a program needs, breadth first, after glibc's elf/dl-deps.c; a library is taken once, by
 * whatever names and paths it is asked for.
 */
#include "resolve.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "resolver.h"

#define MOST_OBJECTS 4096u
#define MOST_TRIES                                                                                 \
	200000u /* no program needs nearly as many: one made to keep us busy ends there */

bool resolve_knows(const struct dynamic *dynamic)
{
	return dynamic->machine == EM_X86_64 || dynamic->machine == EM_AARCH64;
}

bool resolver_fail(struct resolver *resolver)
{
	resolver->out_of_memory = true;
	return false;
}

/* Where a path of the system can be opened from here. What lies by a program from elsewhere is
 * looked for there. NULL: nowhere. */
static char *path_from_here(const struct resolver *resolver, const char *name)
{
	const char *origin = resolver->origin;
	char *path = system_path(resolver->options->root, name);
	if (path != NULL && access(path, F_OK) == 0)
		return path;
	free(path);
	bool beside = origin != NULL && strncmp(name, origin, strlen(origin)) == 0;
	return beside ? strdup(name) : NULL;
}

static struct object *find_same(struct resolver *resolver, const struct stat *status)
{
	for (size_t i = 0; i < resolver->count; i++)
		if (resolver->objects[i].inode == status->st_ino &&
		        resolver->objects[i].device == status->st_dev)
			return &resolver->objects[i];
	return NULL;
}

static bool add_object(struct resolver *resolver, struct object *object)
{
	struct object *more =
	        reallocarray(resolver->objects, resolver->count + 1, sizeof(*resolver->objects));
	if (more == NULL || object->name == NULL || object->path == NULL) {
		dynamic_free(&object->dynamic);
		free(object->name);
		free(object->path);
		resolver->objects = more != NULL ? more : resolver->objects;
		return resolver_fail(resolver);
	}
	resolver->objects = more;
	more[resolver->count++] = *object;
	return true;
}

/* Whether ld.so would take the file: a library for the program's machine. */
static bool is_fitting(const struct resolver *resolver, const struct dynamic *dynamic)
{
	return dynamic->machine == resolver->system.machine && dynamic->is_loadable &&
	       dynamic->type == ET_DYN;
}

bool resolver_take(struct resolver *resolver, const char *name, const char *wanted, size_t loader)
{
	struct stat status;
	const char *why;
	if (resolver->tries++ >= MOST_TRIES)
		return false;
	char *path = path_from_here(resolver, name);
	int fd = path != NULL ? file_open(path, &status, &why) : -1;
	struct object object = { .loader = loader, .path = path };
	if (fd < 0 || !dynamic_read(fd, &object.dynamic)) {
		if (fd >= 0)
			close(fd);
		free(path);
		return false;
	}
	close(fd);
	struct object *same = find_same(resolver, &status);
	if (same != NULL || !is_fitting(resolver, &object.dynamic)) {
		dynamic_free(&object.dynamic);
		free(path);
		return same != NULL &&
		       (texts_add(&same->names, wanted) || !resolver_fail(resolver));
	}
	object.name = strdup(name);
	object.device = status.st_dev;
	object.inode = status.st_ino;
	if (!texts_add(&object.names, wanted))
		resolver_fail(resolver);
	return add_object(resolver, &object) || true;
}

static bool is_known(struct resolver *resolver, const char *wanted)
{
	for (size_t i = 0; i < resolver->count; i++) {
		const struct object *object = &resolver->objects[i];
		const char *soname = object->dynamic.soname;
		if (strcmp(object->name, wanted) == 0 ||
		        (soname != NULL && strcmp(soname, wanted) == 0))
			return true;
		for (size_t j = 0; j < object->names.count; j++)
			if (strcmp(object->names.items[j], wanted) == 0)
				return true;
	}
	return false;
}

/* musl's libc is its loader, and is all of these. */
static bool is_musl_libc(const char *wanted)
{
	static const char *const stems[] = { "libc.", "libpthread.", "librt.", "libm.", "libdl.",
		"libutil.", "libxnet." };
	for (size_t i = 0; i < sizeof(stems) / sizeof(*stems); i++)
		if (strncmp(wanted, stems[i], strlen(stems[i])) == 0)
			return true;
	return false;
}

/* Finds a library that an object asks for, and says whether it is there. */
static bool find(struct resolver *resolver, const char *asked, size_t loader)
{
	bool found = false;
	char *wanted = resolver_expand(resolver, &resolver->objects[loader], asked, strlen(asked));
	if (wanted == NULL)
		return false;
	if (*wanted == '\0')
		found = false;
	else if (is_known(resolver, wanted) || (resolver->system.is_musl && is_musl_libc(wanted)))
		found = true;
	else if (strchr(wanted, '/') != NULL)
		found = resolver_take(resolver, wanted, wanted, loader);
	else
		found = resolver_search(resolver, wanted, loader);
	free(wanted);
	return found;
}

static bool is_exhausted(const struct resolver *resolver)
{
	return resolver->count >= MOST_OBJECTS || resolver->tries >= MOST_TRIES;
}

static void find_needed(struct resolver *resolver, size_t of)
{
	/* The list moves when objects are added; what an object asks for stays where it is. */
	const struct texts needed = resolver->objects[of].dynamic.needed;
	const struct texts auxiliary = resolver->objects[of].dynamic.auxiliary;
	for (size_t i = 0; i < needed.count && !is_exhausted(resolver); i++)
		if (!find(resolver, needed.items[i], of) &&
		        !texts_format(&resolver->missing, "%s, needed by %s", needed.items[i],
		                resolver->objects[of].name))
			resolver_fail(resolver);
	for (size_t i = 0; i < auxiliary.count && !is_exhausted(resolver); i++)
		find(resolver, auxiliary.items[i], of);
}

/* Names with separators between them, as in LD_PRELOAD. One that is not there is left out. */
static void find_preloaded(struct resolver *resolver, const char *names, const char *separators)
{
	char *list = names != NULL ? strdup(names) : NULL, *rest = NULL;
	for (char *name = list != NULL ? strtok_r(list, separators, &rest) : NULL; name != NULL;
	        name = strtok_r(NULL, separators, &rest))
		if (!find(resolver, name, 0) &&
		        !texts_format(&resolver->notes, "%s cannot be preloaded", name))
			resolver_fail(resolver);
	free(list);
}

/* The name of the program in its system, with links followed as the kernel does. NULL: no memory.
 */
static char *program_name(struct resolver *resolver, const char *path)
{
	const char *root = resolver->options->root;
	char *real = realpath(path, NULL);
	size_t length = root != NULL ? strlen(root) : 0;
	if (root == NULL || real == NULL)
		return real != NULL ? real : strdup(path);
	if (strncmp(real, root, length) == 0 && real[length] == '/') {
		char *name = strdup(real + length);
		free(real);
		return name;
	}
	resolver->origin = resolver_directory(real);
	return real;
}

static bool add_program(struct resolver *resolver, const char *path, int fd)
{
	struct object program = { .loader = 0 };
	struct stat status;
	if (fstat(fd, &status) != 0 || !dynamic_read(fd, &program.dynamic))
		return resolver_fail(resolver);
	program.name = program_name(resolver, path);
	program.path = strdup(path);
	program.device = status.st_dev;
	program.inode = status.st_ino;
	return add_object(resolver, &program);
}

static bool add_interpreter(struct resolver *resolver)
{
	const char *name = resolver->objects[0].dynamic.interpreter;
	if (name == NULL)
		return true;
	if (resolver_take(resolver, name, name, 0))
		return !resolver->out_of_memory;
	return texts_format(&resolver->missing, "%s, the loader", name) || resolver_fail(resolver);
}

/* Moves what was found out of the resolver. */
static bool give(struct resolver *resolver, struct resolution *resolution)
{
	resolution->files = calloc(resolver->count + 1, sizeof(*resolution->files));
	if (resolution->files == NULL)
		return false;
	for (size_t i = 0; i < resolver->count; i++) {
		struct object *object = &resolver->objects[i];
		resolution->files[i] =
		        (struct resolved){ object->name, object->path, object->loader };
		object->name = object->path = NULL;
	}
	resolution->count = resolver->count;
	resolution->missing = resolver->missing;
	resolution->notes = resolver->notes;
	resolution->whole = resolver->missing.count == 0 && !is_exhausted(resolver);
	resolver->missing = resolver->notes = (struct texts){ .items = NULL };
	return true;
}

static void free_resolver(struct resolver *resolver)
{
	for (size_t i = 0; i < resolver->count; i++) {
		dynamic_free(&resolver->objects[i].dynamic);
		texts_free(&resolver->objects[i].names);
		free(resolver->objects[i].name);
		free(resolver->objects[i].path);
	}
	free(resolver->objects);
	free(resolver->origin);
	texts_free(&resolver->missing);
	texts_free(&resolver->notes);
	system_free(&resolver->system);
}

bool resolve_program(struct resolution *resolution, const char *path, int fd,
        const struct resolve_options *options)
{
	struct resolver resolver = { .options = options };
	*resolution = (struct resolution){ .count = 0 };
	bool done = add_program(&resolver, path, fd);
	const struct dynamic *program = done ? &resolver.objects[0].dynamic : NULL;
	if (done && program->interpreter != NULL) {
		resolver.system =
		        (struct system){ .root = options->root, .machine = program->machine };
		done = system_read(&resolver.system, program->interpreter) &&
		       add_interpreter(&resolver);
	}
	if (done && resolver.objects[0].dynamic.interpreter != NULL) {
		find_preloaded(&resolver, options->preload, ": ");
		find_preloaded(&resolver, resolver.system.preload, ": \t\n");
		for (size_t i = 0; i < resolver.count; i++)
			find_needed(&resolver, i);
	}
	if (is_exhausted(&resolver) &&
	        !texts_add(&resolver.notes, "it needs too many libraries: not all were looked for"))
		done = false;
	done = done && !resolver.out_of_memory && give(&resolver, resolution);
	free_resolver(&resolver);
	return done;
}

void resolve_free(struct resolution *resolution)
{
	for (size_t i = 0; i < resolution->count; i++) {
		free(resolution->files[i].name);
		free(resolution->files[i].path);
	}
	free(resolution->files);
	texts_free(&resolution->missing);
	texts_free(&resolution->notes);
	*resolution = (struct resolution){ .count = 0 };
}
