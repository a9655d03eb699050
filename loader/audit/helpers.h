/*
 * The outline-atomics helpers of a file, by name and by shape, and the veneers that linkers put
 * between them and their callers.
 */
#ifndef LOADER_AUDIT_HELPERS_H
#define LOADER_AUDIT_HELPERS_H

#include "symbols.h"

struct helper {
	uint64_t address, end;
	uint64_t flag;   /* address of the byte it reads */
	bool reads_flag; /* else it has exclusives only */
};

/* What a call may go to. */
struct entrance {
	uint64_t address;
	bool reads_flag;
};

struct helpers {
	struct helper *list; /* by address, none overlaps another */
	size_t count;
	struct entrance *entrances; /* of helpers and of veneers to them, by address */
	size_t entrance_count;
};

void helpers_find(struct helpers *helpers, const struct image *image, const struct code *code,
        const struct audit_symbols *symbols);

void helpers_free(struct helpers *helpers);

/* The helper whose body holds an address; NULL if none does. */
const struct helper *helpers_at(const struct helpers *helpers, uint64_t address);

/* Where a call to an address arrives; NULL where it reaches no helper. */
static inline const struct entrance *helpers_entrance(
        const struct helpers *helpers, uint64_t address)
{
	size_t low = 0, high = helpers->entrance_count;
	if (high == 0 || address < helpers->entrances[0].address ||
	        address > helpers->entrances[high - 1].address)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (helpers->entrances[middle].address == address)
			return &helpers->entrances[middle];
		if (helpers->entrances[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

#endif
