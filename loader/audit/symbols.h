/*
 * What the audit takes from symbol tables: where code and data begin inside of sections of code,
 * and which functions are outline helpers.
 */
#ifndef LOADER_AUDIT_SYMBOLS_H
#define LOADER_AUDIT_SYMBOLS_H

#include "code.h"

struct helper_symbol {
	uint64_t address, size; /* a size of 0 is not known */
};

struct audit_symbols {
	bool present;    /* a symbol table of any kind was read */
	uint64_t *marks; /* mapping symbols, sorted: address * 2, + 1 where code begins, not data */
	size_t mark_count;
	struct helper_symbol *helpers; /* by address, no two at one */
	size_t helper_count;
	const char *libc; /* whose functions a static program holds; NULL if none were seen */
};

/* Reads .symtab, and where there is none .gnu_debugdata, of an AArch64 image; of others only whose
 * libc a static program holds. Sets the row's stripped. */
void audit_symbols_read(struct audit_symbols *symbols, const struct image *image,
        const struct code *code, struct audit_file *row);

void audit_symbols_free(struct audit_symbols *symbols);

/* Opens a symbol table's section and its strings; a compressed one is unpacked into memory that
 * *unpacked is set to, which the caller frees. False with a note where they cannot be read. */
struct symbol_table {
	struct view entries, strings;
	struct view indices; /* of sections that do not fit st_shndx, a word an entry */
	void *unpacked[2];
};
bool audit_table_open(struct symbol_table *table, const struct image *image,
        const struct section *section, struct audit_file *row);
void audit_table_close(struct symbol_table *table);

#endif
