/*
 * DWARF call frame information of trampolines: DWARF 4, section 6.4; augmentation "zRS" and
 * .eh_frame_hdr: Linux Standard Base, "Exception Frames".
 *
 * The return address has column 96, which libgcc keeps for the same purpose in frames of signal
 * handlers (DWARF_ALT_FRAME_RETURN_COLUMN), and libunwind has room for. It lies in memory, in the
 * FDE: for other columns, libgcc would take values that are computed only, and libunwind none.
 * LLVM's libunwind knows no column above 95: its walks end at a trampoline.
 */
#include <string.h>

#include "trampoline.h"

#define CODE_UNIT     4u
#define RETURN_COLUMN 96u
#define SP_COLUMN     31u
#define RETURN_AT     24u /* in an FDE: in the data of its augmentation, aligned */

#define CFA_ADVANCE_LOC    0x40u
#define CFA_RESTORE        0xc0u
#define CFA_OFFSET         0x80u
#define CFA_DEF_CFA        0x0cu
#define CFA_DEF_CFA_OFFSET 0x0eu
#define CFA_EXPRESSION     0x10u
#define OP_CONST8U         0x0eu
#define PE_PCREL_SDATA4    0x1bu
#define PE_DATAREL_SDATA4  0x3bu
#define PE_UDATA4          0x03u

/* Writes no further than there is room, and counts on. */
struct cfi_output {
	unsigned char *to;
	size_t room, size;
};

static void put(struct cfi_output *output, const void *bytes, size_t count)
{
	if (output->size + count <= output->room)
		memcpy(output->to + output->size, bytes, count);
	output->size += count;
}

static void put1(struct cfi_output *output, unsigned byte)
{
	put(output, &(unsigned char){ (unsigned char)byte }, 1);
}

static void put4(struct cfi_output *output, uint64_t value)
{
	put(output, &(uint32_t){ (uint32_t)value }, 4);
}

/* Ends an entry that began with its length: DW_CFA_nop up to a multiple of 8. */
static size_t end_entry(struct cfi_output *output)
{
	while (output->size % 8 != 0)
		put1(output, 0);
	if (output->size > output->room)
		return 0;
	memcpy(output->to, &(uint32_t){ (uint32_t)output->size - 4 }, 4);
	return output->size;
}

size_t trampoline_cie(unsigned char *to, size_t room)
{
	struct cfi_output output = { to, room, 0 };
	/* Version, augmentation, units of code and (-8) data, the return address, the
	 * augmentation's data, and the rule at the beginning. */
	static const unsigned char fields[] = { 1, 'z', 'R', 'S', 0, CODE_UNIT, 0x78, RETURN_COLUMN,
		1, PE_PCREL_SDATA4, CFA_DEF_CFA, SP_COLUMN, 0 };
	put4(&output, 0);
	put4(&output, 0); /* a CIE */
	put(&output, fields, sizeof(fields));
	return end_entry(&output);
}

/* The rules where the stack pointer goes from being moved by `before` bytes to `after`. */
static void put_change(
        struct cfi_output *output, const struct trampoline *made, unsigned before, unsigned after)
{
	put1(output, CFA_DEF_CFA_OFFSET);
	put1(output, after);
	for (unsigned i = 0; i < made->saved_count; i++) {
		unsigned reg = made->saved[i].reg, below = made->saved[i].below;
		if (below > before && below <= after) {
			put1(output, CFA_OFFSET | reg);
			put1(output, below / 8);
		} else if (below > after && below <= before) {
			put1(output, CFA_RESTORE | reg);
		}
	}
}

/* No two changes lie further from each other than an advance can say. */
_Static_assert(TRAMPOLINE_WORDS <= 64, "six bits");

static void put_changes(struct cfi_output *output, const struct trampoline *made)
{
	unsigned told = 0, moved = 0;
	for (unsigned i = 0; i < made->count; i++) {
		if (made->moved[i] == moved)
			continue;
		put1(output, CFA_ADVANCE_LOC | (i - told));
		put_change(output, made, moved, made->moved[i]);
		told = i;
		moved = made->moved[i];
	}
}

size_t trampoline_fde(unsigned char *to, size_t room, const struct trampoline *made,
        uint64_t to_address, uint64_t cie_address, uint64_t address, uint64_t original)
{
	struct cfi_output output = { to, room, 0 };
	uint64_t place = to_address + RETURN_AT;
	put4(&output, 0);
	put4(&output, to_address + 4 - cie_address);
	put4(&output, address - (to_address + 8));
	put4(&output, CODE_UNIT * made->count);
	put1(&output, RETURN_AT + sizeof(original) - 17); /* the augmentation's data */
	while (output.size < RETURN_AT)
		put1(&output, 0);
	put(&output, &original, sizeof(original));
	put1(&output, CFA_EXPRESSION);
	put1(&output, RETURN_COLUMN);
	put1(&output, 1 + sizeof(place));
	put1(&output, OP_CONST8U);
	put(&output, &place, sizeof(place));
	put_changes(&output, made);
	return end_entry(&output);
}

size_t trampoline_hdr(unsigned char *hdr, size_t room, uint64_t hdr_address, uint64_t eh_frame)
{
	struct cfi_output output = { hdr, room, 0 };
	static const unsigned char encodings[] = { 1, PE_PCREL_SDATA4, PE_UDATA4,
		PE_DATAREL_SDATA4 };
	put(&output, encodings, sizeof(encodings));
	put4(&output, eh_frame - (hdr_address + sizeof(encodings)));
	put4(&output, 0);
	return output.size <= room ? output.size : 0;
}

size_t trampoline_hdr_add(unsigned char *hdr, size_t room, uint64_t hdr_address, uint64_t address,
        uint64_t fde_address)
{
	uint32_t count;
	memcpy(&count, hdr + 8, sizeof(count));
	struct cfi_output output = { hdr, room,
		TRAMPOLINE_HDR + (size_t)count * TRAMPOLINE_HDR_ENTRY };
	put4(&output, address - hdr_address);
	put4(&output, fde_address - hdr_address);
	if (output.size > room)
		return 0;
	/* The entry is seen before the count: pairs with any reader, who reads the count first. */
	__atomic_store_n((uint32_t *)(void *)(hdr + 8), count + 1, __ATOMIC_RELEASE);
	return output.size;
}
