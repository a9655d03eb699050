/*
 * The loops of exclusives that compilers make of an atomic operation where they may not use LSE: a
 * load-exclusive, computation in registers, at most a few branches out, a store-exclusive. The
 * branch back that follows the store is no part of it, since a compare-and-swap that may fail has
 * none; where the store has succeeded, it falls through.
 */
#ifndef PROBES_EXCLUSIVE_LOOP_H
#define PROBES_EXCLUSIVE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXCLUSIVE_LOOP_WORDS  14u
#define EXCLUSIVE_LOOP_STORES 2u
#define EXCLUSIVE_LOOP_EXITS  2u

struct exclusive_loop {
	unsigned words;      /* from the load-exclusive to the last store-exclusive */
	unsigned exclusives; /* instructions of the family in it */
	uint32_t code[EXCLUSIVE_LOOP_WORDS];
	uint8_t stores[EXCLUSIVE_LOOP_STORES]; /* which words store: one, or two for either way */
	unsigned exits;                        /* branches out of it */
	uint32_t used;                         /* registers in it, a bit each */
};

/* What an instruction that only computes does to registers; 31 is never among them. */
struct a64_effect {
	uint32_t reads, writes; /* a bit for each register */
};

/* Whether such a loop begins at words[0]; count words may be read, which are as many as there are,
 * or as a match took before. Nothing outside the loop may branch into it behind its first word: the
 * caller sees to that. */
bool exclusive_loop_match(struct exclusive_loop *loop, const uint32_t *words, size_t count);

/* Whether the word does nothing but compute in general registers and flags, wherever it lies. */
bool a64_computes(uint32_t word, struct a64_effect *effect);

#endif
