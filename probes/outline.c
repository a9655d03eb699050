/*
 * Matches the whole of a helper's body: the test of the flag, the LSE instruction, and the loop of
 * exclusives that does the same. All three libraries write it alike, by the symbol's address in an
 * ADRP and the load that follows (libgcc/config/aarch64/lse.S of gcc 10 to 15,
 * compiler-rt/lib/builtins/aarch64/lse.S, compiler_builtins' aarch64_outline_atomics.rs): none goes
 * through the global offset table, since the byte is hidden.
 */
#include "outline.h"

#include <string.h>

/* How far a body has been read. */
struct body {
	const uint32_t *words;
	size_t count;
	uint64_t address; /* of words[0] */
	size_t at;        /* the word that comes next */
};

struct pattern {
	uint32_t mask, value;
};

static const struct pattern ret = { 0xffffffff, 0xd65f03c0 };

static bool is(uint32_t word, struct pattern pattern)
{
	return (word & pattern.mask) == pattern.value;
}

/* The word that comes next; behind the end 0, which is no instruction that anything matches. */
static uint32_t peek(const struct body *body)
{
	return body->at < body->count ? body->words[body->at] : 0;
}

/* Goes on behind the next word if that is of the pattern. */
static bool take(struct body *body, struct pattern pattern)
{
	if (!is(peek(body), pattern))
		return false;
	body->at++;
	return true;
}

/* Whether one word, which has been read or comes next, branches to another. */
static bool branches(const struct body *body, size_t from, size_t to)
{
	uint64_t target;
	return from < body->count &&
	       a64_branch_target(body->words[from], body->address + from * 4, &target) &&
	       target == body->address + to * 4;
}

/* ADRP, LDRB and CBZ of one register; the CBZ goes behind the two words after it. */
static bool match_test(struct body *body, uint64_t *flag)
{
	unsigned reg;
	uint64_t page;
	if (!a64_adrp(peek(body), body->address + body->at * 4, &reg, &page))
		return false;
	body->at++;
	*flag = page + (peek(body) >> 10 & 0xfff);
	if (!take(body, (struct pattern){ 0xffc003ff, 0x39400000 | reg << 5 | reg }))
		return false;
	return branches(body, body->at, body->at + 3) &&
	       take(body, (struct pattern){ 0xff00001f, 0x34000000 | reg });
}

/* What prepares and makes up the operation: arithmetic, logic, comparisons and selections of
 * registers; extensions. */
static bool is_plain(uint32_t word)
{
	static const struct pattern classes[] = {
		{ 0x1e000000, 0x0a000000 }, /* logical, add, subtract: registers */
		{ 0x1f800000, 0x13000000 }, /* bitfields: UXTB UXTH */
		{ 0x3fe00c10, 0x3a400000 }, /* CCMP of registers */
		{ 0x7fe00c00, 0x1a800000 }, /* CSEL */
	};
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (is(word, classes[i]))
			return true;
	return false;
}

/* Whether a word between the exclusives does what the LSE instruction does. */
static bool is_operation(uint32_t word, enum a64_family family)
{
	static const struct pattern operations[A64_FAMILIES] = {
		[A64_cas] = { 0x7f00001f, 0x6b00001f }, /* CMP */
		[A64_casp] = { 0x7f00001f, 0x6b00001f },
		[A64_ldadd] = { 0x7f200000, 0x0b000000 }, /* ADD */
		[A64_ldclr] = { 0x7f200000, 0x0a200000 }, /* BIC */
		[A64_ldeor] = { 0x7f200000, 0x4a000000 }, /* EOR */
		[A64_ldset] = { 0x7f200000, 0x2a000000 }, /* ORR */
	};
	return operations[family].mask != 0 && is(word, operations[family]);
}

/* Goes on behind the next word if that is an exclusive of the kind, of the LSE instruction's size
 * and base. */
static bool take_exclusive(struct body *body, enum a64_kind kind, const struct a64_atomic *lse,
        struct a64_atomic *exclusive)
{
	if (!a64_decode(peek(body), exclusive) || exclusive->kind != kind ||
	        exclusive->size != lse->size || exclusive->pair != lse->pair ||
	        exclusive->rn != lse->rn)
		return false;
	body->at++;
	return true;
}

/* From the load-exclusive to the way back to it. leave: the word that leaves the loop before the
 * store, 0 where none does. */
