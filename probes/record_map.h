/*
 * The writer's side of the record: making the file, and touching it without ever faulting.
 */
#ifndef PROBES_RECORD_MAP_H
#define PROBES_RECORD_MAP_H

#include <stdbool.h>

#include "record.h"

#define RECORD_NONE UINT32_MAX

/* The record of this process; NULL until record_create() has succeeded. The address stays the same
 * for the life of the process, forked children included. */
extern struct record_header *record_header __attribute__((visibility("hidden")));

/* Where the regions lie. A copy of this process's own: what others write into the file leads to
 * wrong figures, never out of it. */
struct record_place {
	char *start;
	uint32_t entry_size, capacity;
};

extern struct record_place record_places[REGION_COUNT] __attribute__((visibility("hidden")));

/* An entry beyond the region's end is its first one. */
static inline void *record_entry(enum record_region_id id, uint32_t entry)
{
	const struct record_place *place = &record_places[id];
	return place->start + (uint64_t)(entry < place->capacity ? entry : 0) * place->entry_size;
}

/* How many entries of a dense region have been claimed. */
static inline uint32_t record_used(enum record_region_id id)
{
	/* Pairs with record_claim: pages up to there may be touched. */
	uint32_t used = __atomic_load_n(&record_header->regions[id].used, __ATOMIC_ACQUIRE);
	return used < record_places[id].capacity ? used : record_places[id].capacity;
}

/* Whether the process has put itself under a seccomp filter. From then on a system call of ours may
 * be fatal; those on the futex of a lock that waits remain, since libc makes them too. */
static inline bool record_filtered(void)
{
	return (__atomic_load_n(&record_header->flags, __ATOMIC_RELAXED) & RECORD_SECCOMP) != 0;
}

/*
 * Makes an empty record and maps it; in a forked child, maps it over the parent's.
 * directory: where the file goes, or NULL for the first usable default directory.
 * executable: absolute path of the program; names the file.
 * Falls back to anonymous memory (flag RECORD_IN_MEMORY) when no file can be made.
 * A given directory must be this user's and not writable for everyone; else EPERM. Where it is not
 * for this user at all, as when a server started by root became another user, the default ones are
 * taken (flag RECORD_ELSEWHERE); in a process that has begun (must_file is not set), whatever was
 * wrong with it.
 * Returns 0; or -errno of the last attempt when directory was given and is unusable and must_file
 * is set, or when there is no memory at all: then there is no record. ENOSPC: the file
 * system has no room for the least that a record needs. EFBIG: RLIMIT_FSIZE is lower
 * than a record's size.
 */
int record_create(const char *directory, const char *executable, bool must_file);

/* Makes entry number `entry` of a region safe to touch: a full tmpfs is a false here (and flag
 * RECORD_NO_ROOM), not a SIGBUS later. */
bool record_reserve(enum record_region_id id, uint32_t entry);

/* Claims the next entry of a dense region; RECORD_NONE, counted as lost, when there is no room. */
uint32_t record_claim(enum record_region_id id);

/* Removes the file's name; the mapping stays. */
void record_unlink(void);

/* Writes the decimal digits of value and a NUL to text (21 bytes at most); returns their number. */
unsigned record_decimal(char *text, uint64_t value);

/* Copies from to to[size], cutting a longer one at its front to "...tail". Always terminates. */
void record_copy_path(char *to, size_t size, const char *from);

#endif
