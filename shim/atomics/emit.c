#include "emit.h"

#define STACK_ALIGNMENT 16u

void emit_begin(struct trampoline *made)
{
	made->count = made->saved_count = made->depth = 0;
}

void emit(struct trampoline *made, uint32_t word)
{
	if (made->count < TRAMPOLINE_WORDS) {
		made->words[made->count] = word;
		made->moved[made->count] = (uint8_t)made->depth;
	}
	made->count++;
}

/* STP reg, reg + 1, [sp, #-16]! */
static void push(struct trampoline *made, unsigned reg)
{
	emit(made, 0xa9bf03e0u | (reg + 1) << 10 | reg);
	made->depth += STACK_ALIGNMENT;
	for (unsigned i = 0; i < 2; i++) {
		made->saved[made->saved_count].reg = (uint8_t)(reg + i);
		made->saved[made->saved_count].below = (uint8_t)(made->depth - 8 * i);
		made->saved_count++;
	}
}

/* x18 may be the platform's; profilers and debuggers walk along x29; x16 and x17 are left to
 * whoever looks at what a veneer changes. */
bool emit_borrow(struct trampoline *made, uint32_t used, unsigned wanted, uint8_t *to)
{
	unsigned count = 0;
	for (unsigned reg = 0; reg < 28 && count < wanted; reg += 2) {
		bool is_free = !(used >> reg & 3) && reg != 16 && reg != 18;
		if (!is_free || made->saved_count + 2 > TRAMPOLINE_SAVED)
			continue;
		push(made, reg);
		to[count++] = (uint8_t)reg;
		to[count++] = (uint8_t)(reg + 1);
	}
	return count >= wanted;
}

/* LDP reg, reg + 1, [sp], #16 */
void emit_return(struct trampoline *made)
{
	for (unsigned i = made->saved_count; i > 0; i -= 2) {
		unsigned reg = made->saved[i - 2].reg;
		emit(made, 0xa8c103e0u | (reg + 1) << 10 | reg);
		made->depth -= STACK_ALIGNMENT;
	}
}

void emit_operation(struct trampoline *made, uint32_t operation, bool wide, unsigned to,
        unsigned left, unsigned right)
{
	emit(made, operation | (uint32_t)wide << 31 | right << 16 | left << 5 | to);
}

void emit_move(struct trampoline *made, unsigned to, unsigned from)
{
	emit_operation(made, EMIT_ORR, true, to, A64_ZR, from);
}

/* MOVZ, or MOVN of the complement where that has more halves of zeros; MOVK. */
void emit_constant(struct trampoline *made, unsigned to, uint64_t value)
{
	unsigned zeros = 0, ones = 0;
	for (unsigned half = 0; half < 4; half++) {
		zeros += (value >> 16 * half & 0xffff) == 0;
		ones += (value >> 16 * half & 0xffff) == 0xffff;
	}
	bool inverted = ones > zeros, begun = false;
	uint64_t plain = inverted ? 0xffff : 0;
	for (unsigned half = 0; half < 4; half++) {
		uint64_t bits = value >> 16 * half & 0xffff;
		if (bits == plain && (begun || half < 3))
			continue;
		uint32_t kind = begun ? 0xf2800000u : inverted ? 0x92800000u : 0xd2800000u;
		if (!begun && inverted)
			bits ^= 0xffff;
		emit(made, kind | half << 21 | (uint32_t)bits << 5 | to);
		begun = true;
	}
}

void emit_stack_pointer(struct trampoline *made, unsigned to)
{
	emit(made, 0x910003e0u | made->depth << 10 | to);
}

static uint32_t log2_of(unsigned size)
{
	return size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0;
}

static uint32_t lse_word(const struct a64_atomic *atomic)
{
	static const uint8_t operations[A64_FAMILIES] = { [A64_ldadd] = 0,
		[A64_ldclr] = 1,
		[A64_ldeor] = 2,
		[A64_ldset] = 3,
		[A64_ldsmax] = 4,
		[A64_ldsmin] = 5,
		[A64_ldumax] = 6,
		[A64_ldumin] = 7,
		[A64_swp] = 8 };
	if (atomic->family == A64_cas)
		return 0x08a07c00u | log2_of(atomic->size) << 30 | (uint32_t)atomic->acquire << 22 |
		       (uint32_t)atomic->release << 15;
	if (atomic->family == A64_casp)
		return 0x08207c00u | (uint32_t)(atomic->size == 8) << 30 |
		       (uint32_t)atomic->acquire << 22 | (uint32_t)atomic->release << 15;
	return 0x38200000u | log2_of(atomic->size) << 30 | (uint32_t)atomic->acquire << 23 |
	       (uint32_t)atomic->release << 22 | (uint32_t)operations[atomic->family] << 12;
}

static uint32_t exclusive_word(const struct a64_atomic *atomic)
{
	bool load = atomic->kind == A64_LOAD_EXCLUSIVE;
	bool ordered = load ? atomic->acquire : atomic->release;
	return 0x08000000u | log2_of(atomic->size) << 30 | (uint32_t)load << 22 |
	       (uint32_t)atomic->pair << 21 | (uint32_t)ordered << 15 |
	       (uint32_t)(atomic->pair ? atomic->rt2 : A64_ZR) << 10;
}

void emit_atomic(struct trampoline *made, const struct a64_atomic *atomic)
{
	uint32_t word = atomic->kind == A64_LSE ? lse_word(atomic) : exclusive_word(atomic);
	emit(made, word | (uint32_t)atomic->rs << 16 | (uint32_t)atomic->rn << 5 | atomic->rt);
}

unsigned emit_if_not_zero(struct trampoline *made, bool wide, unsigned reg, unsigned to)
{
	unsigned at = made->count;
	emit(made, 0x35000000u | (uint32_t)wide << 31 | reg);
	emit_lead(made, at, to);
	return at;
}

/* TBZ and TBNZ have 14 bits, the others 19. */
void emit_lead(struct trampoline *made, unsigned branch, unsigned to)
{
	if (branch >= TRAMPOLINE_WORDS)
		return;
	uint32_t *word = &made->words[branch];
	uint32_t field = (*word & 0x7e000000) == 0x36000000 ? 0x3fffu : 0x7ffffu;
	*word = (*word & ~(field << 5)) | ((to - branch) & field) << 5;
}

bool emit_back(struct trampoline *made, uint64_t address, uint64_t target)
{
	int64_t by = (int64_t)(target - address) / 4 - made->count;
	emit(made, 0x14000000u | ((uint32_t)by & 0x3ffffff));
	return by >= -(1 << 25) && by < 1 << 25 && made->count <= TRAMPOLINE_WORDS;
}
