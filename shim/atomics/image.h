/*
 * A loaded object as the switch of atomics looks at it: its segments, unwind tables and properties.
 */
#ifndef SHIM_ATOMICS_IMAGE_H
#define SHIM_ATOMICS_IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct image {
	uint64_t base; /* how far it is loaded from its link-time addresses */
	const ElfW(Phdr) * headers;
	unsigned header_count;
	uint64_t eh_frame_hdr;             /* PT_GNU_EH_FRAME, 0 none */
	uint64_t unwind_start, unwind_end; /* of the segment that it lies in */
	uint64_t relro_start, relro_end;   /* what the loader makes read-only in the end */
	bool has_bti; /* its code is mapped PROT_BTI where the CPU knows of it */
};

struct image_segment {
	uint64_t start, end;
	int protection; /* as the loader maps it in the end */
};

/* Whether program headers of the object could be found that are its own. */
bool image_open(struct image *image, const struct link_map *map);

/* The executable segments one after the other; *next is 0 at first. False at the end. */
bool image_next_code(const struct image *image, unsigned *next, struct image_segment *segment);

/* Whether the byte lies in a segment that can be written, now or before it was made read-only. */
bool image_is_data(const struct image *image, uint64_t address);

static inline const void *image_bytes_at(uint64_t address)
{
	return (const void *)(uintptr_t)address;
}

#endif
