/*
 * Areas are made under the loader's lock, or before there is a second thread; they are read at any
 * time.
 */
#include "area.h"

#include <string.h>
#include <sys/mman.h>

#include "maps.h"
#include "patch.h"
#include "probes/sys.h"

#define AREAS_MAX  2048u
#define REACH      (UINT64_C(127) << 20) /* a branch's is 128 MiB either way */
#define TRIES      8u
#define NOREPLACE  0x100000 /* MAP_FIXED_NOREPLACE */
#define CODE_EACH  (TRAMPOLINE_WORDS * UINT64_C(4))
#define ROOM_EACH  (CODE_EACH + TRAMPOLINE_CFI + TRAMPOLINE_HDR_ENTRY)
#define ROOM_TABLE 256u /* for head, CIE and end */

static struct {
	struct area area; /* start is written last, and cleared first */
	uint64_t base;
} published[AREAS_MAX];

static unsigned published_count;

static unsigned char *pointer(uint64_t address)
{
	return (unsigned char *)(uintptr_t)address;
}

/* The kernel, or an emulator, may put it elsewhere. */
static uint64_t map_near(uint64_t low, uint64_t high, uint64_t size, bool *no_memory)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t wanted = maps_find_room(low, high, size, REACH);
		if (wanted == 0)
			return 0;
		long got = sys_call6(SYS_mmap, (long)wanted, (long)size, PROT_READ | PROT_WRITE,
		        MAP_PRIVATE | MAP_ANONYMOUS | NOREPLACE, -1, 0);
		if ((uint64_t)got == wanted)
			return wanted;
		if (!sys_failed(got))
			sys_call3(SYS_munmap, got, (long)size, 0);
		*no_memory = sys_failed(got);
	}
	return 0;
}

bool area_begin(
        struct area_draft *draft, uint64_t low, uint64_t high, unsigned count, bool *no_memory)
{
	uint64_t page = patch_page();
	uint64_t size = (count * ROOM_EACH + ROOM_TABLE + page - 1) & ~(page - 1);
	*no_memory = false;
	uint64_t start = map_near(low, high, size, no_memory);
	if (start == 0)
		return false;
	uint64_t hdr = start + count * CODE_EACH;
	uint64_t frames = (hdr + TRAMPOLINE_HDR + count * TRAMPOLINE_HDR_ENTRY + 7) & ~UINT64_C(7);
	*draft = (struct area_draft){
		.area = { start, start + size, hdr, start },
		.frames = frames,
	};
	trampoline_hdr(pointer(hdr), frames - hdr, hdr, frames);
	draft->frames_end = frames + trampoline_cie(pointer(frames), start + size - frames);
	return true;
}

void area_add(struct area_draft *draft, const struct trampoline *made, uint64_t original)
{
	struct area *area = &draft->area;
	uint64_t frame = draft->frames_end, hdr = area->eh_frame_hdr;
	draft->frames_end += trampoline_fde(pointer(frame), area->end - frame, made, frame,
	        draft->frames, area->code_end, original);
	trampoline_hdr_add(pointer(hdr), draft->frames - hdr, hdr, area->code_end, frame);
	memcpy(pointer(area->code_end), made->words, made->count * sizeof(uint32_t));
	area->code_end += made->count * sizeof(uint32_t);
}

/* Fresh memory is 0, as is the length that ends .eh_frame. */
bool area_finish(struct area_draft *draft)
{
	struct area *area = &draft->area;
	uint64_t page = patch_page();
	uint64_t end = (draft->frames_end + 4 + page - 1) & ~(page - 1);
	if (end < area->end)
		sys_call3(SYS_munmap, (long)end, (long)(area->end - end), 0);
	area->end = end < area->end ? end : area->end;
	if (patch_seal(area->start, area->end - area->start))
		return true;
	area_drop(area);
	return false;
}

void area_drop(struct area *area)
{
	sys_call3(SYS_munmap, (long)area->start, (long)(area->end - area->start), 0);
	*area = (struct area){ .start = 0 };
}

bool area_publish(const struct area *area, uint64_t base)
{
	unsigned at = 0;
	while (at < published_count && published[at].area.start != 0)
		at++;
	if (at == AREAS_MAX)
		return false;
	published[at].base = base;
	published[at].area.end = area->end;
	published[at].area.eh_frame_hdr = area->eh_frame_hdr;
	published[at].area.code_end = area->code_end;
	/* Both pair with area_next_published: what it reads is complete. */
	__atomic_store_n(&published[at].area.start, area->start, __ATOMIC_RELEASE);
	if (at == published_count)
		__atomic_store_n(&published_count, at + 1, __ATOMIC_RELEASE);
	return true;
}

void area_forget(uint64_t base)
{
	for (unsigned i = 0; i < published_count; i++) {
		struct area area = published[i].area;
		if (area.start == 0 || published[i].base != base)
			continue;
		__atomic_store_n(&published[i].area.start, 0, __ATOMIC_RELAXED);
		area_drop(&area);
	}
}

bool area_next_published(unsigned *next, struct area *area)
{
	unsigned count = __atomic_load_n(&published_count, __ATOMIC_ACQUIRE); /* see area_publish */
	while (*next < count) {
		unsigned at = (*next)++;
		area->start = __atomic_load_n(&published[at].area.start, __ATOMIC_ACQUIRE);
		area->end = published[at].area.end;
		area->eh_frame_hdr = published[at].area.eh_frame_hdr;
		area->code_end = published[at].area.code_end;
		if (area->start != 0)
			return true;
	}
	return false;
}

bool area_at(uint64_t address, struct area *area)
{
	for (unsigned next = 0; area_next_published(&next, area);)
		if (address >= area->start && address < area->code_end)
			return true;
	return false;
}
