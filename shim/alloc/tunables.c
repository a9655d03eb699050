/*
 * The loader gives a tunable's value away by its number only (__tunable_get_val, which it exports
 * for libc), and the numbers change from one glibc to the next. But they are the places in its
 * list, and the list holds the names: in each entry, or, before 2.33, by a pointer at its start
 * (elf/dl-tunable-types.h). So the list is found by the names that follow each other at equal
 * distances.
 */
#include "tunables.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "probes/allocation.h"
#include "shim/real.h"

#define PREFIX      "glibc."
#define ENTRY_LEAST 32u /* bytes of an entry: no glibc has less than 80 or more than 128 */
#define ENTRY_MOST  256u
#define LIST_LEAST  10u /* entries: 2.31 has more than 20 */

struct image {
	uintptr_t start, end;     /* of the loader, all segments */
	uintptr_t data, data_end; /* of its writable one */
	bool by_pointer;          /* how entries hold their names */
};

/* The ELF header lies at the start of the loader, whose first segment is linked to 0. */
static bool image_find(struct image *image, const struct link_map *loader)
{
	const ElfW(Ehdr) *header = (const void *)loader->l_addr;
	if (loader->l_addr == 0 || (loader->l_addr & 4095) != 0 ||
	        memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	const ElfW(Phdr) *segment = (const void *)((const char *)header + header->e_phoff);
	bool is_it = false;
	*image = (struct image){ .start = loader->l_addr };
	for (unsigned i = 0; i < header->e_phnum; i++, segment++) {
		uintptr_t start = loader->l_addr + segment->p_vaddr;
		if (segment->p_type == PT_DYNAMIC)
			is_it = start == (uintptr_t)loader->l_ld;
		if (segment->p_type != PT_LOAD)
			continue;
		image->end = start + segment->p_memsz;
		if ((segment->p_flags & PF_W) == 0)
			continue;
		image->data = (start + 7) & ~(uintptr_t)7;
		image->data_end = start + segment->p_memsz;
	}
	return is_it && image->data != 0;
}

/* The name of an entry at that address, NULL: there is none. */
static const char *name_at(const struct image *image, uintptr_t address)
{
	const size_t least = sizeof(PREFIX);
	const char *name = (const char *)address;
	if (address + ENTRY_LEAST > image->data_end)
		return NULL;
	if (image->by_pointer) {
		uintptr_t pointer = *(const uintptr_t *)address;
		if (pointer < image->start || pointer > image->end - least ||
		        (pointer >= image->data && pointer < image->data_end))
			return NULL;
		name = (const char *)pointer;
	}
	return memcmp(name, PREFIX, sizeof(PREFIX) - 1) == 0 ? name : NULL;
}

/* How many entries of that size follow each other from there. */
static unsigned count_entries(const struct image *image, uintptr_t list, size_t size)
{
	unsigned count = 0;
	while (name_at(image, list + count * size) != NULL)
		count++;
	return count;
}

struct list {
	uintptr_t first;
	size_t size;
	unsigned count;
};

static bool list_find(struct image *image, struct list *list)
{
	for (uintptr_t at = image->data; at + ENTRY_MOST < image->data_end; at += 8) {
		if (name_at(image, at) == NULL)
			continue;
		for (size_t size = ENTRY_LEAST; size <= ENTRY_MOST; size += 8) {
			if (name_at(image, at + size) == NULL)
				continue;
			*list = (struct list){ at, size, count_entries(image, at, size) };
			if (list->count >= LIST_LEAST)
				return true;
			break;
		}
	}
	return false;
}

typedef void get_value(unsigned id, void *value, void (*callback)(void *));

static uint64_t read_one(const struct image *image, const struct list *list, get_value *get,
        enum record_tunable tunable)
{
	static const char prefix[] = "glibc.malloc.";
	const char *wanted = allocation_name(tunable);
	for (unsigned id = 0; id < list->count; id++) {
		const char *name = name_at(image, list->first + id * list->size);
		uint64_t value = 0;
		if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 ||
		        strcmp(name + sizeof(prefix) - 1, wanted) != 0)
			continue;
		get(id, &value, NULL);
		return value;
	}
	return TUNABLE_NOT_READ;
}

void tunables_read(uint64_t values[TUNABLE_COUNT])
{
	static const char getter[] = "__tunable_get_val";
	const struct link_map *loader = real_defining(NULL, getter);
	struct image image;
	struct list list;
	for (int i = 0; i < TUNABLE_COUNT; i++)
		values[i] = TUNABLE_NOT_READ;
	if (loader == NULL || !image_find(&image, loader))
		return;
	bool found = list_find(&image, &list);
	if (!found) {
		image.by_pointer = true;
		found = list_find(&image, &list);
	}
	get_value *get = (get_value *)real_find_in(loader, getter);
	for (int i = 0; i < TUNABLE_COUNT && found && get != NULL; i++)
		values[i] = read_one(&image, &list, get, (enum record_tunable)i);
}
