/*
 * Loops of exclusives as LSE instructions. What the loop computes is computed by the same words:
 * behind the one instruction that does the loop's operation, or, where none does, between a load
 * and a compare-and-swap, which fails as the store-exclusive would when something came between.
 */
#include "trampoline.h"

#include "emit.h"

#define TO_MEMORY 3u /* registers a datum: seen, found, and of pairs the new value */
#define LDR       0x39400000u
#define LDAR      0x08dffc00u
#define LDP       0x29400000u
#define NO_BRANCH UINT32_MAX

struct loop_making {
	struct trampoline *made;
	const struct exclusive_loop *loop;
	struct a64_atomic load, store;
	uint64_t address, loop_address;
	uint32_t exits[EXCLUSIVE_LOOP_EXITS]; /* branches of the trampoline */
	uint64_t targets[EXCLUSIVE_LOOP_EXITS];
	unsigned exit_count;
	unsigned second; /* the branch to the second store, or NO_BRANCH */
};

static uint32_t bits(uint32_t word, unsigned start, unsigned count)
{
	return word >> start & ((1u << count) - 1);
}

/* Words of the loop, whose branches out are led later. */
static void replay(struct loop_making *making)
{
	const struct exclusive_loop *loop = making->loop;
	for (unsigned i = 1; i < loop->stores[0]; i++) {
		uint64_t address = making->loop_address + 4 * (uint64_t)i, target;
		unsigned at = making->made->count;
		emit(making->made, loop->code[i]);
		if (!a64_branch_target(loop->code[i], address, &target))
			continue;
		if (target == making->loop_address + 4 * (uint64_t)loop->stores[1]) {
			making->second = at;
			continue;
		}
		making->exits[making->exit_count] = at;
		making->targets[making->exit_count++] = target;
	}
}

/* Where the loop goes by its branches out: what was borrowed is given back there. */
static bool leave_by_exits(struct loop_making *making, unsigned depth)
{
	struct trampoline *made = making->made;
	for (unsigned i = 0; i < making->exit_count; i++) {
		emit_lead(made, making->exits[i], made->count);
		made->depth = depth;
		emit_return(made);
		if (!emit_back(made, making->address, making->targets[i]))
			return false;
	}
	return true;
}

/* As after the store at that place of the loop. */
static bool leave_after(struct loop_making *making, unsigned store)
{
	emit_return(making->made);
	return emit_back(
	        making->made, making->address, making->loop_address + 4 * ((uint64_t)store + 1));
}

static void emit_lse(
        struct loop_making *making, enum a64_family family, unsigned rs, unsigned rt, unsigned base)
{
	struct a64_atomic lse = making->load;
	lse.kind = A64_LSE;
	lse.family = family;
	lse.release = making->store.release;
	lse.rs = (uint8_t)rs;
	lse.rt = (uint8_t)rt;
	lse.rn = (uint8_t)base;
	emit_atomic(making->made, &lse);
}

/* The status of a store that succeeded. */
static void succeed(struct loop_making *making)
{
	emit_move(making->made, making->store.rs, A64_ZR);
}

/* The status of a store that failed when the register differs from 0. */
static void succeed_or_fail(struct loop_making *making, unsigned reg)
{
	emit_constant(making->made, making->store.rs, 1);
	emit_if_not_zero(making->made, true, reg, making->made->count + 2);
	succeed(making);
}

/* The operation's other operand, as LSE wants it, is in reg when the word has been met. */
struct operand {
	enum a64_family family;
	unsigned reg;
	bool is_made; /* by what follows, in reg */
	bool wide;
	uint32_t operation;
	unsigned from;
	uint64_t constant; /* where there is no operation */
};

/* Of a logical immediate: DDI 0487, "DecodeBitMasks". */
static uint64_t logical_immediate(uint32_t word)
{
	unsigned n = bits(word, 22, 1), rotate = bits(word, 16, 6), ones = bits(word, 10, 6);
	unsigned size = n ? 64 : 32;
	while (!n && size > 2 && ones & size)
		size /= 2;
	unsigned count = (ones & (size - 1)) + 1;
	rotate &= size - 1;
	uint64_t all = size == 64 ? UINT64_MAX : (UINT64_C(1) << size) - 1;
	uint64_t element = count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
	if (rotate != 0)
		element = (element >> rotate | element << (size - rotate)) & all;
	for (; size < 64; size *= 2)
		element |= element << size;
	return element;
}

