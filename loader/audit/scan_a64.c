/*
 * Counts AArch64's atomics: one pass finds the helpers, one counts, block by block, with the marks
 * of the blocks around it.
 */
#include "scan.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "helpers.h"
#include "marks.h"
#include "probes/a64.h"
#include "probes/exclusive_loop.h"
#include "relocations.h"
#include "rows.h"

enum left {
#define LEFT(name, text) LEFT_##name,
#include "probes/atomics_left.def"
	LEFT_COUNT
};

struct scan {
	struct audit_file *row;
	struct helpers helpers;
	struct marker *marker;
	uint64_t switchable, rewritable;
	uint64_t left[LEFT_COUNT]; /* sites that a trampoline cannot be made for */
	uint64_t bound_calls;      /* of helpers that read no flag */
	uint64_t doubtful;         /* atomics of what was not taken for code */
	uint64_t literals;         /* that look like atomics */
	uint64_t block;            /* that is being counted */
	uint64_t loop_end;         /* address behind the last loop that was matched */
};

/* The mnemonic with its ordering. */
static void name_atomic(const struct a64_atomic *atomic, char name[24])
{
	if (atomic->kind == A64_LSE)
		snprintf(name, 24, "%s%s%s", a64_family_name(atomic->family),
		        atomic->acquire ? "a" : "", atomic->release ? "l" : "");
	else if (atomic->kind == A64_LOAD_EXCLUSIVE)
		snprintf(name, 24, "ld%sx%c", atomic->acquire ? "a" : "", atomic->pair ? 'p' : 'r');
	else
		snprintf(name, 24, "st%sx%c", atomic->release ? "l" : "", atomic->pair ? 'p' : 'r');
}

static void count_instruction(struct audit_file *row, const struct a64_atomic *atomic, bool outline)
{
	char name[24];
	name_atomic(atomic, name);
	audit_count(row, name, outline);
	if (atomic->kind == A64_LSE)
		*(outline ? &row->lse_outline : &row->lse_inline) += 1;
	else
		*(outline ? &row->llsc_outline : &row->llsc_inline) += 1;
}

/* Whether something outside of a loop branches to a word inside of it. */
static bool is_entered(struct scan *scan, uint64_t start, unsigned words)
{
	marker_search(scan->marker, scan->block, MARK_ENTERED);
	const uint32_t *code = scan->marker->words.words;
	for (uint64_t word = start + 1; word < start + words; word++) {
		bool from_inside = false;
		if (!marker_has(scan->marker, MARK_ENTERED, word))
			continue;
		for (uint64_t from = start; from < start + words && !from_inside; from++) {
			uint64_t target;
			from_inside = a64_branch_target(code[from], from * 4, &target) &&
			              target == word * 4;
		}
		if (!from_inside)
			return true;
	}
	return false;
}

static bool all_proved(struct scan *scan, uint64_t start, unsigned words)
{
	for (uint64_t word = start; word < start + words; word++)
		if (!marker_has(scan->marker, MARK_PROVED, word) ||
		        marker_has(scan->marker, MARK_LITERAL, word))
			return false;
	return true;
}

/* A load-exclusive outside of a loop that has been counted: a site of its own. */
static void count_loop(struct scan *scan, uint64_t word)
{
	const struct code_words *words = &scan->marker->words;
	struct exclusive_loop loop = { 0 };
	if (!exclusive_loop_match(&loop, words->words + word, words->count - word)) {
		scan->left[LEFT_shape]++;
		return;
	}
	scan->loop_end = word + loop.words;
	if (!all_proved(scan, word, loop.words))
		scan->left[LEFT_unproved]++;
	else if (is_entered(scan, word, loop.words))
		scan->left[LEFT_entered]++;
	else
		scan->rewritable++;
}

static void count_site(struct scan *scan, const struct a64_atomic *atomic, uint64_t word)
{
	if (atomic->kind == A64_LOAD_EXCLUSIVE && word >= scan->loop_end)
		count_loop(scan, word);
	if (atomic->kind != A64_LSE)
		return;
	if (marker_has(scan->marker, MARK_PROVED, word))
		scan->rewritable++;
	else
		scan->left[LEFT_unproved]++;
}

