/*
 * A piece of AArch64 code as instruction words, which are little-endian in every file.
 */
#ifndef LOADER_AUDIT_WORDS_H
#define LOADER_AUDIT_WORDS_H

#include "code.h"

/* A pass gives the memory of so many words back at a time. */
#define WORDS_RELEASED (UINT64_C(1) << 20)

/* Words are looked through so many at once for what is rare. */
#define CHUNK_WORDS 64

struct code_words {
	const uint32_t *words;
	uint64_t count;
	uint64_t address; /* of the first */
};

/* The words of a piece that are whole and aligned; none where the file has them at odd offsets. */
static inline struct code_words code_words(const struct image *image, const struct piece *piece)
{
	uint64_t skip = (4 - piece->address % 4) % 4;
	const unsigned char *bytes = image->view.bytes + piece->offset + skip;
	if (piece->size < skip + 4 || (uintptr_t)bytes % 4 != 0)
		return (struct code_words){ 0 };
	return (struct code_words){
		.words = (const uint32_t *)bytes,
		.count = (piece->size - skip) / 4,
		.address = piece->address + skip,
	};
}

#endif