/* ADD SUB AND ORR EOR of an immediate: bits 30:29 and 25:23. */
static bool immediate_operand(uint32_t word, struct operand *operand)
{
	static const enum a64_family logical[] = { A64_ldclr, A64_ldset, A64_ldeor, A64_ldclr };
	unsigned class = bits(word, 23, 3), kind = bits(word, 29, 2);
	if (class == 2) {
		uint64_t value = (uint64_t)bits(word, 10, 12) << 12 * bits(word, 22, 1);
		operand->family = A64_ldadd;
		operand->constant = kind & 2 ? -value : value;
		return true;
	}
	if (class != 4)
		return false;
	operand->family = logical[kind];
	operand->constant = logical_immediate(word);
	if (operand->family == A64_ldclr)
		operand->constant = ~operand->constant;
	return true;
}

/* The same of a register that may be shifted: bits 30:29, 24 and 21. */
static bool register_operand(uint32_t word, struct operand *operand)
{
	static const enum a64_family families[] = { A64_ldclr, A64_ldset, A64_ldeor, A64_ldclr };
	bool arithmetic = bits(word, 24, 1), inverted = bits(word, 21, 1);
	unsigned kind = bits(word, 29, 2);
	uint32_t shift = word & 0x00c0fc00u;
	operand->from = operand->reg = bits(word, 16, 5);
	operand->family = arithmetic ? A64_ldadd : families[kind];
	operand->operation = EMIT_ORR;
	if (bits(word, 28, 1) || (arithmetic && inverted))
		return false;
	if (arithmetic && kind & 2)
		operand->operation = EMIT_SUB;
	else if (!arithmetic && (operand->family == A64_ldclr) != inverted)
		operand->operation = EMIT_ORN;
	operand->wide = bits(word, 31, 1);
	operand->is_made = operand->operation != EMIT_ORR || shift != 0;
	operand->operation |= shift;
	return true;
}

/* Whether the loop's only word computes the new value from the old one by what LSE has. What has
 * to be made is made in the status' register, which the word must not read. */
static bool find_operand(const struct loop_making *making, struct operand *operand)
{
	uint32_t word = making->loop->code[1];
	unsigned old = making->load.rt, status = making->store.rs;
	bool immediate = bits(word, 26, 3) == 4;
	*operand = (struct operand){ .reg = status, .is_made = true };
	if (making->load.pair || old == A64_ZR || making->store.rt == A64_ZR ||
	        bits(word, 0, 5) != making->store.rt || bits(word, 5, 5) != old ||
	        (making->load.size == 8 && !bits(word, 31, 1)))
		return false;
	if (immediate)
		return immediate_operand(word, operand);
	if (bits(word, 25, 3) != 5 || !register_operand(word, operand) || operand->from == old)
		return false;
	if (operand->is_made && operand->from == status)
		return false;
	if (operand->is_made)
		operand->reg = status;
	return true;
}

static bool make_operation(struct loop_making *making)
{
	struct operand operand;
	if (making->loop->stores[0] != 2 || !find_operand(making, &operand))
		return false;
	if (operand.is_made && operand.operation != 0)
		emit_operation(making->made, operand.operation, operand.wide, operand.reg, A64_ZR,
		        operand.from);
	else if (operand.is_made)
		emit_constant(making->made, operand.reg, operand.constant);
	emit_lse(making, operand.family, operand.reg, making->load.rt, making->load.rn);
	return true;
}

/* Bits of CMP of the datum with a register that are the same whatever its operands: bytes and
 * halfwords are compared with zeros in front. */
static uint32_t comparison(unsigned size)
{
	static const uint32_t words[9] = {
		[1] = 0x6b20001fu, [2] = 0x6b20201fu, [4] = 0x6b00001fu, [8] = 0xeb00001fu
	};
	return words[size];
}

