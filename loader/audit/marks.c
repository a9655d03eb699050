/*
 * A block's marks are final once the one behind it has been searched: no literal and no conditional
 * branch goes further.
 */
#include "marks.h"

#include "probes/a64.h"

#define ADR_MASK     0x9f000000u
#define ADR          0x10000000u
#define LITERAL_MASK 0x3b000000u /* LDR, LDRSW, PRFM of a literal */
#define LITERAL      0x18000000u

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

/* What the marks of so many words take. */
static size_t bytes_of(uint64_t words)
{
	return (words + 63) / 64 * sizeof(uint64_t);
}

static void mark_code(struct marker *marker, uint64_t block)
{
	uint64_t left = marker->words.count - block * BLOCK_WORDS;
	uint64_t count = left < BLOCK_WORDS ? left : BLOCK_WORDS;
	uint64_t *code = marker_bits(marker, MARK_CODE, block);
	mark_functions(marker, block);
	if (marker->by_coverage) {
		memcpy(code, marker_bits(marker, MARK_PROVED, block), bytes_of(count));
		return;
	}
	fill(code, 0, count, true);
	unmark_data(marker, block);
	if (marker->relocatable)
		memcpy(marker_bits(marker, MARK_PROVED, block), code, bytes_of(count));
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

/* Of the words that load literals or make addresses. Places are relative to the piece: what lies
 * before it becomes very large. */
static void search_data(struct marker *marker, uint64_t word)
{
	uint64_t target;
	unsigned size;
	if ((marker->words.words[word] & ADR_MASK) == ADR) {
		mark_table(marker, word);
	} else if (a64_literal(marker->words.words[word], word * 4, &target, &size)) {
		for (unsigned at = 0; at < size; at += 4)
			set(marker, MARK_LITERAL, target / 4 + at / 4);
	}
}

static void search_branch(struct marker *marker, uint64_t word)
{
	uint64_t target;
	if (!a64_branch_target(marker->words.words[word], word * 4, &target))
		return;
	uint64_t distance = target / 4 > word ? target / 4 - word : word - target / 4;
	if (distance <= BLOCK_WORDS)
		set(marker, MARK_ENTERED, target / 4);
}

/* Whether a chunk has words that search_data looks for. Without branches, so that compilers make
 * vectors of it. */
static bool is_worth_a_look(const uint32_t *words)
{
	uint32_t found = 0;
	for (unsigned i = 0; i < CHUNK_WORDS; i++)
		found |= ((words[i] & LITERAL_MASK) == LITERAL) | ((words[i] & ADR_MASK) == ADR);
	return found != 0;
}

static void search_block(struct marker *marker, uint64_t block, enum mark mark)
{
	const uint64_t *code = marker_bits(marker, MARK_CODE, block);
	uint64_t start = block * BLOCK_WORDS, end = start + BLOCK_WORDS;
	void (*search)(struct marker *, uint64_t) =
	        mark == MARK_LITERAL ? search_data : search_branch;
	if (end > marker->words.count)
		end = marker->words.count;
	for (uint64_t at = start; at < end; at += CHUNK_WORDS) {
		uint64_t to = at + CHUNK_WORDS < end ? at + CHUNK_WORDS : end;
		uint64_t bits = code[(at - start) / CHUNK_WORDS];
		if (bits == 0 || (mark == MARK_LITERAL && to - at == CHUNK_WORDS &&
		                         !is_worth_a_look(marker->words.words + at)))
			continue;
		for (uint64_t word = at; word < to; word++)
			if (bits >> (word - at) & 1)
				search(marker, word);
	}
}

void marker_start(struct marker *marker, const struct code_words *words)
{
	const struct audit_symbols *symbols = marker->symbols;
	/* Objects may have very many pieces of a few words: only what was used is cleared. */
	if (marker->words.count > BLOCK_WORDS)
		memset(marker->ring, 0, sizeof(marker->ring));
	for (int mark = 0; mark < MARKS && marker->words.count <= BLOCK_WORDS; mark++)
		memset(marker->ring[0].bits[mark], 0, bytes_of(marker->words.count));
	marker->words = *words;
	marker->coded = 0;
	memset(marker->searched, 0, sizeof(marker->searched));
	while (marker->mark < symbols->mark_count &&
	        symbols->marks[marker->mark] / 2 < words->address)
		marker->mark++;
}

void marker_mark_code(struct marker *marker, uint64_t block)
{
	for (; marker->coded <= block + 1; marker->coded++) {
		/* The furthest slot that this block's search may reach. */
		if ((marker->coded + 2) * BLOCK_WORDS < marker->words.count)
			memset(&marker->ring[(marker->coded + 2) % MARKED_BLOCKS], 0,
			        sizeof(struct block));
		if (marker->coded * BLOCK_WORDS < marker->words.count)
			mark_code(marker, marker->coded);
	}
}

void marker_search(struct marker *marker, uint64_t block, enum mark mark)
{
	uint64_t next = block == 0 ? 0 : block - 1;
	if (next < marker->searched[mark])
		next = marker->searched[mark];
	for (; next <= block + 1; next++)
		if (next * BLOCK_WORDS < marker->words.count)
			search_block(marker, next, mark);
	marker->searched[mark] = next;
}
