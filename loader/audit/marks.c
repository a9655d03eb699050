/*
 * A block's marks are final once the one behind it has been searched: no literal and no conditional
 * branch goes further.
 */
#include "marks.h"

#include "probes/a64.h"

/* Looked through behind an ADR for a load by the address it made. */
#define ADR_REACH 8

static void set(struct marker *marker, enum mark mark, uint64_t word)
{
	uint64_t in_block = word % BLOCK_WORDS;
	if (word < marker->words.count)
		marker_bits(marker, mark, word / BLOCK_WORDS)[in_block / 64] |= UINT64_C(1)
		                                                                << in_block % 64;
}

/* Sets or clears the marks of words of one block. */
static void fill(uint64_t *bits, uint64_t from, uint64_t to, bool on)
{
	while (from < to) {
		uint64_t count = 64 - from % 64 < to - from ? 64 - from % 64 : to - from;
		uint64_t mask = (count == 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1)
		                << from % 64;
		if (on)
			bits[from / 64] |= mask;
		else
			bits[from / 64] &= ~mask;
		from += count;
	}
}

/* The word that holds an address, or the next one if up, within a block. */
static uint64_t word_in_block(
        const struct marker *marker, uint64_t block, uint64_t address, bool up)
{
	uint64_t start = marker->words.address + block * BLOCK_WORDS * 4;
	if (address <= start)
		return 0;
	uint64_t word = (address - start + (up ? 3 : 0)) / 4;
	return word < BLOCK_WORDS ? word : BLOCK_WORDS;
}

/* Where a block's last word ends. */
static uint64_t block_end(const struct marker *marker, uint64_t block)
{
	uint64_t words = (block + 1) * BLOCK_WORDS;
	return marker->words.address +
	       4 * (words < marker->words.count ? words : marker->words.count);
}

static void mark_functions(struct marker *marker, uint64_t block)
{
	uint64_t start = marker->words.address + block * BLOCK_WORDS * 4;
	uint64_t end = block_end(marker, block);
	struct code_range *function = &marker->function;
	uint64_t *bits = marker_bits(marker, MARK_PROVED, block);
	for (;;) {
		if (function->end > start && function->start < end)
			fill(bits, word_in_block(marker, block, function->start, true),
			        word_in_block(marker, block, function->end, false), true);
		if (function->end > end || function->start >= end)
			return;
		if (!coverage_next(marker->coverage, function)) {
			*function = (struct code_range){ UINT64_MAX, UINT64_MAX };
			return;
		}
	}
}

/* Clears the code marks of what mapping symbols call data. A section begins with code. */
static void unmark_data(struct marker *marker, uint64_t block)
{
	const struct audit_symbols *symbols = marker->symbols;
	uint64_t end = block_end(marker, block);
	uint64_t *bits = marker_bits(marker, MARK_CODE, block);
	size_t at = marker->mark;
	for (; at < symbols->mark_count && symbols->marks[at] / 2 < end; at++) {
		if (symbols->marks[at] % 2 == 1)
			continue;
		size_t next = at + 1;
		while (next < symbols->mark_count && symbols->marks[next] % 2 == 0)
			next++;
		uint64_t until = next < symbols->mark_count ? symbols->marks[next] / 2 : UINT64_MAX;
		fill(bits, word_in_block(marker, block, symbols->marks[at] / 2, false),
		        word_in_block(marker, block, until, true), false);
		if (until >= end)
			break;
		at = next - 1;
	}
	marker->mark = at;
}

static void mark_code(struct marker *marker, uint64_t block)
{
	uint64_t left = marker->words.count - block * BLOCK_WORDS;
	uint64_t *code = marker_bits(marker, MARK_CODE, block);
	mark_functions(marker, block);
	if (marker->by_coverage) {
		memcpy(code, marker_bits(marker, MARK_PROVED, block), BLOCK_WORDS / 8);
		return;
	}
	fill(code, 0, left < BLOCK_WORDS ? left : BLOCK_WORDS, true);
	unmark_data(marker, block);
	if (marker->relocatable)
		memcpy(marker_bits(marker, MARK_PROVED, block), code, BLOCK_WORDS / 8);
}

/* The bytes of what a load by a base reads, and whether an index is added to it; 0 if the word is
 * no such load. "Load/store register (unsigned immediate)", "(register offset)". */
static unsigned load_size(uint32_t word, unsigned base, uint64_t *offset, bool *indexed)
{
	if ((word >> 5 & 31) != base || (word & 0x00c00000) == 0)
		return 0;
	unsigned size = (word & 0xc4800000) == 0x04800000 ? 16 : 1u << (word >> 30);
	*indexed = (word & 0x3b200c00) == 0x38200800;
	*offset = *indexed ? 0 : (uint64_t)(word >> 10 & 0xfff) * size;
	return *indexed || (word & 0x3b000000) == 0x39000000 ? size : 0;
}