/* CMP of the old value with another, and CSEL of one of the two: the condition tells which. GE and
 * LE, HS and LS choose between equal ones. Of other conditions the table says CAS. */
static bool make_extreme(struct loop_making *making)
{
	static const enum a64_family families[16] = { [0x2] = A64_ldumax,
		[0x8] = A64_ldumax,
		[0x3] = A64_ldumin,
		[0x9] = A64_ldumin,
		[0xa] = A64_ldsmax,
		[0xc] = A64_ldsmax,
		[0xb] = A64_ldsmin,
		[0xd] = A64_ldsmin };
	const uint32_t *code = making->loop->code;
	unsigned old = making->load.rt, size = making->load.size;
	if (making->loop->stores[0] != 3 || making->load.pair || old == A64_ZR)
		return false;
	unsigned other = bits(code[1], 16, 5);
	enum a64_family family = families[bits(code[2], 12, 4)];
	uint32_t select = 0x1a800000u | (uint32_t)(size == 8) << 31 | other << 16 | old << 5 |
	                  making->store.rt;
	bool is_signed = family == A64_ldsmax || family == A64_ldsmin;
	if ((code[1] & ~0x001f0000u) != (comparison(size) | old << 5) || other == old ||
	        (code[2] & ~0x0000f000u) != select || family == A64_cas || (is_signed && size < 4))
		return false;
	emit_lse(making, family, other, old, making->load.rn);
	return true;
}

/* Without a destination nothing would be acquired. */
static bool make_swap(struct loop_making *making)
{
	unsigned old = making->load.rt, new = making->store.rt;
	if (making->loop->stores[0] != 1 || making->load.pair || (old == new &&old != A64_ZR))
		return false;
	emit_lse(making, A64_swp, new, old == A64_ZR ? making->store.rs : old, making->load.rn);
	return true;
}

/* CMP of the datum with a register and B.NE, or CBNZ of the datum. */
static bool is_comparison(const struct loop_making *making, unsigned *expected)
{
	const uint32_t *code = making->loop->code;
	unsigned old = making->load.rt, size = making->load.size, stored = making->loop->stores[0];
	*expected = A64_ZR;
	if (stored == 2)
		return (code[1] & 0xff00001f) == (0x35000000u | (uint32_t)(size == 8) << 31 | old);
	*expected = bits(code[1], 16, 5);
	return stored == 3 && (code[1] & ~0x001f0000u) == (comparison(size) | old << 5) &&
	       (code[2] & 0xff00001f) == 0x54000001u && *expected != old;
}

static bool make_compare_and_swap(struct loop_making *making)
{
	unsigned expected, old = making->load.rt;
	if (making->load.pair || making->loop->exclusives != 2 || old == A64_ZR ||
	        making->store.rt == old || !is_comparison(making, &expected))
		return false;
	emit_move(making->made, old, expected);
	emit_lse(making, A64_cas, old, making->store.rt, making->load.rn);
	return true;
}

/* By one instruction; it leaves as many registers as they are as the loop does. */
static bool make_directly(struct loop_making *making)
{
	return make_operation(making) || make_extreme(making) || make_swap(making) ||
	       make_compare_and_swap(making);
}

/* What was read of memory, and room for what is found there later. */
struct attempt {
	unsigned seen, found, new; /* of pairs these registers and the next ones */
	unsigned base;
};

/* LDAR and LDR read as the loop did; of a pair, LDP may read two halves that were never there at a
 * time, which does no harm when only a compare-and-swap leads out. Where a branch does, a CASP
 * that changes nothing reads both at once. */
