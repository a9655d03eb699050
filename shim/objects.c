/*
 * Asks _dl_find_object (glibc 2.35), which takes no lock. Before there was one: walks the list that
 * the loader keeps for debuggers, as carefully as anything that may change meanwhile.
 */
#include "objects.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "peek.h"
#include "real.h"

#define OBJECTS  4096u /* looked at, at most */
#define SEGMENTS 64u

/* Reads size bytes, a multiple of 8, of memory that may not be there. */
static bool read_at(uint64_t address, void *to, size_t size)
{
	struct peek peek = { .stack_start = UINT64_MAX, .image_end = UINT64_MAX };
	for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
		uint64_t word;
		if (!peek_word(&peek, address + at, &word))
			return false;
		memcpy((char *)to + at, &word, sizeof(word));
	}
	return true;
}

/* Whether one of the program headers maps the address as code; fills in the object. */
static bool segments_have(
        uint64_t headers, unsigned count, uint64_t base, uint64_t address, struct object *object)
{
	bool found = false;
	*object = (struct object){ .start = UINT64_MAX };
	for (unsigned i = 0; i < count && i < SEGMENTS; i++) {
		ElfW(Phdr) header;
		if (!read_at(headers + i * sizeof(header), &header, sizeof(header)))
			return false;
		uint64_t start = base + header.p_vaddr, end = start + header.p_memsz;
		if (header.p_type == PT_GNU_EH_FRAME)
			object->eh_frame_hdr = start;
		if (header.p_type != PT_LOAD)
			continue;
		if (start < object->start)
			object->start = start;
		if (end > object->end)
			object->end = end;
		found |= (header.p_flags & PF_X) != 0 && address >= start && address < end;
	}
	return found && object->eh_frame_hdr != 0;
}

/* A shared object's headers lie at its base. */
static bool image_has(uint64_t base, uint64_t address, struct object *object)
{
	ElfW(Ehdr) header;
	return base != 0 && read_at(base, &header, sizeof(header)) &&
	       memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
	       header.e_phentsize == sizeof(ElfW(Phdr)) &&
	       segments_have(base + header.e_phoff, header.e_phnum, base, address, object);
}

/* Weak, so that the link needs no more than libc: the loader that defines it is always there. */
extern struct r_debug _r_debug __attribute__((weak));

/* The first in the loader's list is the program, whose headers the kernel names. */
static bool listed_at(uint64_t address, struct object *object)
{
	uint64_t at = (uint64_t)(uintptr_t)_r_debug.r_map;
	for (unsigned i = 0; i < OBJECTS && at != 0; i++) {
		struct link_map map;
		if (!read_at(at, &map, sizeof(map)))
			return false;
		if (i == 0 ? segments_have(getauxval(AT_PHDR), (unsigned)getauxval(AT_PHNUM),
		                     map.l_addr, address, object)
		           : image_has(map.l_addr, address, object))
			return true;
		at = (uint64_t)(uintptr_t)map.l_next;
	}
	return false;
}

bool object_at(uint64_t address, struct object *object)
{
	struct real_object found;
	if (real_functions._dl_find_object == NULL)
		return listed_at(address, object);
	if (real_functions._dl_find_object((void *)(uintptr_t)address, &found) != 0)
		return false;
	*object = (struct object){
		.start = (uint64_t)(uintptr_t)found.map_start,
		.end = (uint64_t)(uintptr_t)found.map_end,
		.eh_frame_hdr = (uint64_t)(uintptr_t)found.eh_frame,
	};
	return object->eh_frame_hdr != 0;
}
