/*
 * The code that stands in for an instruction or a loop of the other family of atomics. Pure: makes
 * words for an address, writes no memory of the program's.
 */
#ifndef SHIM_ATOMICS_TRAMPOLINE_H
#define SHIM_ATOMICS_TRAMPOLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/exclusive_loop.h"

#define TRAMPOLINE_WORDS 40u /* at most */
#define TRAMPOLINE_CFI   128u /* bytes of unwind table a trampoline at most */

/* Keeps every register but the results, the flags where the original keeps them, and all memory at
 * and above the stack pointer. Where it borrows registers, it saves them below the stack pointer,
 * which it moves, since a signal handler may write below it. */
struct trampoline {
	uint32_t words[TRAMPOLINE_WORDS];
	unsigned count;
	unsigned stack;         /* bytes it moves the stack pointer by, 0: not at all */
	unsigned pushed, popped; /* the stack pointer is moved in words [pushed, popped) */
	unsigned saved_count;
	struct {
		uint8_t reg;
		uint8_t offset; /* bytes above the moved stack pointer */
	} saved[8];
};

/*
 * What does the same as the LSE instruction `word` with exclusives, then branches to back. An
 * instruction with both orderings is a full barrier, which exclusives are not: a DMB ISH follows.
 * address: where words[0] will lie. False when the word is no LSE instruction, or back is out of
 * a branch's range.
 */
bool trampoline_from_lse(
        struct trampoline *made, uint32_t word, uint64_t address, uint64_t back);

/* The same for a loop of exclusives, with LSE instructions. loop_address: where the loop lies; the trampoline leaves to where
 * the loop would have left to, with the same registers (also the scratch ones) and flags. */
bool trampoline_from_loop(struct trampoline *made, const struct exclusive_loop *loop,
        uint64_t address, uint64_t loop_address);

/*
 * Unwind tables: one CIE for all, and an FDE each, which say that the caller of a trampoline at any
 * of its words is the original instruction, with all registers as it had them there. The return
 * address is in a DWARF column of its own, so that x30 keeps its value; augmentation "S", so that
 * nobody subtracts 1 from it. Both return bytes written, a multiple of 8.
 */
size_t trampoline_cie(unsigned char *to, size_t room);
size_t trampoline_fde(unsigned char *to, size_t room, const struct trampoline *made,
        uint64_t to_address, uint64_t cie_address, uint64_t address, uint64_t original);

#endif