static void read_memory(struct loop_making *making, const struct attempt *attempt)
{
	struct trampoline *made = making->made;
	const struct a64_atomic *load = &making->load;
	uint32_t size = load->size == 8 ? 3 : load->size == 4 ? 2 : load->size == 2 ? 1 : 0;
	uint32_t operands = attempt->base << 5 | attempt->seen;
	if (load->pair && making->loop->exits > 0) {
		emit_move(made, attempt->seen, A64_ZR);
		emit_move(made, attempt->seen + 1, A64_ZR);
		emit_move(made, attempt->new, A64_ZR);
		emit_move(made, attempt->new + 1, A64_ZR);
		emit_lse(making, A64_casp, attempt->seen, attempt->new, attempt->base);
	} else if (load->pair) {
		emit(made,
		        LDP | (uint32_t)(size == 3) << 31 | (attempt->seen + 1) << 10 | operands);
	} else {
		emit(made, (load->acquire ? LDAR : LDR) | size << 30 | operands);
	}
	if (load->rt != A64_ZR)
		emit_move(made, load->rt, attempt->seen);
	if (load->pair && load->rt2 != A64_ZR)
		emit_move(made, load->rt2, attempt->seen + 1);
}

/* Stores what the loop's store at that place would, if memory is still what was seen. */
static void swap(struct loop_making *making, const struct attempt *attempt)
{
	struct trampoline *made = making->made;
	const struct a64_atomic *store = &making->store;
	emit_move(made, attempt->found, attempt->seen);
	if (store->pair) {
		emit_move(made, attempt->found + 1, attempt->seen + 1);
		emit_move(made, attempt->new, store->rt);
		emit_move(made, attempt->new + 1, store->rt2);
		emit_lse(making, A64_casp, attempt->found, attempt->new, attempt->base);
		emit_operation(made, EMIT_EOR, true, attempt->found + 1, attempt->found + 1,
		        attempt->seen + 1);
	} else {
		emit_lse(making, A64_cas, attempt->found, store->rt, attempt->base);
	}
	emit_operation(made, EMIT_EOR, true, attempt->found, attempt->found, attempt->seen);
	if (store->pair)
		emit_operation(
		        made, EMIT_ORR, true, attempt->found, attempt->found, attempt->found + 1);
	succeed_or_fail(making, attempt->found);
}

static bool begin_attempts(struct loop_making *making, struct attempt *attempt)
{
	struct trampoline *made = making->made;
	const struct a64_atomic *load = &making->load;
	uint8_t borrowed[2 * (TO_MEMORY + 1)];
	bool on_stack = load->rn == A64_SP;
	unsigned wanted = (load->pair ? 6u : 2u) + on_stack;
	if (!emit_borrow(made, making->loop->used, wanted, borrowed))
		return false;
	*attempt = (struct attempt){ .seen = borrowed[0],
		.found = borrowed[load->pair ? 2 : 1],
		.new = borrowed[load->pair ? 4 : 1],
		.base = on_stack ? borrowed[wanted - 1] : load->rn };
	if (on_stack)
		emit_stack_pointer(made, attempt->base);
	return true;
}

/* By attempts, with a way for either store. */
static bool make_by_attempts(struct loop_making *making)
{
	const struct exclusive_loop *loop = making->loop;
	struct trampoline *made = making->made;
	struct attempt attempt;
	if (!begin_attempts(making, &attempt))
		return false;
	unsigned depth = made->depth;
	read_memory(making, &attempt);
	replay(making);
	swap(making, &attempt);
	if (!leave_after(making, loop->stores[0]))
		return false;
	if (making->second != NO_BRANCH) {
		emit_lead(made, making->second, made->count);
		made->depth = depth;
		a64_decode(loop->code[loop->stores[1]], &making->store);
		swap(making, &attempt);
		if (!leave_after(making, loop->stores[1]))
			return false;
	}
	return leave_by_exits(making, depth);
}

bool trampoline_from_loop(struct trampoline *made, const struct exclusive_loop *loop,
        uint64_t address, uint64_t loop_address)
{
	struct loop_making making = { .made = made,
		.loop = loop,
		.address = address,
		.loop_address = loop_address,
		.second = NO_BRANCH };
	emit_begin(made);
	if (!a64_decode(loop->code[0], &making.load) ||
	        !a64_decode(loop->code[loop->stores[0]], &making.store))
		return false;
	if (!make_directly(&making))
		return make_by_attempts(&making);
	replay(&making);
	succeed(&making);
	return leave_after(&making, loop->stores[0]) && leave_by_exits(&making, 0);
}
