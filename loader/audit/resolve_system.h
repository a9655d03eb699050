/*
 * What of the rules is the system's: where its root is, the directories that its loader was built
 * with, its cache, and what its CPU is good for.
 */
#ifndef LOADER_AUDIT_RESOLVE_SYSTEM_H
#define LOADER_AUDIT_RESOLVE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "../ab/texts.h"

struct system {
	const char *root; /* NULL: this one */
	uint16_t machine;
	bool is_musl;
	bool legacy;                 /* glibc before 2.37: tls, platforms and atomics are
	                                subdirectories too */
	struct texts directories;    /* searched last; each ends in a slash */
	struct texts configured;     /* those of ld.so.conf, where there is no cache */
	struct texts subdirectories; /* of each directory, best first; the last one is "" */
	size_t hwcaps;               /* how many of them are of glibc-hwcaps */
	uint64_t legacy_hwcap;       /* bits of a cache's entry that this CPU fulfils */
	char library_word[64];       /* $LIB */
	const char *platform;        /* $PLATFORM */
	char *cache;                 /* ld.so.cache; NULL: none */
	size_t cache_size;
	char *preload; /* ld.so.preload; NULL: none */
};

/* Reads what the loader at that path of the system was built with. False: no memory. */
bool system_read(struct system *system, const char *loader);
void system_free(struct system *system);

/*
 * The path under which a path of the system can be opened from here: links are followed as if the
 * system's root were ours. The caller frees it. NULL: no memory, or a loop of links.
 */
char *system_path(const char *root, const char *path);

/* A library's path by the cache; NULL: it is not there. Lives as long as the system. */
const char *system_cached(const struct system *system, const char *name);

/* Fills in subdirectories, hwcaps, legacy_hwcap, platform. False: no memory. */
bool system_read_cpu(struct system *system);

#endif
