/*
 * One pass over the code finds bodies of helpers by their shape, and everything that may be a
 * veneer; then names add those that have no LSE body, and veneers that go elsewhere are dropped.
 *
 * Veneers: GNU ld's and gold's bfd/elfnn-aarch64.c, lld's ELF/Thunks.cpp, mold's.
 */
#include "helpers.h"

#include <stdlib.h>

#include "code_words.h"
#include "rows.h"
#include "probes/outline.h"

#define ADRP_MASK    0x9f000000u
#define ADRP         0x90000000u
#define LDRB_MASK    0xffc00000u /* ldrb wD, [xN, #N] */
#define LDRB         0x39400000u
#define CBZ_MASK     0xff000000u /* cbz wN, ADDRESS */
#define CBZ          0x34000000u
#define BTI_C_MASK   0xffffff7fu /* BTI JC too */
#define BTI_C        0xd503245fu
#define ADD_X16_MASK 0xffc003ffu /* add x16, x16, #N */
#define ADD_X16      0x91000210u
#define BR_X16       0xd61f0200u
#define LDR_X16_8    0x58000050u /* ldr x16, 8 bytes on */
#define LDR_X16_16   0x58000090u
#define ADR_X17_0    0x10000011u
#define ADD_X16_X17  0x8b110210u
#define RET          0xd65f03c0u

/* A helper without a size ends by its RET, this many words on at most. */
#define MOST_WORDS 64

struct veneer {
	uint64_t address, target;
};

struct finder {
	struct helpers *helpers;
	const struct code *code;
	struct veneer *veneers;
	size_t veneer_count;
};

static void add_helper(struct helpers *helpers, const struct helper *helper)
{
	helpers->list = audit_grow(helpers->list, helpers->count, sizeof(*helpers->list));
	helpers->list[helpers->count++] = *helper;
}

static void add_veneer(struct finder *finder, uint64_t address, uint64_t target)
{
	if (code_piece(finder->code, target) == NULL)
		return;
	finder->veneers =
	        audit_grow(finder->veneers, finder->veneer_count, sizeof(*finder->veneers));
	finder->veneers[finder->veneer_count++] = (struct veneer){ address, target };
}