static bool match_loop(struct body *body, const struct a64_atomic *lse, size_t *leave)
{
	static const struct pattern b_ne = { 0xff00001f, 0x54000001 };
	size_t start = body->at;
	bool operates = lse->family == A64_swp;
	struct a64_atomic load, store;
	*leave = 0;
	if (!take_exclusive(body, A64_LOAD_EXCLUSIVE, lse, &load))
		return false;
	for (; is_plain(peek(body)) || is(peek(body), b_ne); body->at++) {
		operates = operates || is_operation(peek(body), lse->family);
		if (is(peek(body), b_ne))
			*leave = body->at;
	}
	return operates && take_exclusive(body, A64_STORE_EXCLUSIVE, lse, &store) &&
	       branches(body, body->at, start) &&
	       take(body, (struct pattern){ 0xff00001f, 0x35000000 | store.rs });
}

/* What is done without FEAT_LSE: moves, the loop, for __sync builtins a barrier, RET. */
static bool match_exclusives(struct body *body, const struct a64_atomic *lse)
{
	static const struct pattern dmb_ish = { 0xffffffff, 0xd5033bbf };
	size_t leave;
	while (is_plain(peek(body)))
		body->at++;
	if (!match_loop(body, lse, &leave))
		return false;
	size_t end = body->at;
	take(body, dmb_ish);
	return take(body, ret) && (leave == 0 || branches(body, leave, end));
}

bool outline_match(
        const uint32_t *words, size_t count, uint64_t address, struct outline_helper *helper)
{
	static const struct pattern bti_c = { 0xffffff7f, 0xd503245f }; /* or BTI JC */
	struct body body = { .words = words, .count = count, .address = address };
	struct outline_helper found = { .address = address, .exclusives = 2 };
	if (!outline_may_begin(peek(&body)))
		return false;
	take(&body, bti_c);
	if (!match_test(&body, &found.flag))
		return false;
	if (!a64_decode(peek(&body), &found.atomic) || found.atomic.kind != A64_LSE)
		return false;
	body.at++;
	if (!take(&body, ret) || !match_exclusives(&body, &found.atomic))
		return false;
	found.words = (unsigned)body.at;
	*helper = found;
	return true;
}

/* The length of the first of the texts that text begins with, 0 where it does with none. */
static size_t one_of(const char *text, const char *const texts[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(text, texts[i], strlen(texts[i])) == 0)
			return strlen(texts[i]);
	return 0;
}

/* The characters of a helper's name at the start of text, 0 if it does not begin with one. */
static size_t name_length(const char *text)
{
	static const char prefix[] = "__aarch64_";
	static const char *const operations[] = { "cas", "swp", "ldadd", "ldclr", "ldeor",
		"ldset" };
	static const char *const sizes[] = { "16_", "1_", "2_", "4_", "8_" };
	/* The longest first. */
	static const char *const orderings[] = { "acq_rel", "acq", "relax", "rel", "sync" };
	const char *at = text;
	size_t length = strlen(prefix);
	if (strncmp(at, prefix, length) != 0)
		return 0;
	at += length;
	if ((length = one_of(at, operations, 6)) == 0)
		return 0;
	bool is_cas = at[0] == 'c';
	at += length;
	if ((length = one_of(at, sizes, 5)) == 0 || (length == 3 && !is_cas))
		return 0;
	at += length;
	if ((length = one_of(at, orderings, 5)) == 0)
		return 0;
	return (size_t)(at - text) + length;
}

/* Compilers append a dot and more to the name of a part or a copy. Mangled by Rust, a name stands
 * behind its length, in decimal; the newer scheme puts an underscore before one that begins with
 * one (RFC 2603). */
bool outline_is_name(const char *symbol)
{
	size_t length = name_length(symbol);
	if (length != 0)
		return symbol[length] == '\0' || symbol[length] == '.';
	if (strncmp(symbol, "_ZN", 3) != 0 && strncmp(symbol, "_R", 2) != 0)
		return false;
	const char *name = strstr(symbol, "__aarch64_");
	if (name == NULL)
		return false;
	length = name_length(name);
	const char *digits = name[-1] == '_' ? name - 1 : name;
	return length >= 10 && digits[-1] == (char)('0' + length % 10) &&
	       digits[-2] == (char)('0' + length / 10);
}
