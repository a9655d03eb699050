/*
 * gcc (-O0 to -O3) ends a compare-and-swap's loop behind the store, clang at a CLREX elsewhere. Of
 * 16 bytes clang stores on both ways, as the architecture asks for: a branch leads to a second
 * store. See LLVM's AArch64ExpandPseudoInsts and gcc's aarch64_split_compare_and_swap.
 */
#include "exclusive_loop.h"

#include "a64.h"

static uint32_t bits(uint32_t word, unsigned start, unsigned count)
{
	return word >> start & ((1u << count) - 1);
}

static uint32_t mask_of(unsigned reg)
{
	return reg == A64_ZR ? 0 : UINT32_C(1) << reg;
}

/* "Data processing (immediate)": addition, logic, wide moves, bit fields, extraction. Where 31 is
 * the stack pointer, the word is refused. */
static bool computes_immediate(uint32_t word, struct a64_effect *effect)
{
	unsigned rd = bits(word, 0, 5), rn = bits(word, 5, 5), class = bits(word, 23, 3);
	unsigned operation = bits(word, 29, 2);
	*effect = (struct a64_effect){ mask_of(rn), mask_of(rd) };
	switch (class) {
	case 2: /* ADD SUB, with flags in bit 29 */
		return rn != A64_SP && (rd != A64_SP || bits(word, 29, 1));
	case 4: /* AND ORR EOR ANDS */
		return rd != A64_SP || operation == 3;
	case 5: /* MOVN MOVZ MOVK */
		effect->reads = operation == 3 ? mask_of(rd) : 0;
		return operation != 1;
	case 6: /* SBFM BFM UBFM */
		effect->reads |= operation == 1 ? mask_of(rd) : 0;
		return operation != 3;
	case 7:
		effect->reads |= mask_of(bits(word, 16, 5));
		return operation == 0;
	default:
		return false;
	}
}

/* Of "Data processing (register)" the half with bit 28: carries, conditional compare and select,
 * one, two and three sources. Of the last but one only what every CPU has. */
static bool computes_others(uint32_t word, struct a64_effect *effect)
{
	unsigned opcode = bits(word, 10, 6);
	if (bits(word, 24, 1)) {
		effect->reads |= mask_of(bits(word, 10, 5));
		return true;
	}
	switch (bits(word, 21, 4)) {
	case 0: /* ADC SBC */
		return opcode == 0;
	case 2: /* CCMN CCMP */
		effect->writes = 0;
		if (bits(word, 11, 1))
			effect->reads = mask_of(bits(word, 5, 5));
		return !bits(word, 10, 1) && !bits(word, 4, 1);
	case 4: /* CSEL CSINC CSINV CSNEG */
		return !bits(word, 11, 1) && !bits(word, 29, 1);
	case 6:
		if (!bits(word, 30, 1)) /* UDIV SDIV, shifts */
			return opcode == 2 || opcode == 3 || (opcode >= 8 && opcode <= 11);
		effect->reads = mask_of(bits(word, 5, 5));
		return bits(word, 16, 5) == 0 && opcode <= 5; /* RBIT REV CLZ CLS */
	default:
		return false;
	}
}

/* "Data processing (register)". In additions of an extended register, 31 is the stack pointer. */
static bool computes_register(uint32_t word, struct a64_effect *effect)
{
	unsigned rd = bits(word, 0, 5), rn = bits(word, 5, 5), rm = bits(word, 16, 5);
	*effect = (struct a64_effect){ mask_of(rn) | mask_of(rm), mask_of(rd) };
	if (bits(word, 28, 1))
		return computes_others(word, effect);
	if (bits(word, 24, 1) && bits(word, 21, 1))
		return rn != A64_SP && (rd != A64_SP || bits(word, 29, 1));
	return true;
}

bool a64_computes(uint32_t word, struct a64_effect *effect)
{
	if (bits(word, 26, 3) == 4)
		return computes_immediate(word, effect);
	return bits(word, 25, 3) == 5 && computes_register(word, effect);
}

/* A conditional branch: sets how many words further it goes, and what it reads. */
static bool branches(uint32_t word, int64_t *by, struct a64_effect *effect)
{
	uint64_t target;
	bool on_flags = (word & 0xff000010) == 0x54000000;
	bool on_register = (word & 0x7c000000) == 0x34000000;
	if ((!on_flags && !on_register) || !a64_branch_target(word, 0, &target))
		return false;
	*by = (int64_t)target / 4;
	*effect = (struct a64_effect){ on_register ? mask_of(bits(word, 0, 5)) : 0, 0 };
	return true;
}

struct matching {
	struct exclusive_loop *loop;
	const uint32_t *words;
	size_t count;
	struct a64_atomic load;
	uint32_t written; /* in it so far */
	int64_t second;   /* where a branch inside goes, else 0 */
};

