/*
 * Counts x86-64's atomics. Instructions are walked by their lengths from the start of each function
 * that the unwind tables name; those that lock are decoded by capstone, which has the last word on
 * what they are.
 */
#include "scan.h"

#include <capstone/capstone.h>
#include <err.h>
#include <inttypes.h>

#include "coverage.h"
#include "rows.h"
#include "x86_length.h"

/* The memory of so many bytes is given back at a time. */
#define RELEASED (UINT64_C(4) << 20)

struct walk {
	struct audit_file *row;
	const struct image *image;
	csh decoder;
	cs_insn *instruction;
	uint64_t doubtful; /* of what was not taken for code */
	uint64_t released; /* up to this offset of the piece */
};

/* Counts what capstone takes for an atomic of the same length. */
static void take_atomic(struct walk *walk, const unsigned char *bytes, unsigned length, bool count)
{
	const uint8_t *code = bytes;
	size_t size = length;
	uint64_t address = 0;
	if (!cs_disasm_iter(walk->decoder, &code, &size, &address, walk->instruction) || size != 0)
		return;
	if (!count) {
		walk->doubtful++;
		return;
	}
	walk->row->locked++;
	audit_count(walk->row, walk->instruction->mnemonic, false);
}

/* From one offset of a piece to another; instructions begin at the first. */
static void walk_bytes(
        struct walk *walk, const struct piece *piece, uint64_t from, uint64_t to, bool count)
{
	const unsigned char *bytes = walk->image->view.bytes + piece->offset;
	while (from < to) {
		uint64_t stop = to - from < RELEASED ? to : from + RELEASED;
		unsigned length;
		from = x86_next_atomic(bytes, from, stop, to, &length);
		if (from < stop) {
			take_atomic(walk, bytes + from, length, count);
			from += length;
		}
		if (from - walk->released >= RELEASED) {
			map_release(bytes + walk->released, from - walk->released);
			walk->released = from;
		}
	}
}

/* Functions one by one, and what lies between them. */
static void walk_functions(struct walk *walk, const struct piece *piece, struct coverage *coverage,
        struct code_range *function)
{
	uint64_t at = 0;
	for (;;) {
		uint64_t end = function->end - piece->address, start = 0;
		if (function->start >= piece->address + piece->size)
			break;
		if (function->start > piece->address)
			start = function->start - piece->address;
		if (function->end > piece->address && start < piece->size) {
			end = end < piece->size ? end : piece->size;
			walk_bytes(walk, piece, at, start, false);
			walk_bytes(walk, piece, start, end, true);
			at = end;
			if (at == piece->size)
				return;
		}
		if (!coverage_next(coverage, function))
			*function = (struct code_range){ UINT64_MAX, UINT64_MAX };
	}
	walk_bytes(walk, piece, at, piece->size, false);
}

static void walk_pieces(struct walk *walk, const struct code *code)
{
	struct coverage coverage;
	struct code_range function = { 0, 0 };
	coverage_open(&coverage, walk->image, code, walk->row);
	bool by_coverage = scan_trusts_coverage(code, coverage.covered);
	if (!by_coverage && code->count != 0 && walk->image->type != ET_REL)
		audit_note(walk->row, "unwind tables name little of the code: all of it was read, "
		                      "data among it may look like atomics");
	for (size_t i = 0; i < code->count; i++) {
		walk->released = 0;
		if (by_coverage)
			walk_functions(walk, &code->pieces[i], &coverage, &function);
		else
			walk_bytes(walk, &code->pieces[i], 0, code->pieces[i].size, true);
		walk->row->code_bytes += code->pieces[i].size;
	}
}

void scan_x86(struct audit_file *row, const struct image *image, const struct code *code)
{
	struct walk walk = { .row = row, .image = image };
	row->method = !code->from_sections ? AUDIT_SEGMENTS
	              : row->stripped      ? AUDIT_SHAPE
	                                   : AUDIT_SYMBOLS;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &walk.decoder) != CS_ERR_OK)
		errx(125, "audit: capstone cannot decode x86-64");
	walk.instruction = cs_malloc(walk.decoder);
	if (walk.instruction == NULL)
		err(125, "audit");
	walk_pieces(&walk, code);
	if (walk.doubtful != 0)
		audit_note(row,
		        "%" PRIu64 " instructions that look like atomics, in no function of the "
		        "unwind tables: not counted",
		        walk.doubtful);
	cs_free(walk.instruction, 1);
	cs_close(&walk.decoder);
}
