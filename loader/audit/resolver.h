/*
 * The search for the libraries of one program, between resolve.c, which says what is needed, and
 * resolve_search.c, which says where to look.
 */
#ifndef LOADER_AUDIT_RESOLVER_H
#define LOADER_AUDIT_RESOLVER_H

#include <sys/stat.h>

#include "resolve.h"
#include "resolve_system.h"

struct object {
	struct dynamic dynamic;
	char *name;         /* as ld.so calls it */
	char *path;         /* from here */
	struct texts names; /* it was asked for by */
	dev_t device;
	ino_t inode;
	size_t loader; /* which object needed it first */
};

struct resolver {
	const struct resolve_options *options;
	struct system system;
	struct object *objects;
	size_t count;
	char *origin; /* where a program lies that is none of the foreign system's */
	struct texts missing, notes;
	uint64_t tries; /* names that were looked for */
	bool out_of_memory;
};

/* Notes that there is no memory; returns false. */
bool resolver_fail(struct resolver *resolver);

/*
 * Takes the file of that name, if it is one that fits. wanted is what it was asked for by. True
 * when there is nothing more to be looked for.
 */
bool resolver_take(struct resolver *resolver, const char *name, const char *wanted, size_t loader);

/* Looks in all the places where the object's loader looks for a name without a slash. */
bool resolver_search(struct resolver *resolver, const char *wanted, size_t loader);

/* The directory of a path, the working directory's where it has none. NULL: no memory. */
char *resolver_directory(const char *path);

/* Replaces the tokens in size bytes of what an object says. NULL: no memory. The caller frees it.
 */
char *resolver_expand(
        struct resolver *resolver, const struct object *of, const char *text, size_t size);

#endif
