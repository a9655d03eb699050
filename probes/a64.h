/*
 * What an AArch64 instruction word is, as far as atomics are concerned. Pure functions: used on the
 * memory of the target and on files alike. Encodings: Arm Architecture Reference Manual (DDI 0487),
 * C4.1, "Loads and Stores".
 */
#ifndef PROBES_A64_H
#define PROBES_A64_H

#include <stdbool.h>
#include <stdint.h>

enum a64_family {
#define A64_FAMILY(name) A64_##name,
#include "a64_families.def"
	A64_FAMILIES
};

enum a64_kind {
	A64_OTHER,
	A64_LSE,
	A64_LOAD_EXCLUSIVE,  /* LDXR LDAXR LDXP LDAXP */
	A64_STORE_EXCLUSIVE, /* STXR STLXR STXP STLXP */
};

#define A64_SP  31u /* as a base */
#define A64_ZR  31u /* anywhere else */
#define A64_NOP 0xd503201fu

struct a64_atomic {
	enum a64_kind kind;
	enum a64_family family; /* of A64_LSE */
	uint8_t size;           /* bytes of one register's datum: 1, 2, 4 or 8 */
	bool pair;              /* CASP LDXP STXP: two of them */
	bool acquire, release;
	uint8_t rs;  /* CAS: compared and replaced; LD.., SWP: the operand; exclusive stores: the
	                status */
	uint8_t rt;  /* CAS: the new value; LD.., SWP: the old value's; exclusives: the datum */
	uint8_t rt2; /* exclusive pairs; of CASP the second registers are rs + 1 and rt + 1 */
	uint8_t rn;  /* the base */
};

/* False for nearly all words that are no atomics; two comparisons, so that a scan stays fast. The
 * groups "Load/store exclusive" and "Atomic memory operations" of general registers. */
static inline bool a64_may_be_atomic(uint32_t word)
{
	return (word & 0x3f000000) == 0x08000000 || (word & 0x3f200c00) == 0x38200000;
}

/* Whether the word is one of the three kinds; fills in what it is. FEAT_LSE128 is none of them. */
bool a64_decode(uint32_t word, struct a64_atomic *atomic);

/* "ldadd", ... */
const char *a64_family_name(enum a64_family family);

/* Whether the word is a B, BL, B.cond, CBZ, CBNZ, TBZ, TBNZ, or FEAT_HBC's or FEAT_CMPBR's; sets
 * where it goes from address. */
bool a64_branch_target(uint32_t word, uint64_t address, uint64_t *target);

/* Whether the word loads (or prefetches) a literal; sets the literal's address and size in bytes,
 * of which a prefetch has 4. */
bool a64_literal(uint32_t word, uint64_t address, uint64_t *start, unsigned *size);

/* Whether the word is ADRP; sets its register and the page. */
bool a64_adrp(uint32_t word, uint64_t address, unsigned *rd, uint64_t *page);

#endif
