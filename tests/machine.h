/*
 * Runs pieces of AArch64 code in a machine state of the test's choice: all registers, flags, the
 * stack pointer, and the memory at it.
 */
#ifndef TESTS_MACHINE_H
#define TESTS_MACHINE_H

#include <stdint.h>

#if defined(__aarch64__)

#include <check.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#define MACHINE_STACK  65536u /* below the state, for the piece and for signal handlers */
#define MACHINE_MEMORY 64u
#define MACHINE_EXITS  4u
#define MACHINE_BYTES  (UINT64_C(16) << 20)

/* The stack pointer of the piece is the state's address. */
struct machine {
	union {
		unsigned char bytes[MACHINE_MEMORY];
		uint64_t words[MACHINE_MEMORY / 8];
	} memory;
	uint64_t x[31];
	uint64_t nzcv;
	uint64_t sp;   /* found at the end */
	uint64_t exit; /* by which the piece left */
	uint64_t sp_of_caller;
};

_Static_assert(offsetof(struct machine, x) == 64 && offsetof(struct machine, sp_of_caller) == 336,
        "the assembly below knows the layout");

/* Hidden, or their addresses would be looked up by names that no other object knows. */
#define MACHINE_LABEL extern __attribute__((visibility("hidden"))) const uint32_t
MACHINE_LABEL machine_exit_begin[], machine_exit_number[], machine_exit_end[];

/* code begins with machine_first, and leaves by a branch to one of machine_exit's. */
void machine_enter(struct machine *state, const uint32_t *code);

/* clang-format off */
__asm__(
".text\n"
".type machine_enter, %function\n"
"machine_enter:\n"
"	.cfi_startproc\n"
"	stp x29, x30, [sp, #-96]!\n"
"	stp x19, x20, [sp, #16]\n"
"	stp x21, x22, [sp, #32]\n"
"	stp x23, x24, [sp, #48]\n"
"	stp x25, x26, [sp, #64]\n"
"	stp x27, x28, [sp, #80]\n"
"	mov x9, sp\n"
"	str x9, [x0, #336]\n"
"	ldr x9, [x0, #312]\n"
"	msr nzcv, x9\n"
"	mov sp, x0\n"
"	mov x30, x1\n"
"	ldp x0, x1, [sp, #64]\n"
"	ldp x2, x3, [sp, #80]\n"
"	ldp x4, x5, [sp, #96]\n"
"	ldp x6, x7, [sp, #112]\n"
"	ldp x8, x9, [sp, #128]\n"
"	ldp x10, x11, [sp, #144]\n"
"	ldp x12, x13, [sp, #160]\n"
"	ldp x14, x15, [sp, #176]\n"
"	ldp x16, x17, [sp, #192]\n"
"	ldp x18, x19, [sp, #208]\n"
"	ldp x20, x21, [sp, #224]\n"
"	ldp x22, x23, [sp, #240]\n"
"	ldp x24, x25, [sp, #256]\n"
"	ldp x26, x27, [sp, #272]\n"
"	ldp x28, x29, [sp, #288]\n"
"	br x30\n"
"	.cfi_endproc\n"
".size machine_enter, . - machine_enter\n"
"machine_exit_begin:\n"
"	stp x0, x1, [sp, #64]\n"
"	stp x2, x3, [sp, #80]\n"
"	stp x4, x5, [sp, #96]\n"
"	stp x6, x7, [sp, #112]\n"
"	stp x8, x9, [sp, #128]\n"
"	stp x10, x11, [sp, #144]\n"
"	stp x12, x13, [sp, #160]\n"
"	stp x14, x15, [sp, #176]\n"
"	stp x16, x17, [sp, #192]\n"
"	stp x18, x19, [sp, #208]\n"
"	stp x20, x21, [sp, #224]\n"
"	stp x22, x23, [sp, #240]\n"
"	stp x24, x25, [sp, #256]\n"
"	stp x26, x27, [sp, #272]\n"
"	stp x28, x29, [sp, #288]\n"
"	str x30, [sp, #304]\n"
"	mrs x0, nzcv\n"
"	mov x1, sp\n"
"	stp x0, x1, [sp, #312]\n"
"machine_exit_number:\n"
"	mov x0, #0\n"
"	str x0, [sp, #328]\n"
"	ldr x0, [sp, #336]\n"
"	mov sp, x0\n"
"	ldp x19, x20, [sp, #16]\n"
"	ldp x21, x22, [sp, #32]\n"
"	ldp x23, x24, [sp, #48]\n"
"	ldp x25, x26, [sp, #64]\n"
"	ldp x27, x28, [sp, #80]\n"
"	ldp x29, x30, [sp], #96\n"
"	ret\n"
"machine_exit_end:\n");
/* clang-format on */

/* Where pieces are collected before they are run. */
struct machine_code {
	uint32_t *words;
	size_t count;
	uint32_t *exits[MACHINE_EXITS];
};

static inline uint64_t machine_here(const struct machine_code *code)
{
	return (uint64_t)(uintptr_t)(code->words + code->count);
}

static inline void machine_add(struct machine_code *code, const uint32_t *words, size_t count)
{
	if (code->count + count > MACHINE_BYTES / 4)
		ck_abort_msg("no room for code");
	memcpy(code->words + code->count, words, count * 4);
	code->count += count;
}

/* Loads x30, the last register. */
static inline const uint32_t *machine_first(struct machine_code *code)
{
	const uint32_t *start = code->words + code->count;
	machine_add(code, &(uint32_t){ 0xf9409bfe }, 1); /* ldr x30, [sp, #304] */
	return start;
}

static inline void machine_branch(struct machine_code *code, const uint32_t *to)
{
	uint32_t by = (uint32_t)(to - (code->words + code->count));
	machine_add(code, &(uint32_t){ 0x14000000 | (by & 0x3ffffff) }, 1);
}

static inline void machine_begin(struct machine_code *code)
{
	size_t count = (size_t)(machine_exit_end - machine_exit_begin);
	code->words = mmap(
	        NULL, MACHINE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(code->words, MAP_FAILED);
	code->count = 0;
	for (uint32_t i = 0; i < MACHINE_EXITS; i++) {
		code->exits[i] = code->words + code->count;
		machine_add(code, machine_exit_begin, count);
		code->exits[i][machine_exit_number - machine_exit_begin] |= i << 5;
	}
}

/* From here on pieces can be run, and no more added. */
static inline void machine_ready(struct machine_code *code)
{
	ck_assert_int_eq(mprotect(code->words, MACHINE_BYTES, PROT_READ | PROT_EXEC), 0);
	__builtin___clear_cache((char *)code->words, (char *)code->words + MACHINE_BYTES);
}

static inline void machine_end(struct machine_code *code)
{
	munmap(code->words, MACHINE_BYTES);
}

/* A state with room for a stack. */
static inline struct machine *machine_make(void)
{
	size_t size = MACHINE_STACK + 4096;
	unsigned char *memory =
	        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	return (struct machine *)(void *)(memory + MACHINE_STACK);
}

/* Whether the CPU has LSE instructions. */
static inline int machine_has_lse(void)
{
	return (getauxval(AT_HWCAP) & HWCAP_ATOMICS) != 0;
}

#endif

/* Numbers that look random, the same in every run: xorshift64*, Vigna 2016. */
static inline uint64_t machine_random(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * UINT64_C(0x2545f4914f6cdd1d);
}

#endif