static uint64_t long_at(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

/* A veneer that begins with words[0], count words being there. */
static void take_veneer(
        struct finder *finder, const uint32_t *words, uint64_t count, uint64_t address)
{
	unsigned rd;
	uint64_t page;
	if (count >= 3 && (words[1] & ADD_X16_MASK) == ADD_X16 && words[2] == BR_X16 &&
	        a64_adrp(words[0], address, &rd, &page))
		add_veneer(finder, address, page + (words[1] >> 10 & 0xfff));
	else if (count >= 4 && words[0] == LDR_X16_8 && words[1] == BR_X16)
		add_veneer(finder, address, long_at(words + 2));
	else if (count >= 6 && words[0] == LDR_X16_16 && words[1] == ADR_X17_0 &&
	         words[2] == ADD_X16_X17 && words[3] == BR_X16)
		add_veneer(finder, address, address + 4 + long_at(words + 4));
}

static void take_helper(
        struct finder *finder, const uint32_t *words, uint64_t count, uint64_t address)
{
	struct outline_helper found;
	if (!outline_match(words, count, address, &found))
		return;
	struct helper helper = { address, address + found.words * 4, found.flag, true };
	add_helper(finder->helpers, &helper);
}

/* Whether one of the words of a chunk, one more being there, may be the second of a helper's or the
 * last of a veneer's. Without branches, so that compilers make vectors of it. */
static bool is_worth_a_look(const uint32_t *words)
{
	uint32_t found = 0;
	for (unsigned i = 0; i < CHUNK_WORDS; i++) {
		uint32_t test = (words[i] & LDRB_MASK) == LDRB;
		test &= (words[i + 1] & CBZ_MASK) == CBZ;
		found |= test | (words[i] == BR_X16);
	}
	return found != 0;
}

/* Of a helper words[i] is the LDRB, of a veneer the BR. */
static void search_word(struct finder *finder, const struct code_words *words, uint64_t i)
{
	const uint32_t *word = words->words + i;
	if ((*word & LDRB_MASK) == LDRB && i > 0 && (word[-1] & ADRP_MASK) == ADRP) {
		uint64_t back = i > 1 && (word[-2] & BTI_C_MASK) == BTI_C ? 2 : 1;
		take_helper(finder, word - back, words->count - i + back,
		        words->address + (i - back) * 4);
	}
	for (uint64_t back = 1; *word == BR_X16 && back <= 3 && back <= i; back++)
		take_veneer(finder, word - back, words->count - i + back,
		        words->address + (i - back) * 4);
}

static void search_words(struct finder *finder, const struct code_words *words)
{
	for (uint64_t at = 0; at < words->count; at += CHUNK_WORDS) {
		uint64_t left = words->count - at;
		if (at % WORDS_RELEASED == 0 && at != 0)
			map_release((const unsigned char *)(words->words + at - WORDS_RELEASED),
			        WORDS_RELEASED * 4);
		if (left > CHUNK_WORDS && !is_worth_a_look(words->words + at))
			continue;
		for (uint64_t i = at; i < words->count && i < at + CHUNK_WORDS; i++)
			search_word(finder, words, i);
	}
}

static int by_address(const void *left, const void *right)
{
	const struct helper *a = left, *b = right;
	return (a->address > b->address) - (a->address < b->address);
}

static int by_entrance(const void *left, const void *right)
{
	const struct entrance *a = left, *b = right;
	return (a->address > b->address) - (a->address < b->address);
}

/* Where a helper without an LSE body ends. */
static uint64_t find_end(
        const struct image *image, const struct code *code, const struct helper_symbol *symbol)
{
	const struct piece *piece = code_piece(code, symbol->address);
	struct code_words words = code_words(image, piece);
	uint64_t rest = piece->address + piece->size - symbol->address;
	if (symbol->size != 0 && symbol->size <= rest)
		return symbol->address + symbol->size;
	uint64_t first = (symbol->address - words.address) / 4;
	for (uint64_t i = first; i < words.count && i < first + MOST_WORDS; i++)
		if (words.words[i] == RET)
			return words.address + (i + 1) * 4;
	return symbol->address + 4;
}

static void add_named(struct helpers *helpers, const struct image *image, const struct code *code,
        const struct audit_symbols *symbols)
{
	size_t by_shape = helpers->count;
	for (size_t i = 0; i < symbols->helper_count; i++) {
		const struct helper_symbol *symbol = &symbols->helpers[i];
		struct helpers shaped = { .list = helpers->list, .count = by_shape };
		if (symbol->address % 4 != 0 || helpers_at(&shaped, symbol->address) != NULL)
			continue;
		struct helper helper = { symbol->address, find_end(image, code, symbol), 0, false };
		add_helper(helpers, &helper);
	}
	if (helpers->count != 0)
		qsort(helpers->list, helpers->count, sizeof(*helpers->list), by_address);
}

static void add_entrance(struct helpers *helpers, uint64_t address, bool reads_flag)
{
	helpers->entrances = audit_grow(
	        helpers->entrances, helpers->entrance_count, sizeof(*helpers->entrances));
	helpers->entrances[helpers->entrance_count++] = (struct entrance){ address, reads_flag };
}

/* A call may go to a helper's landing pad or behind it. */
static void add_entrances(struct finder *finder)
{
	struct helpers *helpers = finder->helpers;
	for (size_t i = 0; i < helpers->count; i++)
		add_entrance(helpers, helpers->list[i].address, helpers->list[i].reads_flag);
	for (size_t i = 0; i < finder->veneer_count; i++) {
		const struct helper *helper = helpers_at(helpers, finder->veneers[i].target);
		if (helper != NULL && helper->address == finder->veneers[i].target)
			add_entrance(helpers, finder->veneers[i].address, helper->reads_flag);
	}
	if (helpers->entrance_count != 0)
		qsort(helpers->entrances, helpers->entrance_count, sizeof(*helpers->entrances),
		        by_entrance);
}

void helpers_find(struct helpers *helpers, const struct image *image, const struct code *code,
        const struct audit_symbols *symbols)
{
	*helpers = (struct helpers){ 0 };
	struct finder finder = { .helpers = helpers, .code = code };
	for (size_t i = 0; i < code->count; i++) {
		struct code_words words = code_words(image, &code->pieces[i]);
		search_words(&finder, &words);
	}
	add_named(helpers, image, code, symbols);
	add_entrances(&finder);
	free(finder.veneers);
}

void helpers_free(struct helpers *helpers)
{
	free(helpers->list);
	free(helpers->entrances);
	*helpers = (struct helpers){ 0 };
}

const struct helper *helpers_at(const struct helpers *helpers, uint64_t address)
{
	size_t low = 0, high = helpers->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct helper *helper = &helpers->list[middle];
		if (address >= helper->address && address < helper->end)
			return helper;
		if (address < helper->address)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}
