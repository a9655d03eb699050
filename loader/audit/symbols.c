/*
 * Symbol tables, the one in .gnu_debugdata too ("minidebuginfo": an ELF file of its own, packed by
 * xz, with the functions that .dynsym does not have). Mapping symbols: ELF for the Arm 64-bit
 * Architecture, section 5.5.4.
 */
#include "symbols.h"

#include <stdlib.h>

#include "probes/outline.h"
#include "rows.h"
#include "unpack.h"

bool audit_table_open(struct symbol_table *table, const struct image *image,
        const struct section *section, struct audit_file *row)
{
	const char *why = "lies outside of the file";
	*table = (struct symbol_table){ 0 };
	if (section->link < image->section_count) {
		struct section strings = image_section(image, section->link);
		if (strings.type == SHT_STRTAB) {
			table->strings = unpack_section(image, &strings, &table->unpacked[0], &why);
			table->entries = unpack_section(image, section, &table->unpacked[1], &why);
		}
	}
	if (section->entry_size == image_symbol_size(image) && table->entries.size != 0 &&
	        table->strings.size != 0)
		return true;
	audit_table_close(table);
	audit_note(row, "its symbol table %s: not used", why);
	return false;
}

void audit_table_close(struct symbol_table *table)
{
	free(table->unpacked[0]);
	free(table->unpacked[1]);
	*table = (struct symbol_table){ 0 };
}

/* Where a symbol of a section of code lies: see struct piece. */
static bool symbol_address(const struct image *image, const struct code *code,
        const struct symbol *symbol, uint64_t *address)
{
	*address = symbol->value;
	if (symbol->section == SHN_UNDEF)
		return false;
	if (image->type == ET_REL) {
		if (symbol->section >= image->section_count)
			return false;
		struct section section = image_section(image, symbol->section);
		*address += section.offset;
	}
	return code_piece(code, *address) != NULL;
}

static void add_mark(struct audit_symbols *symbols, uint64_t address, bool is_code)
{
	symbols->marks = audit_grow(symbols->marks, symbols->mark_count, sizeof(*symbols->marks));
	symbols->marks[symbols->mark_count++] = address * 2 + is_code;
}

static void add_helper(struct audit_symbols *symbols, uint64_t address, uint64_t size)
{
	symbols->helpers =
	        audit_grow(symbols->helpers, symbols->helper_count, sizeof(*symbols->helpers));
	symbols->helpers[symbols->helper_count++] = (struct helper_symbol){ address, size };
}

/* "$x", "$d", and what compilers append to them behind a dot. */
static bool is_mapping(const char *name)
{
	return name[0] == '$' && (name[1] == 'x' || name[1] == 'd') &&
	       (name[2] == '\0' || name[2] == '.');
}

/* Functions that every static program of that libc has: they set up its thread. */
static const char *libc_of(const char *name)
{
	if (strcmp(name, "__libc_setup_tls") == 0)
		return "glibc";
	return strcmp(name, "__init_libc") == 0 || strcmp(name, "static_init_tls") == 0 ? "musl"
	                                                                                : NULL;
}

static void take_symbol(struct audit_symbols *symbols, const struct image *image,
        const struct code *code, const struct symbol *symbol, const char *name)
{
	uint64_t address;
	const char *libc = name[0] == '_' || name[0] == 's' ? libc_of(name) : NULL;
	if (libc != NULL)
		symbols->libc = libc;
	bool mapping = symbol->type == STT_NOTYPE && is_mapping(name);
	bool helper = name[0] == '_' && symbol->type <= STT_FUNC && outline_is_name(name);
	if (image->machine != EM_AARCH64 || (!mapping && !helper) ||
	        !symbol_address(image, code, symbol, &address))
		return;
	if (mapping)
		add_mark(symbols, address, name[1] == 'x');
	else
		add_helper(symbols, address, symbol->size);
}

/* The section of the symbol of an index; SHN_UNDEF where it is of none. */
static uint32_t section_of(const struct image *image, const struct symbol_table *table,
        const struct symbol *symbol, uint64_t index)
{
	if (symbol->section < SHN_LORESERVE)
		return symbol->section;
	if (symbol->section != SHN_XINDEX || !view_holds(&table->indices, index * 4, 4))
		return SHN_UNDEF;
	return (uint32_t)image_number(image, table->indices.bytes + index * 4, 4);
}

