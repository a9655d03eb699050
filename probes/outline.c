/*
 * Matches the whole of a helper's body: the test of the flag, the LSE instruction, and the loop of
 * exclusives that does the same.
 */
#include "outline.h"

#include <string.h>

#define RET 0xd65f03c0u

/* What is known of a body so far. */
struct body {
	const uint32_t *words;
	size_t count;
	uint64_t address; /* of words[0] */
	size_t at;        /* the word that comes next */
};

/* A landing pad for indirect calls, which linkers' veneers may make: BTI, any kind; PACIASP is
 * none of a leaf's. */
static bool is_landing_pad(uint32_t word)
{
	return (word & 0xffffff3f) == 0xd503241f;
}

/* ADRP, LDRB, CBZ of one register: sets the flag's address, and the word that the CBZ goes to. */
static bool match_test(struct body *body, uint64_t *flag, size_t *otherwise)
{
	const uint32_t *words = body->words + body->at;
	uint64_t address = body->address + body->at * 4, page, target;
	unsigned base;
	if (body->count - body->at < 5 || !a64_adrp(words[0], address, &base, &page))
		return false;
	unsigned loaded = words[1] & 31;
	if ((words[1] & 0xffc00000) != 0x39400000 || (words[1] >> 5 & 31) != base ||
	        (words[2] & 0xff00001f) != (0x34000000 | loaded) ||
	        !a64_branch_target(words[2], address + 8, &target))
		return false;
	*flag = page + (words[1] >> 10 & 0xfff);
	*otherwise = (size_t)(target - body->address) / 4;
	body->at += 3;
	return target > address + 8;
}

/* What may stand between exclusives: moves between registers, extensions, arithmetic and logic of
 * registers, comparisons, selections, barriers. */
static bool is_plain(uint32_t word)
{
	static const uint32_t classes[][2] = {
		{ 0x1e000000, 0x0a000000 }, /* logical, add, subtract: registers */
		{ 0x1f800000, 0x13000000 }, /* bitfields: UXTB UXTH */
		{ 0x1f800000, 0x12000000 }, /* logical, immediate */
		{ 0x3fe00000, 0x3a400000 }, /* conditional compare */
		{ 0x1fe00000, 0x1a800000 }, /* conditional select */
		{ 0xfffff0ff, 0xd50330bf }, /* DMB */
	};
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if ((word & classes[i][0]) == classes[i][1])
			return true;
	return false;
}

/* The exclusives of a helper are of its LSE instruction's size and base. */
static bool agrees(const struct a64_atomic *exclusive, const struct a64_atomic *lse)
{
	return exclusive->kind != A64_LSE && exclusive->size == lse->size &&
	       exclusive->pair == lse->pair && exclusive->rn == lse->rn;
}

/* From the loop's preparation to RET: one load-exclusive, then one store-exclusive; branches stay
 * inside. */
static bool match_loop(struct body *body, struct outline_helper *helper)
{
	size_t start = body->at, furthest = start;
	unsigned loads = 0, stores = 0;
	for (; body->at < body->count && body->at < start + 24; body->at++) {
		uint32_t word = body->words[body->at];
		struct a64_atomic exclusive;
		uint64_t target;
		if (word == RET) {
			body->at++;
			helper->exclusives = loads + stores;
			return loads == 1 && stores == 1 && furthest < body->at;
		}
		if (a64_decode(word, &exclusive)) {
			if (!agrees(&exclusive, &helper->atomic))
				return false;
			loads += exclusive.kind == A64_LOAD_EXCLUSIVE;
			stores += exclusive.kind == A64_STORE_EXCLUSIVE;
		} else if (a64_branch_target(word, body->at, &target)) {
			(void)target;
		} else if (!is_plain(word)) {
			return false;
		}
	}
	return false;
}

bool outline_match(
        const uint32_t *words, size_t count, uint64_t address, struct outline_helper *helper)
{
	struct body body = { .words = words, .count = count, .address = address };
	size_t otherwise;
	if (count == 0)
		return false;
	body.at = is_landing_pad(words[0]);
	if (!match_test(&body, &helper->flag, &otherwise) || body.count - body.at < 2)
		return false;
	if (!a64_decode(words[body.at], &helper->atomic) || helper->atomic.kind != A64_LSE ||
	        words[body.at + 1] != RET || otherwise != body.at + 2)
		return false;
	body.at += 2;
	if (!match_loop(&body, helper))
		return false;
	helper->address = address;
	helper->words = (unsigned)body.at;
	return true;
}

/* __aarch64_ OPERATION SIZE _ ORDERING */
bool outline_is_name(const char *symbol)
{
	static const char prefix[] = "__aarch64_";
	static const char *const operations[] = { "casp", "cas", "swp", "ldadd", "ldclr", "ldeor",
		"ldset" };
	static const char *const orderings[] = { "relax", "acq", "rel", "acq_rel", "sync" };
	if (strncmp(symbol, prefix, sizeof(prefix) - 1) != 0)
		return false;
	const char *rest = symbol + sizeof(prefix) - 1;
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		size_t length = strlen(operations[i]);
		if (strncmp(rest, operations[i], length) != 0)
			continue;
		size_t digits = strspn(rest + length, "124680");
		if (digits == 0 || rest[length + digits] != '_')
			continue;
		for (size_t k = 0; k < sizeof(orderings) / sizeof(orderings[0]); k++)
			if (strcmp(rest + length + digits + 1, orderings[k]) == 0)
				return true;
	}
	return false;
}
