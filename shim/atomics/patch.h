/*
 * Changes words of loaded code. No memory is writable and executable at a time.
 */
#ifndef SHIM_ATOMICS_PATCH_H
#define SHIM_ATOMICS_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct patch {
	uint64_t address;
	uint32_t word;
};

/*
 * Writes the words, sorted by address, all within one segment of the given final protection.
 * Returns how many, counted from the first, are in place. No thread may execute or wait in the
 * pages meanwhile. 0 also where the system does not let changed code be executed (SELinux'
 * execmod): that is tried on a page of this library first.
 */
size_t patch_write(const struct patch *patches, size_t count, int protection);

/* Makes what was written to fresh memory at [start, start + size) code. */
bool patch_seal(uint64_t start, uint64_t size);

/* The size of a page, at least. */
uint64_t patch_page(void);

/* B from one address to another; false when that is out of reach. */
bool patch_branch(uint64_t from, uint64_t to, uint32_t *word);

#endif
