/*
 * Data among code that only an address made by ADR leads to: tables and literals of hand-written
 * functions, which no mapping symbol tells of in a stripped file.
 */
#ifndef PROBES_ADR_DATA_H
#define PROBES_ADR_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of a function, or of as much code around as belongs together. */
struct adr_code {
	const uint32_t *words;
	size_t count;
	uint64_t address; /* of the first */
};

struct adr_data {
	uint64_t start, end; /* addresses; not beyond the code */
};

static inline bool adr_is(uint32_t word)
{
	return (word & 0x9f000000) == 0x10000000;
}

/*
 * What the ADR at code->words[at] reaches. Loads by its register are followed until the register
 * is overwritten: those of a fixed place reach what they load; those by an index reach as many
 * entries as a compare of that index allows, or, where there is none, all words up to the next
 * one that a branch before them goes to. So does an address whose use cannot be seen, unless
 * control flow reaches it. False for other words, for what goes to BR and BLR only, and for what
 * lies outside the code.
 */
bool adr_data_find(const struct adr_code *code, size_t at, struct adr_data *data);

#endif
