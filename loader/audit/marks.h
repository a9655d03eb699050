/*
 * What is known of AArch64 instruction words, a bit each, of the few blocks around the one that is
 * being counted: as far as literal loads and conditional branches reach.
 */
#ifndef LOADER_AUDIT_MARKS_H
#define LOADER_AUDIT_MARKS_H

#include "code_words.h"
#include "coverage.h"
#include "symbols.h"

#define BLOCK_WORDS (UINT64_C(1) << 18) /* 1 MiB */

enum mark {
	MARK_CODE,    /* taken for code */
	MARK_PROVED,  /* of a function that the unwind tables name */
	MARK_LITERAL, /* loaded as a literal, or by an address that ADR made */
	MARK_ENTERED, /* something branches to it */
	MARKS,
};

/* Those around the one that is counted, of which each search reaches two more. */
#define MARKED_BLOCKS 8

struct block {
	uint64_t bits[MARKS][BLOCK_WORDS / 64];
};

struct marker {
	const struct audit_symbols
	        *symbols; /* mapping symbols say what is code, if there are any */
	struct coverage *coverage;
	bool relocatable; /* its unwind tables are not made yet: all code is proved */
	bool by_coverage; /* else everything is code that is not said to be data */
	struct code_words words;
	uint64_t coded;           /* blocks whose code has been marked */
	uint64_t searched[MARKS]; /* blocks that have been searched for a mark, or need not be */
	size_t mark;              /* mapping symbols passed */
	struct code_range function;
	struct block ring[MARKED_BLOCKS];
};

/* Begins with a piece; pieces come by address, the coverage from its start. */
void marker_start(struct marker *marker, const struct code_words *words);

/* Marks what is code in a block and the one behind it. Every block comes, in order. */
void marker_mark_code(struct marker *marker, uint64_t block);

/* Makes MARK_LITERAL or MARK_ENTERED of that block final. */
void marker_search(struct marker *marker, uint64_t block, enum mark mark);

static inline uint64_t *marker_bits(struct marker *marker, enum mark mark, uint64_t block)
{
	return marker->ring[block % MARKED_BLOCKS].bits[mark];
}

/* The mark of a word of a block that is final, or of the next one. */
static inline bool marker_has(struct marker *marker, enum mark mark, uint64_t word)
{
	uint64_t in_block = word % BLOCK_WORDS;
	return marker_bits(marker, mark, word / BLOCK_WORDS)[in_block / 64] >> in_block % 64 & 1;
}

#endif