static void take_atomic(struct scan *scan, uint64_t word)
{
	struct marker *marker = scan->marker;
	uint64_t address = marker->words.address + word * 4;
	struct a64_atomic atomic;
	if (!a64_decode(marker->words.words[word], &atomic))
		return;
	bool outline = helpers_at(&scan->helpers, address) != NULL;
	if (!outline)
		marker_search(marker, scan->block, MARK_LITERAL);
	if (!outline && marker_has(marker, MARK_LITERAL, word)) {
		scan->literals++;
	} else if (!outline && !marker_has(marker, MARK_CODE, word)) {
		scan->doubtful += marker->by_coverage;
	} else {
		count_instruction(scan->row, &atomic, outline);
		if (!outline)
			count_site(scan, &atomic, word);
	}
}

/* B and BL. */
static void take_call(struct scan *scan, uint64_t word)
{
	struct marker *marker = scan->marker;
	uint64_t address = marker->words.address + word * 4, target;
	if (!a64_branch_target(marker->words.words[word], address, &target))
		return;
	const struct entrance *entrance = helpers_entrance(&scan->helpers, target);
	if (entrance == NULL || helpers_at(&scan->helpers, address) != NULL)
		return;
	if (marker_has(marker, MARK_LITERAL, word) ||
	        (!marker->by_coverage && !marker_has(marker, MARK_CODE, word)))
		return;
	scan->row->helper_calls++;
	if (entrance->reads_flag)
		scan->switchable++;
	else
		scan->bound_calls++;
}

/* Whether a chunk holds what may be an atomic, or a branch to one of the entrances, from first
 * words behind the chunk's start on. Without branches, so that compilers make vectors of it. */
static bool is_worth_a_look(const uint32_t *words, uint32_t first, uint32_t span)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < CHUNK_WORDS; i++) {
		uint32_t target = (uint32_t)((int32_t)(words[i] << 6) >> 6) + i;
		uint32_t call = (words[i] & 0x7c000000) == 0x14000000;
		call &= target - first <= span;
		found |= call | ((words[i] & 0x3f000000) == 0x08000000) |
		         ((words[i] & 0x3f200c00) == 0x38200000);
	}
	return found != 0;
}

static void count_words(struct scan *scan, uint64_t from, uint64_t to)
{
	const struct code_words *words = &scan->marker->words;
	bool has_helpers = scan->helpers.count != 0 && !scan->marker->relocatable;
	for (uint64_t word = from; word < to; word++) {
		uint32_t bits = words->words[word];
		if (a64_may_be_atomic(bits))
			take_atomic(scan, word);
		else if (has_helpers && (bits & 0x7c000000) == 0x14000000)
			take_call(scan, word);
	}
}

static void count_block(struct scan *scan, uint64_t block)
{
	const struct code_words *words = &scan->marker->words;
	const struct helpers *helpers = &scan->helpers;
	uint64_t end = (block + 1) * BLOCK_WORDS;
	uint64_t first = 0, span = 0;
	if (end > words->count)
		end = words->count;
	if (helpers->entrance_count != 0) {
		first = (helpers->entrances[0].address - words->address) / 4;
		span = (helpers->entrances[helpers->entrance_count - 1].address -
		               helpers->entrances[0].address) /
		       4;
	}
	if (span > UINT32_MAX)
		span = UINT32_MAX;
	for (uint64_t at = block * BLOCK_WORDS; at < end; at += CHUNK_WORDS) {
		uint64_t to = at + CHUNK_WORDS < end ? at + CHUNK_WORDS : end;
		if (to - at < CHUNK_WORDS ||
		        is_worth_a_look(words->words + at, (uint32_t)(first - at), (uint32_t)span))
			count_words(scan, at, to);
	}
}

static void scan_piece(struct scan *scan, const struct image *image, const struct piece *piece)
{
	struct code_words words = code_words(image, piece);
	if (words.count == 0 && piece->size >= 4) {
		audit_note(scan->row, "%" PRIu64 " bytes of code lie at an odd offset: not read",
		        piece->size);
		scan->row->complete = false;
	}
	marker_start(scan->marker, &words);
	scan->loop_end = 0;
	for (uint64_t block = 0; block * BLOCK_WORDS < words.count; block++) {
		scan->block = block;
		marker_mark_code(scan->marker, block);
		count_block(scan, block);
		if (block > 0)
			map_release(
			        (const unsigned char *)(words.words + (block - 1) * BLOCK_WORDS),
			        BLOCK_WORDS * 4);
	}
	scan->row->code_bytes += words.count * 4;
}

