/*
 * A hash table in segments, each much larger than all before it: a program of few locks touches few
 * pages. A lock has one bucket in each segment and lies in one of them; room is taken in the first
 * one that has any.
 */
#include "created.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "counters.h"
#include "record_map.h"
#include "sys.h"

#define BUCKET        4u /* entries: one cache line */
#define BEING_WRITTEN 1u /* in place of a lock's address */

/* The first entry of each segment, and the end of the last one. */
static const uint32_t segments[] = { 0, 1024, 16384, 131072 };

#define SEGMENTS (sizeof(segments) / sizeof(*segments) - 1)

/* What record_created_take() has taken. */
static struct {
	struct record_created *entries; /* NULL: nothing */
	uint32_t count;
	size_t bytes; /* of the mapping */
} taken;

/* How many entries there are by now, in all segments: in place of a dense region's `used`. */
static uint32_t *table_size(void)
{
	return &record_header->regions[REGION_CREATED].used;
}

/* Fibonacci hashing, as in waits.c, with its good bits spread to the low half. */
static uint64_t hash(uint64_t lock)
{
	uint64_t value = lock * UINT64_C(0x9e3779b97f4a7c15);
	return value ^ value >> 32;
}

/* The bucket in a segment; each segment goes by other bits of the hash. */
static struct record_created *bucket(uint64_t hash, unsigned segment)
{
	uint32_t start = segments[segment], buckets = (segments[segment + 1] - start) / BUCKET;
	uint64_t bits = (uint32_t)(hash >> 12 * segment);
	return record_entry(REGION_CREATED, start + (uint32_t)(bits * buckets >> 32) * BUCKET);
}

/* The lock's entry, or NULL; then *room is the first free one, if there is any. */
static struct record_created *find(uint64_t lock, struct record_created **room)
{
	uint64_t hashed = hash(lock);
	uint32_t size = __atomic_load_n(table_size(), __ATOMIC_ACQUIRE); /* pairs with grow */
	*room = NULL;
	for (unsigned segment = 0; segment < SEGMENTS && segments[segment] < size; segment++) {
		struct record_created *entry = bucket(hashed, segment);
		for (unsigned i = 0; i < BUCKET; i++, entry++) {
			/* Pairs with the release in fill: its site is there. */
			uint64_t found = __atomic_load_n(&entry->lock, __ATOMIC_ACQUIRE);
			if (found == lock)
				return entry;
			if (found == 0 && *room == NULL)
				*room = entry;
		}
	}
	return NULL;
}

/* Adds the next segment, unless another thread has. */
static bool grow(void)
{
	uint32_t size = __atomic_load_n(table_size(), __ATOMIC_RELAXED);
	unsigned segment = 0;
	while (segment < SEGMENTS && segments[segment] < size)
		segment++;
	if (segment == SEGMENTS || !record_reserve(REGION_CREATED, segments[segment + 1] - 1))
		return false;
	/* Pairs with the acquire in find: its pages are there. */
	__atomic_compare_exchange_n(table_size(), &size, segments[segment + 1], false,
	        __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	return true;
}

static bool fill(struct record_created *entry, uint64_t lock, uint64_t site)
{
	uint64_t nothing = 0;
	if (!__atomic_compare_exchange_n(&entry->lock, &nothing, BEING_WRITTEN, false,
	            __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) /* pairs with the release in forget */
		return false;
	__atomic_store_n(&entry->site, site, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->lock, lock, __ATOMIC_RELEASE); /* pairs with find */
	return true;
}

void record_lock_created(uint64_t lock, uint64_t site)
{
	struct record_created *entry, *room;
	do {
		entry = find(lock, &room);
		if (entry != NULL) {
			__atomic_store_n(&entry->site, site, __ATOMIC_RELAXED);
			return;
		}
		if (room == NULL && !grow()) {
			shared_add(&record_header->created_lost, 1);
			return;
		}
	} while (room == NULL || !fill(room, lock, site));
}

uint64_t record_lock_creation(uint64_t lock)
{
	struct record_created *room, *entry = find(lock, &room);
	if (entry == NULL)
		return 0;
	uint64_t site = __atomic_load_n(&entry->site, __ATOMIC_ACQUIRE);
	/* It may have been given to another lock in between. */
	return __atomic_load_n(&entry->lock, __ATOMIC_RELAXED) == lock ? site : 0;
}

void record_lock_forget(uint64_t lock)
{
	struct record_created *room, *entry = find(lock, &room);
	if (entry != NULL)
		__atomic_store_n(&entry->lock, 0, __ATOMIC_RELEASE); /* pairs with fill */
}

void record_created_take(void)
{
	uint32_t size = __atomic_load_n(table_size(), __ATOMIC_ACQUIRE); /* pairs with grow */
	if (size == 0)
		return;
	taken.bytes = size * sizeof(*taken.entries);
	long address = sys_call6(SYS_mmap, 0, (long)taken.bytes, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_failed(address))
		return;
	taken.entries = (struct record_created *)address;
	taken.count = 0;
	for (uint32_t i = 0; i < size; i++) {
		const struct record_created *entry = record_entry(REGION_CREATED, i);
		uint64_t lock = __atomic_load_n(&entry->lock, __ATOMIC_ACQUIRE); /* as in find */
		uint64_t site = __atomic_load_n(&entry->site, __ATOMIC_ACQUIRE);
		/* The parent goes on writing here. */
		if (lock != 0 && lock != BEING_WRITTEN &&
		        __atomic_load_n(&entry->lock, __ATOMIC_RELAXED) == lock)
			taken.entries[taken.count++] = (struct record_created){ lock, site };
	}
}

void record_created_put(void)
{
	if (taken.entries == NULL)
		return;
	for (uint32_t i = 0; i < taken.count; i++)
		record_lock_created(taken.entries[i].lock, taken.entries[i].site);
	sys_call3(SYS_munmap, SYS_ARG(taken.entries), (long)taken.bytes, 0);
	taken.entries = NULL;
}
