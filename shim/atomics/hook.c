/*
 * glibc's loader calls an empty function, at which debuggers set a breakpoint, when the list of
 * objects is about to change and when it has (r_debug.r_brk, <link.h>; elf/dl-open.c,
 * elf/dl-close.c, elf/dl-debug.c): the latter before relocation or right after it, and before any
 * initialiser. Its RET becomes a branch to us. Since libc opens objects of its own accord too (name
 * services, character sets), to take over dlopen would not do.
 */
#include "hook.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "area.h"
#include "image.h"
#include "patch.h"
#include "switch.h"

#define RET   0xd65f03c0u
#define BTI_C 0xd503245fu
#define NOP   0xd503201fu

/* Weak, so that the link needs no more than libc: the loader that defines it is always there. */
extern struct r_debug _r_debug __attribute__((weak));

static void (*told)(void);

/* Called by the code below. */
static __attribute__((used)) void hook_called(void)
{
	told();
}

/* The loader's function may be thought to change no register, so none is. */
void hook_entry(void);
__asm__(".text\n\t.p2align 4\n\t.type hook_entry, %function\n"
        "hook_entry:\n\t.cfi_startproc\n\t"
        "stp x29, x30, [sp, #-176]!\n\t.cfi_adjust_cfa_offset 176\n\t"
        ".cfi_rel_offset x29, 0\n\t.cfi_rel_offset x30, 8\n\t"
        "mov x29, sp\n\t"
        "stp x0, x1, [sp, #16]\n\t"
        "stp x2, x3, [sp, #32]\n\t"
        "stp x4, x5, [sp, #48]\n\t"
        "stp x6, x7, [sp, #64]\n\t"
        "stp x8, x9, [sp, #80]\n\t"
        "stp x10, x11, [sp, #96]\n\t"
        "stp x12, x13, [sp, #112]\n\t"
        "stp x14, x15, [sp, #128]\n\t"
        "stp x16, x17, [sp, #144]\n\t"
        "str x18, [sp, #160]\n\t"
        "sub sp, sp, #512\n\t.cfi_def_cfa x29, 176\n\t"
        "stp q0, q1, [sp]\n\tstp q2, q3, [sp, #32]\n\t"
        "stp q4, q5, [sp, #64]\n\tstp q6, q7, [sp, #96]\n\t"
        "stp q8, q9, [sp, #128]\n\tstp q10, q11, [sp, #160]\n\t"
        "stp q12, q13, [sp, #192]\n\tstp q14, q15, [sp, #224]\n\t"
        "stp q16, q17, [sp, #256]\n\tstp q18, q19, [sp, #288]\n\t"
        "stp q20, q21, [sp, #320]\n\tstp q22, q23, [sp, #352]\n\t"
        "stp q24, q25, [sp, #384]\n\tstp q26, q27, [sp, #416]\n\t"
        "stp q28, q29, [sp, #448]\n\tstp q30, q31, [sp, #480]\n\t"
        "bl hook_called\n\t"
        "ldp q0, q1, [sp]\n\tldp q2, q3, [sp, #32]\n\t"
        "ldp q4, q5, [sp, #64]\n\tldp q6, q7, [sp, #96]\n\t"
        "ldp q8, q9, [sp, #128]\n\tldp q10, q11, [sp, #160]\n\t"
        "ldp q12, q13, [sp, #192]\n\tldp q14, q15, [sp, #224]\n\t"
        "ldp q16, q17, [sp, #256]\n\tldp q18, q19, [sp, #288]\n\t"
        "ldp q20, q21, [sp, #320]\n\tldp q22, q23, [sp, #352]\n\t"
        "ldp q24, q25, [sp, #384]\n\tldp q26, q27, [sp, #416]\n\t"
        "ldp q28, q29, [sp, #448]\n\tldp q30, q31, [sp, #480]\n\t"
        "add sp, sp, #512\n\t"
        "ldp x0, x1, [sp, #16]\n\t"
        "ldp x2, x3, [sp, #32]\n\t"
        "ldp x4, x5, [sp, #48]\n\t"
        "ldp x6, x7, [sp, #64]\n\t"
        "ldp x8, x9, [sp, #80]\n\t"
        "ldp x10, x11, [sp, #96]\n\t"
        "ldp x12, x13, [sp, #112]\n\t"
        "ldp x14, x15, [sp, #128]\n\t"
        "ldp x16, x17, [sp, #144]\n\t"
        "ldr x18, [sp, #160]\n\t"
        "ldp x29, x30, [sp], #176\n\t.cfi_def_cfa sp, 0\n\t"
        ".cfi_restore x29\n\t.cfi_restore x30\n\t"
        "ret\n\t.cfi_endproc\n\t.size hook_entry, . - hook_entry\n");

/* Its RET: the first word (Debian's glibc 2.31 and 2.36), or behind a BTI (2.41), where a
 * debugger's breakpoint stays. 0: it is another function than is known. */
static uint64_t find_ret(void)
{
	uint64_t address = _r_debug.r_brk;
	if (address == 0 || (address & 3) != 0)
		return 0;
	const uint32_t *words = image_bytes_at(address);
	if (words[0] == BTI_C || words[0] == NOP) {
		words++;
		address += 4;
	}
	return words[0] == RET ? address : 0;
}

/* The protection of the loader's segment that the address lies in. */
static bool find_protection(uint64_t address, int *protection)
{
	struct image image;
	struct image_segment segment;
	for (const struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next) {
		if (map->l_addr != _r_debug.r_ldbase || !image_open(&image, map))
			continue;
		for (unsigned next = 0; image_next_code(&image, &next, &segment);)
			if (address >= segment.start && address < segment.end) {
				*protection = segment.protection;
				return true;
			}
	}
	return false;
}

/* LDR x16, the address behind; BR x16. */
static void fill_veneer(struct area_draft *draft)
{
	const uint32_t code[] = { 0x58000050, 0xd61f0200 };
	uint64_t target = (uint64_t)(uintptr_t)hook_entry;
	char *to = (char *)(uintptr_t)draft->area.code_end;
	memcpy(to, code, sizeof(code));
	memcpy(to + sizeof(code), &target, sizeof(target));
	draft->area.code_end += sizeof(code) + sizeof(target);
}

bool hook_set(void (*changed)(void))
{
	struct area_draft draft;
	struct patch patch = { .address = find_ret() };
	int protection;
	bool no_memory;
	if (patch.address == 0 || !find_protection(patch.address, &protection) ||
	        !area_begin(&draft, patch.address, patch.address, 1, &no_memory))
		return false;
	fill_veneer(&draft);
	told = changed;
	if (!patch_branch(patch.address, draft.area.start, &patch.word)) {
		area_drop(&draft.area);
		return false;
	}
	if (!area_finish(&draft))
		return false;
	if (patch_write(&patch, 1, protection) == 1)
		return true;
	area_drop(&draft.area);
	return false;
}
