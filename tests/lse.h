/*
 * Every kind of LSE instruction, and what each does, told apart from the code under test.
 */
#ifndef TESTS_LSE_H
#define TESTS_LSE_H

#include <stdint.h>
#include <string.h>

#include "probes/a64.h"
#include "tests/machine.h"

/* By the tables "Compare and swap (pair)" and "Atomic memory operations" of DDI 0487. */
static inline uint32_t lse_encode(const struct a64_atomic *of)
{
	static const uint32_t first[A64_FAMILIES] = {
		[A64_cas] = 0x08a07c00,
		[A64_casp] = 0x08207c00,
		[A64_swp] = 0x38208000,
		[A64_ldadd] = 0x38200000,
		[A64_ldclr] = 0x38201000,
		[A64_ldeor] = 0x38202000,
		[A64_ldset] = 0x38203000,
		[A64_ldsmax] = 0x38204000,
		[A64_ldsmin] = 0x38205000,
		[A64_ldumax] = 0x38206000,
		[A64_ldumin] = 0x38207000,
	};
	uint32_t size = (uint32_t)__builtin_ctz(of->size);
	uint32_t word = first[of->family] | (uint32_t)of->rs << 16 | (uint32_t)of->rn << 5 | of->rt;
	if (of->family == A64_cas || of->family == A64_casp)
		return word | (of->pair ? size - 2 : size) << 30 | (of->acquire ? 1u << 22 : 0) |
		       (of->release ? 1u << 15 : 0);
	return word | size << 30 | (of->acquire ? 1u << 23 : 0) | (of->release ? 1u << 22 : 0);
}

/* Registers by all roles: each number in each, then every way in which they can overlap. */
struct lse_registers {
	uint8_t rs, rt, rn;
};

#define LSE_REGISTERS 64u

/* Returns how many; of pairs the first two are even. */
static inline unsigned lse_registers(int pair, struct lse_registers *to)
{
	static const struct lse_registers overlaps[] = {
		{ 2, 2, 4 },
		{ 2, 4, 2 },
		{ 4, 2, 2 },
		{ 2, 2, 2 },
		{ 31, 2, 4 },
		{ 2, 31, 4 },
		{ 31, 31, 4 },
		{ 31, 2, 2 },
		{ 2, 31, 2 },
		{ 2, 4, 31 },
		{ 2, 2, 31 },
		{ 31, 2, 31 },
		{ 2, 31, 31 },
		{ 31, 31, 31 },
		{ 0, 1, 2 },
		{ 1, 0, 0 },
		{ 30, 30, 29 },
		{ 30, 29, 30 },
		{ 18, 16, 17 },
		{ 16, 17, 31 },
		{ 29, 30, 31 },
	};
	static const struct lse_registers of_pairs[] = {
		{ 2, 2, 4 },
		{ 2, 4, 2 },
		{ 2, 4, 3 },
		{ 4, 2, 2 },
		{ 4, 2, 3 },
		{ 2, 2, 2 },
		{ 2, 2, 3 },
		{ 2, 4, 31 },
		{ 2, 2, 31 },
		{ 30, 2, 4 },
		{ 2, 30, 4 },
		{ 30, 30, 4 },
		{ 30, 2, 30 },
		{ 2, 30, 30 },
		{ 30, 30, 30 },
		{ 30, 30, 31 },
		{ 0, 2, 4 },
		{ 28, 30, 29 },
		{ 16, 18, 17 },
	};
	unsigned count = 0;
	for (uint8_t i = 0; i < 31; i++) {
		uint8_t rs = i, rt = (uint8_t)((i + 7) % 31), rn = (uint8_t)((i + 18) % 31);
		if (pair) {
			rs = (uint8_t)(2 * i % 32);
			rt = (uint8_t)(2 * (i + 5) % 32);
		}
		if (!pair || (rn & ~1) != rs)
			to[count++] = (struct lse_registers){ rs, rt, rn };
	}
	size_t more = pair ? sizeof(of_pairs) : sizeof(overlaps);
	memcpy(to + count, pair ? of_pairs : overlaps, more);
	return count + (unsigned)(more / sizeof(*to));
}

/* Calls with every instruction: families, sizes, orders, registers. */
static inline void lse_each(void (*visit)(const struct a64_atomic *of, void *data), void *data)
{
	struct lse_registers registers[LSE_REGISTERS];
	for (unsigned i = 0; i < A64_FAMILIES * 16u; i++) {
		struct a64_atomic of = { .kind = A64_LSE,
			.family = (enum a64_family)(i / 16),
			.size = (uint8_t)(1u << i / 4 % 4),
			.acquire = i & 1,
			.release = i >> 1 & 1,
			.rt2 = A64_ZR };
		of.pair = of.family == A64_casp;
		if (of.pair && of.size < 4)
			continue;
		unsigned count = lse_registers(of.pair, registers);
		for (unsigned set = 0; set < count; set++) {
			of.rs = registers[set].rs;
			of.rt = registers[set].rt;
			of.rn = registers[set].rn;
			visit(&of, data);
		}
	}
}

