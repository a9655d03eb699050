/*
 * LSE instructions as loops of exclusives, in the shape that the Arm Architecture Reference Manual
 * wants between the two: no memory access, no branch back, few instructions.
 */
#include "trampoline.h"

#include "emit.h"

#define DMB_ISH   0xd5033bbfu
#define MRS_NZCV  0xd53b4200u
#define MSR_NZCV  0xd51b4200u
#define BORROWED  6u
#define UXTB      0x53001c00u
#define UXTH      0x53003c00u
#define SXTB      0x13001c00u
#define SXTH      0x13003c00u
#define COMPARE   0x6b20001fu /* with the right one extended */
#define SELECT    0x1a800000u
#define IS_HIGHER 0x8u
#define IS_LOWER  0x3u
#define IS_ABOVE  0xcu /* signed */
#define IS_BELOW  0xbu

/* An LSE instruction, and what stands in for it so far. */
struct making {
	struct trampoline *made;
	struct a64_atomic of;
	bool wide;
	unsigned base;
	uint8_t borrowed[BORROWED];
	unsigned taken; /* of them */
};

static uint32_t mask_of(unsigned reg)
{
	return reg == A64_ZR ? 0 : UINT32_C(1) << reg;
}

/* Borrows as many registers as wanted, and one more for a base that moves. */
static bool begin(struct making *making, unsigned wanted)
{
	const struct a64_atomic *of = &making->of;
	uint32_t used = mask_of(of->rs) | mask_of(of->rt) | mask_of(of->rn);
	bool on_stack = of->rn == A64_SP;
	if (of->pair)
		used |= mask_of(of->rs + 1u) | mask_of(of->rt + 1u);
	if (!emit_borrow(making->made, used, wanted + on_stack, making->borrowed))
		return false;
	making->base = of->rn;
	if (on_stack) {
		making->base = making->borrowed[making->taken++];
		emit_stack_pointer(making->made, making->base);
	}
	return true;
}

static unsigned take(struct making *making)
{
	return making->borrowed[making->taken++];
}

static void load(struct making *making, unsigned to, unsigned to2)
{
	struct a64_atomic exclusive = making->of;
	exclusive.kind = A64_LOAD_EXCLUSIVE;
	exclusive.rs = A64_ZR;
	exclusive.rt = (uint8_t)to;
	exclusive.rt2 = (uint8_t)to2;
	exclusive.rn = (uint8_t)making->base;
	emit_atomic(making->made, &exclusive);
}

/* Again from the load at `retry` when the store fails. */
static void store(
        struct making *making, unsigned status, unsigned from, unsigned from2, unsigned retry)
{
	struct a64_atomic exclusive = making->of;
	exclusive.kind = A64_STORE_EXCLUSIVE;
	exclusive.rs = (uint8_t)status;
	exclusive.rt = (uint8_t)from;
	exclusive.rt2 = (uint8_t)from2;
	exclusive.rn = (uint8_t)making->base;
	emit_atomic(making->made, &exclusive);
	emit_if_not_zero(making->made, false, status, retry);
}

static bool is_extreme(enum a64_family family)
{
	return family >= A64_ldsmax && family <= A64_ldumin;
}

/* to = the greater or smaller one of old and rs, as numbers of the datum's size. */
static void emit_extreme(struct making *making, unsigned to, unsigned old)
{
	static const uint8_t conditions[A64_FAMILIES] = { [A64_ldsmax] = IS_ABOVE,
		[A64_ldsmin] = IS_BELOW,
		[A64_ldumax] = IS_HIGHER,
		[A64_ldumin] = IS_LOWER };
	const struct a64_atomic *of = &making->of;
	bool is_signed = of->family == A64_ldsmax || of->family == A64_ldsmin;
	unsigned left = old;
	uint32_t extension = of->size == 8 ? 3 : of->size == 4 ? 2 : of->size == 2 ? 1 : 0;
	if (is_signed && of->size < 4) {
		emit(making->made, (of->size == 1 ? SXTB : SXTH) | old << 5 | to);
		left = to;
	}
	emit(making->made, COMPARE | (uint32_t)making->wide << 31 | (uint32_t)of->rs << 16 |
	                           (uint32_t)is_signed << 15 | extension << 13 | left << 5);
	emit_operation(making->made, SELECT | (uint32_t)conditions[of->family] << 12, making->wide,
	        to, old, of->rs);
}