static void take_table(struct audit_symbols *symbols, const struct image *image,
        const struct code *code, const struct symbol_table *table)
{
	unsigned size = image_symbol_size(image);
	for (uint64_t at = 0; at + size <= table->entries.size; at += size) {
		struct symbol symbol = image_symbol(image, table->entries.bytes + at);
		if (symbol.type > STT_FUNC || symbol.name >= table->strings.size)
			continue;
		/* A first look that spares the search for the text's end. */
		char first = (char)table->strings.bytes[symbol.name];
		if (first != '$' && first != '_' && first != 's')
			continue;
		const char *name = view_text(&table->strings, symbol.name);
		symbol.section = section_of(image, table, &symbol, at / size);
		if (name != NULL)
			take_symbol(symbols, image, code, &symbol, name);
	}
	symbols->present = true;
}

static struct view find_indices(const struct image *image, uint32_t table)
{
	for (uint32_t i = 1; i < image->section_count; i++) {
		struct section section = image_section(image, i);
		if (section.type == SHT_SYMTAB_SHNDX && section.link == table)
			return image_contents(image, &section);
	}
	return (struct view){ 0 };
}

/* Reads the first symbol table of an image; its symbols lie in code's pieces. */
static bool take_symtab(struct audit_symbols *symbols, const struct image *image,
        const struct code *code, struct audit_file *row)
{
	for (uint32_t i = 1; i < image->section_count; i++) {
		struct section section = image_section(image, i);
		struct symbol_table table;
		if (section.type != SHT_SYMTAB)
			continue;
		if (audit_table_open(&table, image, &section, row)) {
			table.indices = find_indices(image, i);
			take_table(symbols, image, code, &table);
			audit_table_close(&table);
		}
		return true;
	}
	return false;
}

static void take_debugdata(struct audit_symbols *symbols, const struct image *image,
        const struct code *code, struct audit_file *row)
{
	for (uint32_t i = 1; i < image->section_count; i++) {
		struct section section = image_section(image, i);
		if (strcmp(image_section_name(image, &section), ".gnu_debugdata") != 0)
			continue;
		void *memory;
		const char *why;
		struct view packed = image_contents(image, &section);
		struct view view = unpack_xz(&packed, &memory, &why);
		struct image inner;
		if (view.size == 0)
			audit_note(row, "its .gnu_debugdata %s", why);
		else if (image_open(&inner, &view, row) && take_symtab(symbols, &inner, code, row))
			audit_note(row, "symbols from .gnu_debugdata");
		free(memory);
		return;
	}
}

static int compare_marks(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

static int compare_helpers(const void *left, const void *right)
{
	const struct helper_symbol *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->size < b->size) - (a->size > b->size);
}

static void sort(struct audit_symbols *symbols)
{
	size_t kept = 0;
	if (symbols->mark_count != 0)
		qsort(symbols->marks, symbols->mark_count, sizeof(*symbols->marks), compare_marks);
	if (symbols->helper_count != 0)
		qsort(symbols->helpers, symbols->helper_count, sizeof(*symbols->helpers),
		        compare_helpers);
	for (size_t i = 0; i < symbols->helper_count; i++)
		if (kept == 0 || symbols->helpers[kept - 1].address != symbols->helpers[i].address)
			symbols->helpers[kept++] = symbols->helpers[i];
	symbols->helper_count = kept;
}

void audit_symbols_read(struct audit_symbols *symbols, const struct image *image,
        const struct code *code, struct audit_file *row)
{
	*symbols = (struct audit_symbols){ 0 };
	row->stripped = !take_symtab(symbols, image, code, row);
	if (row->stripped)
		take_debugdata(symbols, image, code, row);
	sort(symbols);
}

void audit_symbols_free(struct audit_symbols *symbols)
{
	free(symbols->marks);
	free(symbols->helpers);
	*symbols = (struct audit_symbols){ 0 };
}
