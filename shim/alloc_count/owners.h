/*
 * Which thread got a block: known for a sample of addresses, in a table of fixed size.
 */
#ifndef SHIM_ALLOC_COUNT_OWNERS_H
#define SHIM_ALLOC_COUNT_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/allocation_names.h"

enum owner {
	OWNER_UNKNOWN, /* no address of the sample, or a newer block has its place */
	OWNER_CALLER,
	OWNER_OTHER,
};

#define OWNERS      65536u
#define OWNER_BITS  20u
#define OWNER_MASK  ((1u << OWNER_BITS) - 1)
#define BLOCK_SHIFT 4u /* blocks lie at multiples of 16 */

/* A block's address without its lowest bits, above them the number of its thread: addresses have 48
 * bits on both machines (without memory tags and larger address spaces, which no malloc uses
 * unasked). */
extern uint64_t owners_table[OWNERS] __attribute__((visibility("hidden")));

/* The calling thread's own, never 0; modulo 2^20. */
uint32_t owners_new_thread(void);
extern __thread uint32_t owners_thread
        __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline uint32_t owners_self(void)
{
	return owners_thread != 0 ? owners_thread : owners_new_thread();
}

/* Fibonacci hashing: Knuth, The Art of Computer Programming, volume 3, section 6.4. */
static inline uint64_t owners_hash(const void *block)
{
	return ((uintptr_t)block >> BLOCK_SHIFT) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline bool owners_sampled(uint64_t hash)
{
	return hash >> 60 == 0;
}

_Static_assert(ALLOCATION_SAMPLE == 1u << 4, "the four bits of owners_sampled()");

static inline uint64_t *owners_place(uint64_t hash)
{
	return &owners_table[(hash >> 32) % OWNERS];
}

static inline uint64_t owners_key(const void *block)
{
	return (uint64_t)((uintptr_t)block >> BLOCK_SHIFT) << OWNER_BITS;
}

static inline void owners_put(const void *block)
{
	uint64_t hash = owners_hash(block);
	if (owners_sampled(hash))
		__atomic_store_n(
		        owners_place(hash), owners_key(block) | owners_self(), __ATOMIC_RELAXED);
}

/* Who got the block; *entry is for owners_drop(). */
static inline enum owner owners_find(const void *block, uint64_t *entry)
{
	uint64_t hash = owners_hash(block);
	*entry = 0;
	if (!owners_sampled(hash))
		return OWNER_UNKNOWN;
	uint64_t found = __atomic_load_n(owners_place(hash), __ATOMIC_RELAXED);
	if ((found & ~(uint64_t)OWNER_MASK) != owners_key(block))
		return OWNER_UNKNOWN;
	*entry = found;
	return (found & OWNER_MASK) == owners_self() ? OWNER_CALLER : OWNER_OTHER;
}

/* Forgets a block that has been found, unless another one has taken its place meanwhile. */
static inline void owners_drop(const void *block, uint64_t entry)
{
	if (entry != 0)
		__atomic_compare_exchange_n(owners_place(owners_hash(block)), &entry, 0, false,
		        __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

#endif