#if defined(__aarch64__)

static inline uint64_t lse_cut(uint64_t value, unsigned size)
{
	return size == 8 ? value : value & ((UINT64_C(1) << 8 * size) - 1);
}

static inline int64_t lse_signed(uint64_t value, unsigned size)
{
	unsigned unused = 64 - 8 * size;
	return (int64_t)(value << unused) >> unused;
}

static inline uint64_t lse_register(const struct machine *state, unsigned reg)
{
	return reg == A64_ZR ? 0 : state->x[reg];
}

static inline void lse_set(struct machine *state, unsigned reg, uint64_t value)
{
	if (reg != A64_ZR)
		state->x[reg] = value;
}

static inline unsigned char *lse_place(const struct a64_atomic *of, struct machine *state)
{
	return of->rn == A64_SP ? (unsigned char *)state
	                        : (unsigned char *)(uintptr_t)state->x[of->rn];
}

/* What is stored where `old` was and the operand is `with`; CAS is not among these. */
static inline uint64_t lse_new(const struct a64_atomic *of, uint64_t old, uint64_t with)
{
	int64_t old_signed = lse_signed(old, of->size), with_signed = lse_signed(with, of->size);
	uint64_t old_cut = lse_cut(old, of->size), with_cut = lse_cut(with, of->size);
	switch (of->family) {
	case A64_ldadd:
		return old + with;
	case A64_ldclr:
		return old & ~with;
	case A64_ldeor:
		return old ^ with;
	case A64_ldset:
		return old | with;
	case A64_ldsmax:
		return old_signed > with_signed ? old : with;
	case A64_ldsmin:
		return old_signed < with_signed ? old : with;
	case A64_ldumax:
		return old_cut > with_cut ? old : with;
	case A64_ldumin:
		return old_cut < with_cut ? old : with;
	default:
		return with;
	}
}

/* Changes the state as the instruction does. */
static inline void lse_model(const struct a64_atomic *of, struct machine *state)
{
	unsigned char *place = lse_place(of, state);
	bool is_compare = of->family == A64_cas || of->family == A64_casp, equal = true;
	unsigned parts = of->pair ? 2 : 1;
	uint64_t old[2] = { 0, 0 }, new[2];
	for (unsigned i = 0; i < parts; i++) {
		memcpy(&old[i], place + i * of->size, of->size);
		equal = equal && old[i] == lse_cut(lse_register(state, of->rs + i), of->size);
		new[i] = is_compare ? lse_register(state, of->rt + i)
		                    : lse_new(of, old[i], lse_register(state, of->rs));
	}
	for (unsigned i = 0; i < parts; i++) {
		if (!is_compare || equal)
			memcpy(place + i * of->size, &new[i], of->size);
		lse_set(state, (is_compare ? of->rs : of->rt) + i, old[i]);
	}
}

/* Values at which something changes, and others. */
static inline uint64_t lse_value(uint64_t *seed)
{
	static const uint64_t edges[] = { 0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff,
		0x10000, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_C(0x100000000), INT64_MAX,
		UINT64_C(1) << 63, UINT64_MAX };
	uint64_t random = machine_random(seed);
	return random % 3 == 0 ? machine_random(seed)
	                       : edges[random / 3 % (sizeof(edges) / sizeof(*edges))];
}

/* A state in which the instruction can run; with `equal`, a compare-and-swap finds what it compares
 * with, in the bits that count. */
static inline void lse_prepare(
        const struct a64_atomic *of, struct machine *state, int equal, uint64_t *seed)
{
	for (unsigned i = 0; i < 31; i++)
		state->x[i] = lse_value(seed);
	for (unsigned i = 0; i < MACHINE_MEMORY / 8; i++)
		state->memory.words[i] = lse_value(seed);
	state->nzcv = machine_random(seed) & UINT64_C(0xf0000000);
	if (of->rn != A64_SP)
		state->x[of->rn] = (uint64_t)(uintptr_t)state + 16 +
		                   (of->pair ? 0 : machine_random(seed) % 16 & -(uint64_t)of->size);
	for (unsigned i = 0; equal && i < (of->pair ? 2 : 1); i++) {
		uint64_t compared = lse_register(state, of->rs + i);
		memcpy(lse_place(of, state) + i * of->size, &compared, of->size);
	}
}

#endif
#endif
