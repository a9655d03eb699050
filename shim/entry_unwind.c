/*
 * By which unwinders find the tables of the code they are in (libgcc's _Unwind_Find_FDE, LLVM's and
 * HP's libunwind): that of the atomics switch's trampolines is there too. The loader knows nothing
 * of it.
 */
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "atomics/area.h"
#include "export.h"
#include "real.h"

#define HEADERS 2

/* An area as an object: one segment, and its unwind tables. */
static void describe(const struct area *area, ElfW(Phdr) headers[HEADERS])
{
	memset(headers, 0, HEADERS * sizeof(*headers));
	headers[0].p_type = PT_LOAD;
	headers[0].p_flags = PF_R | PF_X;
	headers[0].p_filesz = headers[0].p_memsz = area->end - area->start;
	headers[0].p_align = 4;
	headers[1].p_type = PT_GNU_EH_FRAME;
	headers[1].p_flags = PF_R;
	headers[1].p_vaddr = area->eh_frame_hdr - area->start;
	headers[1].p_filesz = headers[1].p_memsz = area->end - area->eh_frame_hdr;
	headers[1].p_align = 4;
}

/* What the last object of the list was told: how often objects have come and gone. */
struct visit {
	int (*visit)(struct dl_phdr_info *object, size_t size, void *argument);
	void *argument;
	unsigned long long added, removed;
};

static int visit_real(struct dl_phdr_info *object, size_t size, void *argument)
{
	struct visit *visit = argument;
	visit->added = object->dlpi_adds;
	visit->removed = object->dlpi_subs;
	return visit->visit(object, size, visit->argument);
}

EXPORT int dl_iterate_phdr(
        int (*callback)(struct dl_phdr_info *object, size_t size, void *argument), void *argument)
{
	struct area area;
	unsigned next = 0;
	if (!area_next_published(&next, &area))
		return REAL(dl_iterate_phdr)(callback, argument);
	struct visit visit = { callback, argument, 0, 0 };
	int result = REAL(dl_iterate_phdr)(visit_real, &visit);
	for (next = 0; result == 0 && area_next_published(&next, &area);) {
		ElfW(Phdr) headers[HEADERS];
		describe(&area, headers);
		struct dl_phdr_info object = {
			.dlpi_addr = area.start,
			.dlpi_name = "[abshim atomics]",
			.dlpi_phdr = headers,
			.dlpi_phnum = HEADERS,
			.dlpi_adds = visit.added,
			.dlpi_subs = visit.removed,
		};
		result = callback(&object, sizeof(object), argument);
	}
	return result;
}

/* Under another name here, since newer headers declare it with their own name of the struct. */
EXPORT int find_object(void *address, struct real_object *object) __asm__("_dl_find_object");

int find_object(void *address, struct real_object *object)
{
	struct area area;
	int result = REAL(_dl_find_object) != NULL ? real_functions._dl_find_object(address, object)
	                                           : -1;
	if (result == 0 || !area_at((uint64_t)(uintptr_t)address, &area))
		return result;
	*object = (struct real_object){
		.map_start = (void *)(uintptr_t)area.start,
		.map_end = (void *)(uintptr_t)area.end,
		.eh_frame = (void *)(uintptr_t)area.eh_frame_hdr,
	};
	return 0;
}
