/*
 * Reads relocations of sections of code. Types: ELF for the Arm 64-bit Architecture, section 5.7.
 */
#include "relocations.h"

#include "probes/outline.h"

/* ILP32 has numbers of its own. */
#define P32_JUMP26 20
#define P32_CALL26 21

static bool is_code_section(const struct image *image, uint32_t index)
{
	if (index == 0 || index >= image->section_count)
		return false;
	return (image_section(image, index).flags & SHF_EXECINSTR) != 0;
}

static bool is_call(const struct image *image, uint64_t type)
{
	return image->is_64 ? type == R_AARCH64_CALL26 || type == R_AARCH64_JUMP26
	                    : type == P32_CALL26 || type == P32_JUMP26;
}

/* r_info comes behind r_offset; its halves are 32 bits each, or 24 and 8. */
static bool names_helper(
        const struct image *image, const struct symbol_table *table, const unsigned char *entry)
{
	unsigned width = image->is_64 ? 8 : 4;
	uint64_t info = image_number(image, entry + width, width);
	uint64_t index = image->is_64 ? info >> 32 : info >> 8;
	if (!is_call(image, image->is_64 ? info & 0xffffffff : info & 0xff))
		return false;
	unsigned size = image_symbol_size(image);
	struct view bytes = view_part(&table->entries, index * size, size);
	if (bytes.size < size)
		return false;
	struct symbol symbol = image_symbol(image, bytes.bytes);
	const char *name = view_text(&table->strings, symbol.name);
	return name != NULL && outline_is_name(name);
}

static uint64_t count_section(
        const struct image *image, const struct symbol_table *table, const struct section *section)
{
	unsigned size = image->is_64 ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela);
	struct view view = image_contents(image, section);
	uint64_t calls = 0;
	if (section->entry_size != size)
		return 0;
	for (uint64_t at = 0; at + size <= view.size; at += size)
		calls += names_helper(image, table, view.bytes + at);
	return calls;
}

uint64_t relocations_count_calls(const struct image *image, struct audit_file *row)
{
	uint64_t calls = 0, read = 0;
	struct symbol_table table = { 0 };
	for (uint32_t i = 1; i < image->section_count && table.entries.size == 0; i++) {
		struct section section = image_section(image, i);
		if (section.type == SHT_SYMTAB && !audit_table_open(&table, image, &section, row))
			return 0;
	}
	for (uint32_t i = 1; i < image->section_count && table.entries.size != 0; i++) {
		struct section section = image_section(image, i);
		if (section.type != SHT_RELA || !is_code_section(image, section.info))
			continue;
		/* Sections that overlap could be read without an end. */
		read += section.size;
		if (section.size > image->view.size || read > image->view.size) {
			row->complete = false;
			audit_note(row, "its relocations overlap: not all were read");
			break;
		}
		calls += count_section(image, &table, &section);
	}
	audit_table_close(&table);
	return calls;
}
