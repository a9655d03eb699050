/*
 * The headers of an ELF file, of either class and byte order. Nothing in them is believed; see
 * code.h for what they are worth.
 */
#ifndef LOADER_AUDIT_IMAGE_H
#define LOADER_AUDIT_IMAGE_H

#include <elf.h>

#include "audit.h"
#include "map.h"

struct segment {
	uint32_t type, flags;
	uint64_t offset, address, file_size;
};

struct section {
	uint32_t name, type, link, info;
	uint64_t flags, address, offset, size, entry_size;
};

struct symbol {
	uint32_t name;
	unsigned char type; /* STT_* */
	uint32_t section;   /* st_shndx */
	uint64_t value, size;
};

struct image {
	struct view view;
	bool is_64, big_endian;
	uint16_t type, machine;
	uint64_t entry;
	uint64_t segment_table, section_table;
	uint32_t segment_count;
	uint32_t section_count; /* 0 where the table cannot be used */
	uint64_t head_size;     /* of the ELF header and the program headers behind it */
	struct view names;      /* of the sections */
};

/* Reads the headers at the start of a view; what is wrong with them becomes a note of the row.
 * False when it is no ELF file that can be read any further. */
bool image_open(struct image *image, const struct view *view, struct audit_file *row);

/* A number of 2, 4 or 8 bytes of the image's byte order. */
uint64_t image_number(const struct image *image, const unsigned char *bytes, unsigned size);

/* Indices are below the counts. */
struct segment image_segment(const struct image *image, uint32_t index);
struct section image_section(const struct image *image, uint32_t index);

/* Bytes of the section headers in the file, from section_table on. */
uint64_t image_section_table_size(const struct image *image);

/* "" where it has none. */
const char *image_section_name(const struct image *image, const struct section *section);

/* What a section holds of the file, cut where the file ends; empty for SHT_NOBITS. */
struct view image_contents(const struct image *image, const struct section *section);

/* Whether a section's bytes lie in the file, those of SHT_NOBITS being none. */
bool image_holds(const struct image *image, const struct section *section);

/* Bytes of one entry of a symbol table, and an entry. */
unsigned image_symbol_size(const struct image *image);
struct symbol image_symbol(const struct image *image, const unsigned char *bytes);

/* Where the byte at a link-time address lies in the file; false when no segment has it there. */
bool image_offset(const struct image *image, uint64_t address, uint64_t *offset);

/* The first segment of the type; false where there is none. */
bool image_find_segment(const struct image *image, uint32_t type, struct segment *segment);

#endif
