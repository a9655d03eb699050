/*
 * Two hash indexes over dense regions. Written by one thread at a time, read by anybody.
 */
#include "stacks.h"

#include <stdbool.h>
#include <string.h>

#include "counters.h"
#include "modules.h"
#include "record_map.h"

#define PROBES 64u

struct key {
	uint64_t hash;
	const uint64_t *frames; /* of a stack */
	uint32_t depth, end;
	uint32_t site, stack; /* of a sample */
};

static bool stack_is(uint32_t entry, const struct key *key)
{
	const struct record_stack *stack = record_entry(REGION_STACKS, entry);
	const uint64_t *frames = record_entry(REGION_FRAMES, stack->first_frame);
	bool same =
	        stack->hash == key->hash && stack->depth == key->depth && stack->end == key->end;
	for (uint32_t i = 0; same && i < key->depth; i++)
		same = frames[i] == key->frames[i];
	return same;
}

static bool sample_is(uint32_t entry, const struct key *key)
{
	const struct record_sample *sample = record_entry(REGION_SAMPLES, entry);
	return sample->site == key->site && sample->stack == key->stack;
}

/* Returns the bucket that holds the key's entry + 1, or 0 and is the key's to fill. NULL: the table
 * is too full. */
static uint32_t *find_bucket(enum record_region_id id, const struct key *key,
        bool (*is)(uint32_t entry, const struct key *key))
{
	const struct record_region *index = &record_header->regions[id];
	if (!record_reserve(id, index->capacity - 1))
		return NULL;
	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t *bucket =
		        record_entry(id, (uint32_t)((key->hash >> 32) + i) % index->capacity);
		if (*bucket == 0 || is(*bucket - 1, key))
			return bucket;
	}
	return NULL;
}

static void lose(enum record_region_id id)
{
	__atomic_fetch_add(&record_header->regions[id].lost, 1, __ATOMIC_RELAXED);
}

/* The frames' place in REGION_FRAMES, all or nothing. */
static uint32_t add_frames(const uint64_t *frames, uint32_t depth)
{
	struct record_region *region = &record_header->regions[REGION_FRAMES];
	uint32_t first = region->used;
	if (depth > region->capacity - first || !record_reserve(REGION_FRAMES, first + depth - 1)) {
		__atomic_fetch_add(&region->lost, depth, __ATOMIC_RELAXED);
		return RECORD_NONE;
	}
	memcpy(record_entry(REGION_FRAMES, first), frames, depth * sizeof(*frames));
	__atomic_store_n(&region->used, first + depth, __ATOMIC_RELEASE); /* pairs with readers */
	return first;
}

static uint32_t add_stack(const struct key *key)
{
	struct record_region *region = &record_header->regions[REGION_STACKS];
	if (region->used >= region->capacity || !record_reserve(REGION_STACKS, region->used))
		return RECORD_NONE;
	uint32_t first = add_frames(key->frames, key->depth);
	if (first == RECORD_NONE)
		return RECORD_NONE;
	uint32_t entry = record_claim(REGION_STACKS);
	if (entry == RECORD_NONE)
		return RECORD_NONE;
	struct record_stack *stack = record_entry(REGION_STACKS, entry);
	stack->first_frame = first;
	stack->depth = key->depth;
	stack->end = key->end;
	for (uint32_t i = 0; i < key->depth; i++)
		record_module_of(key->frames[i]);
	__atomic_store_n(&stack->hash, key->hash, __ATOMIC_RELEASE); /* pairs with readers */
	return entry;
}

/* Fibonacci hashing over all words. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

uint32_t record_stack_add(const uint64_t *frames, uint32_t depth, enum record_stack_end end)
{
	struct key key = { .hash = end + 1, .frames = frames, .depth = depth, .end = end };
	for (uint32_t i = 0; i < depth; i++)
		key.hash = mix(key.hash, frames[i]);
	key.hash |= 1;
	uint32_t *bucket = find_bucket(REGION_STACK_INDEX, &key, stack_is);
	if (bucket == NULL) {
		lose(REGION_STACKS);
		return 0;
	}
	if (*bucket == 0) {
		uint32_t entry = add_stack(&key);
		if (entry == RECORD_NONE) {
			lose(REGION_STACKS);
			return 0;
		}
		*bucket = entry + 1;
	}
	return *bucket;
}

void record_stack_held(uint32_t stack)
{
	struct record_stack *entry = record_entry(REGION_STACKS, stack);
	__atomic_store_n(&entry->holders, entry->holders + 1, __ATOMIC_RELAXED);
}

void record_sample_add(uint32_t site, uint32_t stack, uint64_t wait_ns)
{
	struct key key = { .site = site, .stack = stack };
	key.hash = mix(mix(1, site), stack);
	uint32_t *bucket = find_bucket(REGION_SAMPLE_INDEX, &key, sample_is);
	uint32_t entry = bucket == NULL ? RECORD_NONE : *bucket - 1;
	struct record_sample *sample;
	if (bucket == NULL) {
		lose(REGION_SAMPLES);
		return;
	}
	if (*bucket == 0) {
		entry = record_claim(REGION_SAMPLES); /* counts the loss itself */
		if (entry == RECORD_NONE)
			return;
		sample = record_entry(REGION_SAMPLES, entry);
		sample->site = site;
		sample->stack = stack;
		*bucket = entry + 1;
	}
	sample = record_entry(REGION_SAMPLES, entry);
	counter_add(&sample->wait_ns_total, wait_ns);
	/* Pairs with readers: a sample with waits has all its fields. */
	__atomic_store_n(&sample->waits, sample->waits + 1, __ATOMIC_RELEASE);
}
