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

#define TRAMPOLINE_WORDS 64u  /* at most */
#define TRAMPOLINE_CFI   256u /* bytes of unwind table a trampoline at most */
#define TRAMPOLINE_SAVED 8u

/* Keeps every register but the results, the flags where the original keeps them, and all memory at
 * and above the stack pointer. Where it borrows registers, it saves them below the stack pointer,
 * which it moves, since a signal handler may write below it. Entered at words[0] and left by direct
 * branches only. A fault in it has changed no memory at and above the stack pointer. */
struct trampoline {
	uint32_t words[TRAMPOLINE_WORDS];
	unsigned count;
	uint8_t moved[TRAMPOLINE_WORDS]; /* bytes the stack pointer is moved by before words[i] */
	unsigned saved_count;
	struct {
		uint8_t reg;
		uint8_t below; /* bytes below the original stack pointer, where there is as much */
	} saved[TRAMPOLINE_SAVED];
	unsigned depth; /* while it is being made: moved[count] */
};

/*
 * What does the same as the LSE instruction `word` with exclusives, then branches to back. An
 * instruction with both orderings is a full barrier, which exclusives are not: a DMB ISH follows.
 * address: where words[0] will lie. False when the word is no LSE instruction, or back is out of
 * a branch's range.
 */
bool trampoline_from_lse(struct trampoline *made, uint32_t word, uint64_t address, uint64_t back);

/* The same for a loop of exclusives, with LSE instructions. loop_address: where the loop lies. The
 * trampoline leaves to where the loop would have left to, with the same registers (also the scratch
 * ones) and flags; behind a store-exclusive, with the status that it would have. False when the
 * loop is out of a branch's range, or uses so many registers that there are too few to borrow. */
bool trampoline_from_loop(struct trampoline *made, const struct exclusive_loop *loop,
        uint64_t address, uint64_t loop_address);

/*
 * Unwind tables: one CIE for all, and an FDE each, which say that the caller of a trampoline at any
 * of its words is the original instruction, with all registers as it had them there. The return
 * address is in a DWARF column of its own, so that x30 keeps its value; augmentation "S", so that
 * nobody subtracts 1 from it. Both return bytes written, a multiple of 8; 0 when there is no room.
 * to_address: where `to` will lie; it, the CIE and the trampoline within 2 GiB of each other.
 */
size_t trampoline_cie(unsigned char *to, size_t room);
size_t trampoline_fde(unsigned char *to, size_t room, const struct trampoline *made,
        uint64_t to_address, uint64_t cie_address, uint64_t address, uint64_t original);

/*
 * The search table that unwinders want of every object (PT_GNU_EH_FRAME): first an empty one, of
 * TRAMPOLINE_HDR bytes; every trampoline adds TRAMPOLINE_HDR_ENTRY bytes to its end. Trampolines
 * are added in ascending order of addresses. Readers at the same time see the table before or
 * after. hdr_address: where `hdr` lies; eh_frame: where the CIE lies; all within 2 GiB. Both return
 * bytes of the table now, 0 when there is no room.
 */
#define TRAMPOLINE_HDR       12u
#define TRAMPOLINE_HDR_ENTRY 8u
size_t trampoline_hdr(unsigned char *hdr, size_t room, uint64_t hdr_address, uint64_t eh_frame);
size_t trampoline_hdr_add(unsigned char *hdr, size_t room, uint64_t hdr_address, uint64_t address,
        uint64_t fde_address);

#endif
