/*
 * What an object's file says of its code: where its sections of code lie, and, where it has not
 * been stripped, mapping symbols, which tell data among code ($d) from code ($x). ELF for the Arm
 * 64-bit Architecture, "Mapping symbols".
 */
#ifndef SHIM_ATOMICS_MARKS_H
#define SHIM_ATOMICS_MARKS_H

#include <stddef.h>
#include <stdint.h>

#include "image.h"

/* Of equal addresses the greatest counts. */
enum mark_kind {
	MARK_REST,    /* in no section of code */
	MARK_UNKNOWN, /* in one, before any mapping symbol; or nothing is known of the file */
	MARK_CODE,
	MARK_DATA,
};

struct marks {
	uint64_t *marks; /* sorted: an address times 4 and what begins there */
	size_t count, room;
	uint64_t code_size; /* bytes of sections of code; 0: nothing is known */
};

/* Reads the file at path; nothing is known where it is not the one that is loaded. marks_close
 * gives the memory back. */
void marks_open(struct marks *marks, const struct image *image, const char *path);
void marks_close(struct marks *marks);

/* What lies at a link-time address, and where something else begins. */
enum mark_kind marks_kind(const struct marks *marks, uint64_t address, uint64_t *end);

#endif
