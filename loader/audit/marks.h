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

struct block {
	uint64_t bits[MARKS][BLOCK_WORDS / 64];
};

struct marker {
	const struct audit_symbols
	        *symbols; /* mapping symbols say what is code, if there are any */
	struct coverage *coverage;
	bool by_coverage; /* else everything is code that is not said to be data */
	struct code_words words;
	uint64_t marked; /* blocks marked so far */
	size_t mark;     /* mapping symbols passed */
	struct code_range function;
	struct block ring[4];
};

/* Begins with a piece; pieces come by address, the coverage from its start. */
void marker_start(struct marker *marker, const struct code_words *words);

/* Makes the marks of a block final. Blocks come in order. */
void marker_finish_block(struct marker *marker, uint64_t block);

/* Forgets a block that has been counted. */
void marker_forget_block(struct marker *marker, uint64_t block);

static inline uint64_t *marker_bits(struct marker *marker, enum mark mark, uint64_t block)
{
	return marker->ring[block % 4].bits[mark];
}

/* The mark of a word of a block that is final, or of the next one. */
static inline bool marker_has(struct marker *marker, enum mark mark, uint64_t word)
{
	uint64_t in_block = word % BLOCK_WORDS;
	return marker_bits(marker, mark, word / BLOCK_WORDS)[in_block / 64] >> in_block % 64 & 1;
}

#endif
