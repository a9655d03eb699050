/*
 * Reads unwind tables from a file: they lie in one segment, what they name in another one.
 */
#include "coverage.h"

/* So many functions are read before the memory of the tables is given back. */
#define FUNCTIONS 65536u

/* The segment that holds an address, as far as the file has it. */
static bool find_bytes(const struct image *image, uint64_t address, struct image_bytes *bytes)
{
	for (uint32_t i = 0; i < image->segment_count; i++) {
		struct segment segment = image_segment(image, i);
		if (segment.type != PT_LOAD || address - segment.address >= segment.file_size)
			continue;
		struct view view = view_part(&image->view, segment.offset, segment.file_size);
		*bytes = (struct image_bytes){ view.bytes, view.size, segment.address };
		return address - segment.address < view.size &&
		       segment.address + view.size > segment.address;
	}
	return false;
}

void coverage_rewind(struct coverage *coverage)
{
	coverage->present = code_ranges_open(&coverage->ranges, &coverage->image, coverage->table);
	coverage->ranges.within = (struct code_range){ 0, UINT64_MAX };
	coverage->end = 0;
}

bool coverage_next(struct coverage *coverage, struct code_range *range)
{
	while (coverage->present && code_ranges_next(&coverage->ranges, range)) {
		if (coverage->ranges.next % FUNCTIONS == 0)
			map_release(coverage->image.bytes, coverage->image.size);
		if (range->start < coverage->end)
			range->start = coverage->end;
		if (range->start >= range->end)
			continue;
		coverage->end = range->end;
		return true;
	}
	return false;
}

/* Bytes of the range that lie in the piece that it begins in. */
static uint64_t covered_bytes(const struct code *code, const struct code_range *range)
{
	const struct piece *piece = code_piece(code, range->start);
	if (piece == NULL)
		return 0;
	uint64_t rest = piece->address + piece->size - range->start;
	uint64_t length = range->end - range->start;
	return length < rest ? length : rest;
}

void coverage_open(struct coverage *coverage, const struct image *image, const struct code *code,
        struct audit_file *row)
{
	struct segment tables;
	struct code_range range;
	*coverage = (struct coverage){ 0 };
	/* The tables are of the file's byte order; code_ranges reads little-endian ones. */
	if (!image_find_segment(image, PT_GNU_EH_FRAME, &tables) || image->big_endian)
		return;
	coverage->table = tables.address;
	if (find_bytes(image, tables.address, &coverage->image))
		coverage_rewind(coverage);
	if (!coverage->present) {
		audit_note(row, "its unwind tables cannot be read");
		return;
	}
	while (coverage_next(coverage, &range))
		coverage->covered += covered_bytes(code, &range);
	coverage_rewind(coverage);
}
