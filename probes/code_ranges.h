/*
 * Which words of an image are proved to be code: those of functions that the unwind tables name
 * (.eh_frame, found by .eh_frame_hdr). Reads live memory and files alike, never out of bounds.
 * Format: Linux Standard Base, "Exception Frames"; DWARF 4, section 6.4.
 */
#ifndef PROBES_CODE_RANGES_H
#define PROBES_CODE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of an image as they lie in memory. */
struct image_bytes {
	const unsigned char *bytes;
	size_t size;
	uint64_t address; /* of the first; link-time or loaded, as the caller likes */
};

struct code_range {
	uint64_t start, end;
};

struct code_ranges {
	struct image_bytes image;
	uint64_t table;      /* of the search table in .eh_frame_hdr */
	uint64_t table_base; /* its entries are relative to it */
	uint32_t count, next;
	struct code_range within; /* functions are cut to it: to the image, unless the caller sets
	                             another one after opening */
};

/* image: what holds both tables. False when there is no search table that can be understood. */
bool code_ranges_open(
        struct code_ranges *ranges, const struct image_bytes *image, uint64_t eh_frame_hdr);

/* The next function in order of the table, which linkers sort by address. False at the end. Skips
 * entries that cannot be understood. */
bool code_ranges_next(struct code_ranges *ranges, struct code_range *range);

/* Whether functions of so many bytes tell of so much code that the rest may be taken for data.
 * Sections hold code; segments may hold more data than code. */
static inline bool code_ranges_are_trusted(uint64_t covered, uint64_t size, bool from_sections)
{
	return covered != 0 && covered >= size / (from_sections ? 2 : 8);
}

#endif
