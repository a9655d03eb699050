/*
 * Reads the program headers that every object has in memory: at its base, or, of a program that is
 * not relocatable, where the kernel says.
 */
#include "image.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "shim/auxv.h"
#include "shim/peek.h"

#ifndef PROT_BTI
#define PROT_BTI 0x10
#endif

#define HEADERS_MAX 64u
/* Linux Extensions to gABI: PT_GNU_PROPERTY's note, and of ELF for the Arm 64-bit Architecture. */
#define PROPERTY_SEGMENT   0x6474e553u
#define PROPERTY_NOTE      5u
#define PROPERTY_FEATURE_1 0xc0000000u
#define FEATURE_1_BTI      1u

static bool is_there(uint64_t address)
{
	struct peek peek = { .stack_start = UINT64_MAX, .image_end = UINT64_MAX };
	uint64_t word;
	return peek_word(&peek, address & ~UINT64_C(7), &word);
}

/* Whether the headers are those of the object: they name its dynamic section. */
static bool headers_are_of(const struct image *image, const struct link_map *map)
{
	uint64_t dynamic = (uint64_t)(uintptr_t)map->l_ld;
	for (unsigned i = 0; i < image->header_count; i++)
		if (image->headers[i].p_type == PT_DYNAMIC)
			return image->base + image->headers[i].p_vaddr == dynamic;
	return false;
}

static bool headers_at_base(struct image *image, const struct link_map *map)
{
	const ElfW(Ehdr) *header = image_bytes_at(image->base);
	if (image->base == 0 || !is_there(image->base) ||
	        memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	        header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phnum > HEADERS_MAX)
		return false;
	uint64_t table = image->base + header->e_phoff;
	image->header_count = header->e_phnum;
	image->headers = image_bytes_at(table);
	return is_there(table) && is_there(table + header->e_phnum * sizeof(ElfW(Phdr)) - 1) &&
	       headers_are_of(image, map);
}

static bool headers_of_program(struct image *image, const struct link_map *map)
{
	image->headers = image_bytes_at(getauxval(AT_PHDR));
	image->header_count = (unsigned)getauxval(AT_PHNUM);
	return image->headers != NULL && image->header_count <= HEADERS_MAX &&
	       headers_are_of(image, map);
}

/* A note: sizes of its name ("GNU", padded to 4 bytes) and of the rest, its type; then properties,
 * each a type, a size and data padded to 8 bytes. */
static bool property_has_bti(const struct image *image, const ElfW(Phdr) * header)
{
	const unsigned char *note = image_bytes_at(image->base + header->p_vaddr);
	uint32_t head[4], property[3];
	if (header->p_memsz < sizeof(head))
		return false;
	memcpy(head, note, sizeof(head));
	uint64_t end = sizeof(head) + head[1];
	if (head[0] != 4 || head[2] != PROPERTY_NOTE || end > header->p_memsz)
		return false;
	for (uint64_t at = sizeof(head); at + sizeof(property) <= end;) {
		memcpy(property, note + at, sizeof(property));
		if (property[0] == PROPERTY_FEATURE_1)
			return (property[2] & FEATURE_1_BTI) != 0;
		at += 8 + ((uint64_t)(property[1] + 7) & ~UINT64_C(7));
	}
	return false;
}

static void read_headers(struct image *image)
{
	for (unsigned i = 0; i < image->header_count; i++) {
		const ElfW(Phdr) *header = &image->headers[i];
		uint64_t start = image->base + header->p_vaddr;
		if (header->p_type == PT_GNU_EH_FRAME)
			image->eh_frame_hdr = start;
		else if (header->p_type == PROPERTY_SEGMENT)
			image->has_bti = (getauxval(AT_HWCAP2) & AUXV_HWCAP2_BTI) != 0 &&
			                 property_has_bti(image, header);
		else if (header->p_type == PT_GNU_RELRO) {
			image->relro_start = start;
			image->relro_end = start + header->p_memsz;
		}
	}
	for (unsigned i = 0; i < image->header_count; i++) {
		const ElfW(Phdr) *header = &image->headers[i];
		uint64_t start = image->base + header->p_vaddr;
		if (header->p_type == PT_LOAD && image->eh_frame_hdr >= start &&
		        image->eh_frame_hdr < start + header->p_filesz) {
			image->unwind_start = start;
			image->unwind_end = start + header->p_filesz;
		}
	}
}

bool image_open(struct image *image, const struct link_map *map)
{
	*image = (struct image){ .base = map->l_addr };
	if (!headers_at_base(image, map) && !headers_of_program(image, map))
		return false;
	read_headers(image);
	return true;
}

bool image_next_code(const struct image *image, unsigned *next, struct image_segment *segment)
{
	while (*next < image->header_count) {
		const ElfW(Phdr) *header = &image->headers[(*next)++];
		if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0)
			continue;
		segment->start = (image->base + header->p_vaddr + 3) & ~UINT64_C(3);
		segment->end = (image->base + header->p_vaddr + header->p_filesz) & ~UINT64_C(3);
		segment->protection = PROT_EXEC | ((header->p_flags & PF_R) != 0 ? PROT_READ : 0) |
		                      ((header->p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
		                      (image->has_bti ? PROT_BTI : 0);
		/* What cannot be read cannot be judged. */
		if (segment->start < segment->end && (header->p_flags & PF_R) != 0)
			return true;
	}
	return false;
}

bool image_is_data(const struct image *image, uint64_t address)
{
	for (unsigned i = 0; i < image->header_count; i++) {
		const ElfW(Phdr) *header = &image->headers[i];
		uint64_t start = image->base + header->p_vaddr;
		if (header->p_type == PT_LOAD && (header->p_flags & PF_W) != 0 &&
		        address >= start && address < start + header->p_memsz)
			return true;
	}
	return false;
}