static bool is_store(const struct matching *matching, size_t at, struct a64_atomic *store)
{
	const struct a64_atomic *load = &matching->load;
	return at < matching->count && a64_decode(matching->words[at], store) &&
	       store->kind == A64_STORE_EXCLUSIVE && store->size == load->size &&
	       store->pair == load->pair && store->rn == load->rn;
}

static void note(struct matching *matching, const struct a64_effect *effect)
{
	matching->written |= effect->writes;
	matching->loop->used |= effect->reads | effect->writes;
}

/* To a store behind the first one, or out of it. */
static bool match_branch(struct matching *matching, size_t at, int64_t by)
{
	struct a64_atomic store;
	int64_t target = (int64_t)at + by;
	if (target > 0 && by < 2)
		return false;
	if (target > 0 && target < EXCLUSIVE_LOOP_WORDS &&
	        is_store(matching, (size_t)target, &store)) {
		if (matching->second != 0)
			return false;
		matching->second = target;
		return true;
	}
	return ++matching->loop->exits <= EXCLUSIVE_LOOP_EXITS;
}

/* The status is not among what the store reads, and nothing has changed the base. */
static bool match_store(struct matching *matching, size_t at, struct a64_atomic *store)
{
	struct exclusive_loop *loop = matching->loop;
	if (!is_store(matching, at, store))
		return false;
	uint32_t status = mask_of(store->rs), base = mask_of(store->rn);
	uint32_t data = mask_of(store->rt) | (store->pair ? mask_of(store->rt2) : 0);
	note(matching, &(struct a64_effect){ data | base, 0 });
	loop->used |= status;
	loop->stores[loop->exclusives++ - 1] = (uint8_t)at;
	return status != 0 && !(status & (base | data)) && !(base & matching->written);
}

/* Between two stores: CBNZ of the first one's status, and a branch. */
static bool match_both_stores(struct matching *matching, size_t first, uint32_t status)
{
	struct a64_effect effect;
	struct a64_atomic store;
	size_t second = (size_t)matching->second;
	int64_t by;
	if (second != first + 2 && second != first + 3)
		return false;
	if (!branches(matching->words[first + 1], &by, &effect) || effect.reads != mask_of(status))
		return false;
	if (second == first + 3 && (matching->words[first + 2] & 0xfc000000) != 0x14000000)
		return false;
	return by == -(int64_t)(first + 1) && match_store(matching, second, &store);
}

/* Up to the store; sets where it lies. */
static bool match_body(struct matching *matching, size_t *end)
{
	struct a64_atomic store;
	struct a64_effect effect;
	int64_t by;
	for (size_t at = 1; at < matching->count && at < EXCLUSIVE_LOOP_WORDS; at++) {
		if (is_store(matching, at, &store)) {
			*end = at;
			return true;
		}
		bool is_branch = branches(matching->words[at], &by, &effect);
		if (!is_branch && !a64_computes(matching->words[at], &effect))
			return false;
		if (is_branch && !match_branch(matching, at, by))
			return false;
		note(matching, &effect);
	}
	return false;
}

/* Branches out of it lead behind the last store, or, to try again, before or to the load. */
static bool exits_are_outside(const struct exclusive_loop *loop)
{
	struct a64_effect effect;
	int64_t by;
	for (size_t at = 1; at < loop->stores[0]; at++) {
		if (!branches(loop->code[at], &by, &effect))
			continue;
		int64_t target = (int64_t)at + by;
		if (target > 0 && target < loop->words &&
		        (loop->exclusives == 2 || target != loop->stores[1]))
			return false;
	}
	return true;
}

bool exclusive_loop_match(struct exclusive_loop *loop, const uint32_t *words, size_t count)
{
	struct matching matching = { .loop = loop, .words = words, .count = count };
	struct a64_atomic store;
	size_t last;
	if (count < 2 || !a64_decode(words[0], &matching.load) ||
	        matching.load.kind != A64_LOAD_EXCLUSIVE)
		return false;
	*loop = (struct exclusive_loop){ .exclusives = 1 };
	const struct a64_atomic *load = &matching.load;
	note(&matching, &(struct a64_effect){ mask_of(load->rn),
	                        mask_of(load->rt) | (load->pair ? mask_of(load->rt2) : 0) });
	if (!match_body(&matching, &last) || !match_store(&matching, last, &store))
		return false;
	if (matching.second != 0) {
		if (!match_both_stores(&matching, last, store.rs))
			return false;
		last = (size_t)matching.second;
	}
	loop->words = (unsigned)last + 1;
	for (unsigned i = 0; i < loop->words; i++)
		loop->code[i] = words[i];
	return exits_are_outside(loop);
}