static void judge_flag(struct audit_file *row, const struct helpers *helpers)
{
	for (size_t i = 0; i < helpers->count; i++) {
		const struct helper *helper = &helpers->list[i];
		if (!helper->reads_flag)
			continue;
		if (row->flag == AUDIT_FLAG_NONE) {
			row->flag = AUDIT_FLAG_ONE;
			row->flag_address = helper->flag;
		} else if (helper->flag != row->flag_address) {
			row->flag = AUDIT_FLAG_SEVERAL;
		}
	}
}

/* Why sites are fixed. */
static void note_left(const struct scan *scan)
{
	static const char *const texts[] = {
#define LEFT(name, text) text,
#include "probes/atomics_left.def"
	};
	for (size_t i = 0; i < LEFT_COUNT; i++)
		if (scan->left[i] != 0)
			audit_note(scan->row, "%" PRIu64 " fixed: %s", scan->left[i], texts[i]);
	if (scan->bound_calls != 0)
		audit_note(scan->row, "%" PRIu64 " fixed: calls of helpers that know no LSE",
		        scan->bound_calls);
	if (scan->doubtful != 0)
		audit_note(scan->row,
		        "%" PRIu64 " words that look like atomics, in no function of the unwind "
		        "tables: not counted",
		        scan->doubtful);
	if (scan->literals != 0)
		audit_note(scan->row,
		        "%" PRIu64 " words that look like atomics, but are loaded as data: not "
		        "counted",
		        scan->literals);
}

/* What the switch reaches of it all. */
static void judge_reach(struct scan *scan)
{
	struct audit_file *row = scan->row;
	uint64_t fixed = scan->bound_calls;
	for (size_t i = 0; i < LEFT_COUNT; i++)
		fixed += scan->left[i];
	if (row->flag == AUDIT_FLAG_SEVERAL) {
		audit_note(row,
		        "its helpers do not agree on a flag: their %" PRIu64 " calls are "
		        "fixed",
		        scan->switchable);
		fixed += scan->switchable;
		scan->switchable = 0;
	}
	if (row->is_static && scan->switchable + scan->rewritable != 0) {
		audit_note(row, "a static program: no library reaches it, all of it is fixed");
		fixed += scan->switchable + scan->rewritable;
		scan->switchable = scan->rewritable = 0;
	}
	note_left(scan);
	row->switchable = scan->switchable;
	row->rewritable = scan->rewritable;
	row->fixed = fixed;
}

bool scan_trusts_coverage(const struct code *code, uint64_t covered)
{
	/* Segments may hold more data than code; sections hold code. */
	return covered != 0 && covered >= code->size / (code->from_sections ? 2 : 8);
}

static void choose_method(struct scan *scan, const struct code *code)
{
	struct marker *marker = scan->marker;
	struct audit_file *row = scan->row;
	row->method = !code->from_sections       ? AUDIT_SEGMENTS
	              : marker->symbols->present ? AUDIT_SYMBOLS
	                                         : AUDIT_SHAPE;
	marker->by_coverage = marker->symbols->mark_count == 0 &&
	                      scan_trusts_coverage(code, marker->coverage->covered);
	if (marker->symbols->mark_count == 0 && !marker->by_coverage && code->count != 0 &&
	        !marker->relocatable)
		audit_note(row, "unwind tables name little of the code: all of it was read, data "
		                "among it may look like atomics");
}

void scan_a64(struct audit_file *row, const struct image *image, const struct code *code,
        const struct audit_symbols *symbols)
{
	struct coverage coverage;
	struct marker *marker = calloc(1, sizeof(*marker));
	struct scan scan = { .row = row, .marker = marker };
	if (marker == NULL)
		err(125, "audit");
	coverage_open(&coverage, image, code, row);
	marker->symbols = symbols;
	marker->relocatable = image->type == ET_REL;
	marker->coverage = &coverage;
	choose_method(&scan, code);
	helpers_find(&scan.helpers, image, code, symbols);
	row->helpers = scan.helpers.count;
	if (marker->relocatable)
		scan.switchable = row->helper_calls = relocations_count_calls(image, row);
	else
		judge_flag(row, &scan.helpers);
	for (size_t i = 0; i < code->count; i++)
		scan_piece(&scan, image, &code->pieces[i]);
	judge_reach(&scan);
	helpers_free(&scan.helpers);
	free(marker);
}
