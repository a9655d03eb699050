/*
 * Decodes by tables of the architecture manual's section "Loads and Stores": "Load/store exclusive"
 * with its neighbours "compare and swap (pair)", and "Atomic memory operations".
 */
#include "a64.h"

#include <stddef.h>

/* Bits start .. start + count - 1. */
static uint32_t bits(uint32_t word, unsigned start, unsigned count)
{
	return word >> start & ((1u << count) - 1);
}

static bool bit(uint32_t word, unsigned at)
{
	return word >> at & 1;
}

static int64_t signed_bits(uint32_t word, unsigned start, unsigned count)
{
	uint64_t sign = UINT64_C(1) << (count - 1);
	return (int64_t)((bits(word, start, count) ^ sign) - sign);
}

/* The fields that all atomics have in the same places. */
static struct a64_atomic fields(uint32_t word)
{
	return (struct a64_atomic){
		.size = (uint8_t)(1u << bits(word, 30, 2)),
		.rs = (uint8_t)bits(word, 16, 5),
		.rt = (uint8_t)bits(word, 0, 5),
		.rt2 = (uint8_t)bits(word, 10, 5),
		.rn = (uint8_t)bits(word, 5, 5),
	};
}

/* CAS and CASP: bit 22 acquires, bit 15 releases; no third register. CASP's are even. */
static bool compare_and_swap(uint32_t word, struct a64_atomic *atomic)
{
	bool pair = !bit(word, 23);
	if (atomic->rt2 != 31 || (pair && (atomic->rs & 1 || atomic->rt & 1)))
		return false;
	atomic->kind = A64_LSE;
	atomic->family = pair ? A64_casp : A64_cas;
	atomic->acquire = bit(word, 22);
	atomic->release = bit(word, 15);
	if (pair)
		atomic->size = bit(word, 30) ? 8 : 4;
	atomic->pair = pair;
	return true;
}

/* Of a load the ordering bit acquires, of a store it releases. Fields that an instruction has no
 * use for "should be one"; their value does not matter to disassemblers, nor here. */
static bool exclusive(uint32_t word, struct a64_atomic *atomic)
{
	bool load = bit(word, 22);
	atomic->kind = load ? A64_LOAD_EXCLUSIVE : A64_STORE_EXCLUSIVE;
	atomic->acquire = load && bit(word, 15);
	atomic->release = !load && bit(word, 15);
	atomic->pair = bit(word, 21);
	if (load)
		atomic->rs = A64_ZR;
	if (!atomic->pair)
		atomic->rt2 = A64_ZR;
	return true;
}

/* Bit 23 marks compare-and-swap where bit 21 does, and else LDAR and its like. Bit 21 marks pairs,
 * which words and doublewords have; CASP takes the encodings that are left. */
static bool exclusive_group(uint32_t word, struct a64_atomic *atomic)
{
	if (bit(word, 23))
		return bit(word, 21) && compare_and_swap(word, atomic);
	if (bit(word, 21) && !bit(word, 31))
		return compare_and_swap(word, atomic);
	return exclusive(word, atomic);
}

/* Operations by bits 14:12; with bit 15 SWP, and others that are no atomics of this kind. */
static bool memory_operation(uint32_t word, struct a64_atomic *atomic)
{
	static const uint8_t families[8] = { A64_ldadd, A64_ldclr, A64_ldeor, A64_ldset, A64_ldsmax,
		A64_ldsmin, A64_ldumax, A64_ldumin };
	unsigned operation = bits(word, 12, 4);
	if (operation > 8)
		return false;
	atomic->kind = A64_LSE;
	atomic->family = operation == 8 ? A64_swp : families[operation];
	atomic->acquire = bit(word, 23);
	atomic->release = bit(word, 22);
	atomic->rt2 = A64_ZR;
	return true;
}

bool a64_decode(uint32_t word, struct a64_atomic *atomic)
{
	if (!a64_may_be_atomic(word))
		return false;
	*atomic = fields(word);
	return bit(word, 28) ? memory_operation(word, atomic) : exclusive_group(word, atomic);
}

const char *a64_family_name(enum a64_family family)
{
	static const char *const names[] = {
#define A64_FAMILY(name) #name,
#include "a64_families.def"
	};
	return names[family];
}

/* Classes of "Branches": the width of the offset, in words, and where it lies. The last one is
 * FEAT_CMPBR's compare and branch. */
bool a64_branch_target(uint32_t word, uint64_t address, uint64_t *target)
{
	static const struct {
		uint32_t mask, value;
		unsigned start, count;
	} classes[] = {
		{ 0x7c000000, 0x14000000, 0, 26 }, /* B BL */
		{ 0xff000000, 0x54000000, 5, 19 }, /* B.cond BC.cond */
		{ 0x7e000000, 0x34000000, 5, 19 }, /* CBZ CBNZ */
		{ 0x7e000000, 0x36000000, 5, 14 }, /* TBZ TBNZ */
		{ 0x7e000000, 0x74000000, 5, 9 },  /* CBcond CBBcond CBHcond */
	};
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if ((word & classes[i].mask) != classes[i].value)
			continue;
		int64_t words = signed_bits(word, classes[i].start, classes[i].count);
		*target = address + (uint64_t)words * 4;
		return true;
	}
	return false;
}

/* By bit 26 and bits 31:30: LDR W X, LDRSW, PRFM; LDR S D Q. */
bool a64_literal(uint32_t word, uint64_t address, uint64_t *start, unsigned *size)
{
	static const uint8_t sizes[2][4] = { { 4, 8, 4, 4 }, { 4, 8, 16, 0 } };
	if ((word & 0x3b000000) != 0x18000000)
		return false;
	unsigned bytes = sizes[bit(word, 26)][bits(word, 30, 2)];
	if (bytes == 0)
		return false;
	*start = address + (uint64_t)signed_bits(word, 5, 19) * 4;
	*size = bytes;
	return true;
}

bool a64_adrp(uint32_t word, uint64_t address, unsigned *rd, uint64_t *page)
{
	if ((word & 0x9f000000) != 0x90000000)
		return false;
	uint64_t pages = (uint64_t)signed_bits(word, 5, 19) << 2 | bits(word, 29, 2);
	*rd = bits(word, 0, 5);
	*page = (address & ~UINT64_C(0xfff)) + (pages << 12);
	return true;
}