static void emit_new(struct making *making, unsigned to, unsigned old)
{
	static const uint32_t operations[A64_FAMILIES] = { [A64_ldadd] = EMIT_ADD,
		[A64_ldclr] = EMIT_BIC,
		[A64_ldeor] = EMIT_EOR,
		[A64_ldset] = EMIT_ORR };
	enum a64_family family = making->of.family;
	if (is_extreme(family))
		emit_extreme(making, to, old);
	else
		emit_operation(
		        making->made, operations[family], making->wide, to, old, making->of.rs);
}

/* SWP LDADD LDCLR ...: the old value goes straight to its register unless the loop reads that. */
static bool make_operation(struct making *making)
{
	const struct a64_atomic *of = &making->of;
	struct trampoline *made = making->made;
	bool is_swap = of->family == A64_swp, extreme = is_extreme(of->family);
	bool reads_rt = of->rt != A64_ZR && (of->rt == of->rs || of->rt == of->rn);
	if (!begin(making, 1u + !is_swap + reads_rt + extreme))
		return false;
	unsigned status = take(making), new = is_swap ? of->rs : take(making);
	unsigned old = reads_rt ? take(making) : of->rt, flags = extreme ? take(making) : 0;
	if (old == A64_ZR && !is_swap)
		old = new;
	if (extreme)
		emit(made, MRS_NZCV | flags);
	unsigned retry = made->count;
	load(making, old, A64_ZR);
	if (!is_swap)
		emit_new(making, new, old);
	store(making, status, new, A64_ZR, retry);
	if (extreme)
		emit(made, MSR_NZCV | flags);
	if (reads_rt)
		emit_move(made, of->rt, old);
	return true;
}

static bool make_cas(struct making *making)
{
	const struct a64_atomic *of = &making->of;
	struct trampoline *made = making->made;
	if (!begin(making, 2))
		return false;
	unsigned old = take(making), other = take(making), retry = made->count;
	load(making, old, A64_ZR);
	emit_operation(made, EMIT_EOR, making->wide, other, old, of->rs);
	if (of->size < 4)
		emit(made, (of->size == 1 ? UXTB : UXTH) | other << 5 | other);
	unsigned differs = emit_if_not_zero(made, making->wide, other, 0);
	store(making, other, of->rt, A64_ZR, retry);
	emit_lead(made, differs, made->count);
	if (of->rs != A64_ZR)
		emit_move(made, of->rs, old);
	return true;
}

/* Only after a store-exclusive that succeeds have both words been read at once ("Single-copy
 * atomicity"): so what differs is written back. */
static bool make_casp(struct making *making)
{
	const struct a64_atomic *of = &making->of;
	struct trampoline *made = making->made;
	unsigned rs2 = of->rs + 1u, rt2 = of->rt + 1u;
	if (!begin(making, 5))
		return false;
	unsigned old = take(making), old2 = take(making), other = take(making);
	unsigned new = take(making), new2 = take(making), retry = made->count;
	load(making, old, old2);
	emit_move(made, new, old);
	emit_move(made, new2, old2);
	emit_operation(made, EMIT_EOR, making->wide, other, old, of->rs);
	unsigned differs = emit_if_not_zero(made, making->wide, other, 0);
	emit_operation(made, EMIT_EOR, making->wide, other, old2, rs2);
	unsigned differs2 = emit_if_not_zero(made, making->wide, other, 0);
	emit_move(made, new, of->rt);
	emit_move(made, new2, rt2);
	emit_lead(made, differs, made->count);
	emit_lead(made, differs2, made->count);
	store(making, other, new, new2, retry);
	emit_move(made, of->rs, old);
	if (rs2 != A64_ZR)
		emit_move(made, rs2, old2);
	return true;
}

static bool make(struct making *making)
{
	switch (making->of.family) {
	case A64_cas:
		return make_cas(making);
	case A64_casp:
		return make_casp(making);
	default:
		return make_operation(making);
	}
}

/* DDI 0487, B2.3, "Barrier-ordered-before", and herd's aarch64.cat ("po; [A]; amo; [L]; po"): an
 * atomic instruction with acquire and release semantics orders what is before it before what is
 * after it, as DMB does. A pair of exclusives does not: what follows may be read before its store
 * is seen. */
bool trampoline_from_lse(struct trampoline *made, uint32_t word, uint64_t address, uint64_t back)
{
	struct making making = { .made = made };
	if (!a64_decode(word, &making.of) || making.of.kind != A64_LSE)
		return false;
	making.wide = making.of.size == 8;
	emit_begin(made);
	if (!make(&making))
		return false;
	if (making.of.acquire && making.of.release)
		emit(made, DMB_ISH);
	emit_return(made);
	return emit_back(made, address, back);
}