/* How many entries a table has: its index was compared with the last one's. */
static uint64_t table_entries(const struct marker *marker, uint64_t load)
{
	for (uint64_t i = load; i > 0 && load - i < 2 * ADR_REACH; i--) {
		uint32_t word = marker->words.words[i - 1];
		if ((word & 0x7fc0001f) == 0x7100001f) /* CMP with an immediate */
			return (word >> 10 & 0xfff) + 1;
	}
	return 1;
}

/* A table or a literal that code loads from by an address that ADR made: it is no code. */
static void mark_table(struct marker *marker, uint64_t adr)
{
	uint32_t word = marker->words.words[adr];
	unsigned rd = word & 31;
	uint64_t sign = UINT64_C(1) << 20;
	uint64_t distance = ((word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3));
	uint64_t target = adr * 4 + ((distance ^ sign) - sign);
	for (uint64_t i = adr + 1; i < marker->words.count && i <= adr + ADR_REACH; i++) {
		uint64_t offset;
		bool indexed;
		uint64_t size = load_size(marker->words.words[i], rd, &offset, &indexed);
		if (size != 0 && indexed)
			size *= table_entries(marker, i);
		for (uint64_t at = 0; at < size; at++)
			set(marker, MARK_LITERAL, (target + offset + at) / 4);
		if (size != 0 || (marker->words.words[i] & 31) == rd)
			return;
	}
}

static void search_word(struct marker *marker, uint64_t word)
{
	uint32_t bits = marker->words.words[word];
	uint64_t target;
	unsigned size;
	/* Addresses relative to the piece: what lies before it becomes very large. */
	if (a64_literal(bits, word * 4, &target, &size)) {
		for (unsigned at = 0; at < size; at += 4)
			set(marker, MARK_LITERAL, target / 4 + at / 4);
	} else if ((bits & 0x9f000000) == 0x10000000) {
		mark_table(marker, word);
	} else if (a64_branch_target(bits, word * 4, &target)) {
		uint64_t distance = target / 4 > word ? target / 4 - word : word - target / 4;
		if (distance <= BLOCK_WORDS)
			set(marker, MARK_ENTERED, target / 4);
	}
}

/* By the highest byte: literal loads, ADR, branches that are no calls. */
static bool is_searched(uint32_t word)
{
	static const uint8_t searched[256] = {
		[0x18] = 1,
		[0x1c] = 1,
		[0x58] = 1,
		[0x5c] = 1,
		[0x98] = 1,
		[0x9c] = 1,
		[0xd8] = 1,
		[0x10] = 1,
		[0x30] = 1,
		[0x50] = 1,
		[0x70] = 1,
		[0x14] = 1,
		[0x15] = 1,
		[0x16] = 1,
		[0x17] = 1,
		[0x54] = 1,
		[0x34] = 1,
		[0x35] = 1,
		[0x36] = 1,
		[0x37] = 1,
		[0xb4] = 1,
		[0xb5] = 1,
		[0xb6] = 1,
		[0xb7] = 1,
		[0x74] = 1,
		[0x75] = 1,
		[0xf4] = 1,
		[0xf5] = 1,
	};
	return searched[word >> 24];
}

static void search_block(struct marker *marker, uint64_t block)
{
	const uint32_t *words = marker->words.words + block * BLOCK_WORDS;
	const uint64_t *code = marker_bits(marker, MARK_CODE, block);
	uint64_t left = marker->words.count - block * BLOCK_WORDS;
	uint64_t count = left < BLOCK_WORDS ? left : BLOCK_WORDS;
	for (uint64_t i = 0; i < count; i++) {
		if (i % 64 == 0 && code[i / 64] == 0)
			i += 63;
		else if (is_searched(words[i]) && code[i / 64] >> i % 64 & 1)
			search_word(marker, block * BLOCK_WORDS + i);
	}
}

void marker_start(struct marker *marker, const struct code_words *words)
{
	const struct audit_symbols *symbols = marker->symbols;
	marker->words = *words;
	marker->coded = marker->searched = 0;
	while (marker->mark < symbols->mark_count &&
	        symbols->marks[marker->mark] / 2 < words->address)
		marker->mark++;
	memset(marker->ring, 0, sizeof(marker->ring));
}

void marker_mark_code(struct marker *marker, uint64_t block)
{
	for (; marker->coded <= block + 1; marker->coded++) {
		/* The slot that this block's search may reach the furthest. */
		memset(&marker->ring[(marker->coded + 2) % MARKED_BLOCKS], 0, sizeof(struct block));
		if (marker->coded * BLOCK_WORDS < marker->words.count)
			mark_code(marker, marker->coded);
	}
}

void marker_search(struct marker *marker, uint64_t block)
{
	uint64_t next = block == 0 ? 0 : block - 1;
	if (next < marker->searched)
		next = marker->searched;
	for (; next <= block + 1; next++)
		if (next * BLOCK_WORDS < marker->words.count)
			search_block(marker, next);
	marker->searched = next;
}
