/*
 * Where an image's code lies: by section headers where they agree with the program headers, else
 * by program headers alone.
 */
#ifndef LOADER_AUDIT_CODE_H
#define LOADER_AUDIT_CODE_H

#include "image.h"

/* A run of bytes. Of relocatable objects, whose sections have no addresses, addresses are offsets
 * in the file. */
struct piece {
	uint64_t address, offset, size;
};

struct code {
	struct piece *pieces; /* by address; no two overlap in the file or in memory */
	size_t count;
	uint64_t size; /* of all of them */
	bool from_sections;
	bool companion; /* its code is said to be elsewhere */
};

/* Finds the pieces and notes what is wrong. */
void code_find(struct code *code, const struct image *image, struct audit_file *row);

void code_free(struct code *code);

/* The piece that holds an address; NULL if none does. */
const struct piece *code_piece(const struct code *code, uint64_t address);

#endif
