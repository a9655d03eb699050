/*
 * Section headers are taken at their word only where executable segments hold nothing besides what
 * they tell of: a size or an offset that is damaged would hide code, and be a false zero.
 */
#include "code.h"

#include <err.h>
#include <stdlib.h>

/* Every section is compared with every segment; real files have a dozen of these. */
#define MOST_SEGMENTS 256

/* Either may be the damaged one. */
static const char disagreement[] = "sections and segments disagree on where the code lies";

/* What a section or a segment has of the file. */
struct extent {
	uint64_t start, end;
};

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count == 0 ? 1 : count, size);
	if (memory == NULL)
		err(125, "audit");
	return memory;
}

static int by_start(const void *left, const void *right)
{
	const struct extent *a = left, *b = right;
	return (a->start > b->start) - (a->start < b->start);
}

static int by_address(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	return (a->address > b->address) - (a->address < b->address);
}

static int by_offset(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Linkers fill what lies between sections with zeros or with one instruction again and again. */
static bool is_padding(const unsigned char *bytes, uint64_t size)
{
	return size <= 4 || memcmp(bytes, bytes + 4, size - 4) == 0;
}

static bool is_code(const struct section *section)
{
	return (section->flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR) &&
	       section->type != SHT_NULL && section->size != 0;
}

static bool is_executable(const struct segment *segment)
{
	return segment->type == PT_LOAD && (segment->flags & PF_X) != 0 && segment->file_size != 0;
}

/* All that sections tell of the file's bytes in memory, by offset; Go's linker puts the section
 * headers there as well. */
static struct extent *loaded_extents(const struct image *image, size_t *count)
{
	struct extent *extents = allocate(image->section_count + 1, sizeof(*extents));
	*count = 1;
	extents[0] = (struct extent){ image->section_table,
		image->section_table + image_section_table_size(image) };
	for (uint32_t i = 1; i < image->section_count; i++) {
		struct section section = image_section(image, i);
		if ((section.flags & SHF_ALLOC) == 0 || section.type == SHT_NOBITS ||
		        section.type == SHT_NULL || !image_holds(image, &section))
			continue;
		extents[(*count)++] =
		        (struct extent){ section.offset, section.offset + section.size };
	}
	qsort(extents, *count, sizeof(*extents), by_start);
	return extents;
}

/* Whether the extents leave nothing of a segment but padding. */
static bool covers(const struct image *image, const struct extent *extents, size_t count,
        const struct segment *segment)
{
	uint64_t at = segment->offset, end = segment->offset + segment->file_size;
	if (at < image->head_size)
		at = image->head_size;
	for (size_t i = 0; i <= count && at < end; i++) {
		uint64_t start = i < count && extents[i].start < end ? extents[i].start : end;
		struct view gap = view_part(&image->view, at, start > at ? start - at : 0);
		if (!is_padding(gap.bytes, gap.size))
			return false;
		if (i < count && extents[i].end > at)
			at = extents[i].end;
	}
	return true;
}

static bool covers_segments(const struct image *image)
{
	size_t count;
	bool whole = true;
	struct extent *extents = loaded_extents(image, &count);
	for (uint32_t i = 0; i < image->segment_count && whole; i++) {
		struct segment segment = image_segment(image, i);
		if (is_executable(&segment))
			whole = covers(image, extents, count, &segment);
	}
	free(extents);
	return whole;
}

/* The segments that hold code, read once for all sections. */
struct executable {
	struct segment segments[MOST_SEGMENTS];
	uint32_t count;
};

static void find_executable(struct executable *executable, const struct image *image)
{
	executable->count = 0;
	for (uint32_t i = 0; i < image->segment_count && i < MOST_SEGMENTS; i++) {
		struct segment segment = image_segment(image, i);
		if (is_executable(&segment))
			executable->segments[executable->count++] = segment;
	}
}

/* Whether a section's bytes are what its segment has at its address. */
static bool agrees(const struct executable *executable, const struct section *section)
{
	for (uint32_t i = 0; i < executable->count; i++) {
		const struct segment *segment = &executable->segments[i];
		uint64_t before = section->address - segment->address;
		if (before <= segment->file_size && section->size <= segment->file_size - before)
			return section->offset - segment->offset == before;
	}
	return false;
}

static bool holds_entry(const struct code *code, const struct image *image)
{
	return image->type == ET_REL || image->entry == 0 || code_piece(code, image->entry) != NULL;
}

static void add_piece(struct code *code, uint64_t address, uint64_t offset, uint64_t size)
{
	code->pieces[code->count++] = (struct piece){ address, offset, size };
}

/* Cuts what overlaps by one order, and drops what is left empty. */
static void separate(struct code *code, bool in_file)
{
	size_t kept = 0;
	uint64_t end = 0;
	qsort(code->pieces, code->count, sizeof(*code->pieces), in_file ? by_offset : by_address);
	for (size_t i = 0; i < code->count; i++) {
		struct piece piece = code->pieces[i];
		uint64_t start = in_file ? piece.offset : piece.address;
		uint64_t twice = start < end ? end - start : 0;
		if (twice >= piece.size || piece.address + piece.size < piece.address)
			continue;
		piece.offset += twice;
		piece.address += twice;
		piece.size -= twice;
		end = (in_file ? piece.offset : piece.address) + piece.size;
		code->pieces[kept++] = piece;
	}
	code->count = kept;
}

static void finish(struct code *code)
{
	separate(code, true);
	separate(code, false);
	code->size = 0;
	for (size_t i = 0; i < code->count; i++)
		code->size += code->pieces[i].size;
}

/* What is wrong with the sections, NULL if nothing is. */
static const char *read_sections(struct code *code, const struct image *image)
{
	bool elsewhere = false, relocatable = image->type == ET_REL;
	if (image->segment_count > MOST_SEGMENTS)
		return "more segments than sections can be compared with";
	struct executable executable;
	find_executable(&executable, image);
	code->pieces = allocate(image->section_count, sizeof(*code->pieces));
	for (uint32_t i = 1; i < image->section_count; i++) {
		struct section section = image_section(image, i);
		if (!is_code(&section))
			continue;
		if (section.type == SHT_NOBITS) {
			elsewhere = true;
			continue;
		}
		if (!image_holds(image, &section))
			return "a section of code lies outside of the file";
		if (!relocatable && image->segment_count != 0 && !agrees(&executable, &section))
			return disagreement;
		add_piece(code, relocatable ? section.offset : section.address, section.offset,
		        section.size);
	}
	finish(code);
	code->companion = elsewhere && code->count == 0;
	if (!relocatable && !code->companion && !covers_segments(image))
		return "sections do not tell of all that is executable";
	if (!code->companion && !holds_entry(code, image))
		return "no section of code holds the entry point";
	return NULL;
}

static void read_segments(struct code *code, const struct image *image, struct audit_file *row)
{
	code->pieces = allocate(image->segment_count, sizeof(*code->pieces));
	for (uint32_t i = 0; i < image->segment_count; i++) {
		struct segment segment = image_segment(image, i);
		if (!is_executable(&segment))
			continue;
		struct view held = view_part(&image->view, segment.offset, segment.file_size);
		if (held.size != 0)
			add_piece(code, segment.address, segment.offset, held.size);
	}
	finish(code);
	if (!holds_entry(code, image)) {
		row->complete = false;
		audit_note(row, "no executable segment holds the entry point: cut or damaged");
	} else if (code->count == 0) {
		audit_note(row, "no code was found in it");
	}
}

/* All that headers tell of must be there: a file may be cut behind its code. */
static void check_whole(const struct image *image, struct audit_file *row)
{
	for (uint32_t i = 0; i < image->segment_count; i++) {
		struct segment segment = image_segment(image, i);
		if (segment.type != PT_LOAD || segment.file_size == 0 ||
		        view_holds(&image->view, segment.offset, segment.file_size))
			continue;
		row->complete = false;
		audit_note(row, "a segment lies outside of the file: cut or damaged");
		return;
	}
	for (uint32_t i = 0; i < image->section_count; i++) {
		struct section section = image_section(image, i);
		if (image_holds(image, &section))
			continue;
		row->complete = false;
		audit_note(row, "section %u lies outside of the file: cut or damaged", i);
		return;
	}
}

void code_find(struct code *code, const struct image *image, struct audit_file *row)
{
	*code = (struct code){ 0 };
	const char *wrong = "no section headers";
	if (image->section_count > 1)
		wrong = read_sections(code, image);
	code->from_sections = wrong == NULL;
	if (code->companion)
		return;
	check_whole(image, row);
	if (wrong == NULL)
		return;
	code_free(code);
	if (image->type == ET_REL) {
		audit_note(row, "%s: a relocatable object cannot be read without", wrong);
		row->complete = false;
		return;
	}
	row->complete = row->complete && wrong != disagreement;
	audit_note(row, "%s: read by its segments", wrong);
	read_segments(code, image, row);
}

void code_free(struct code *code)
{
	free(code->pieces);
	*code = (struct code){ 0 };
}

const struct piece *code_piece(const struct code *code, uint64_t address)
{
	size_t low = 0, high = code->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct piece *piece = &code->pieces[middle];
		if (address - piece->address < piece->size)
			return piece;
		if (address < piece->address)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}
