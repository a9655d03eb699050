/*
 * What the program loader reads of an ELF file: which libraries it asks for, where they are looked
 * for, and which symbols it imports and defines. Of 64-bit little-endian files only.
 */
#ifndef LOADER_AUDIT_DYNAMIC_H
#define LOADER_AUDIT_DYNAMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../ab/texts.h"

struct dynamic {
	uint16_t machine, type;    /* e_machine, e_type */
	bool is_loadable;          /* ET_EXEC or ET_DYN with segments to be loaded */
	bool is_dynamic;           /* it has a dynamic section */
	char *interpreter;         /* PT_INTERP; NULL: none */
	char *soname;              /* NULL: none */
	char *rpath, *runpath;     /* NULL: none; the first one is NULL where there is the second */
	struct texts needed;       /* DT_NEEDED, in order */
	struct texts auxiliary;    /* DT_AUXILIARY: libraries that may be missing */
	uint64_t flags_1;          /* DT_FLAGS_1 */
	bool symbolic;             /* its own definitions come first: -Bsymbolic */
	uint64_t symbols, strings; /* where its dynamic symbols lie in the file; 0: none */
	uint64_t symbol_count, strings_size;
};

/* Reads an open file. False when it is no 64-bit little-endian ELF file, or there is no memory.
 * What does not lie in the file is left out. dynamic_free() is needed after success only. */
bool dynamic_read(int fd, struct dynamic *dynamic);
void dynamic_free(struct dynamic *dynamic);

/* Whether it is what one starts: not a library, even of those that can be run (libc's). */
bool dynamic_is_program(const struct dynamic *dynamic);

struct dynamic_symbol {
	const char *name;
	bool defined; /* else imported */
};

/* Calls take for each global symbol, functions or of unknown type. False when they cannot be read.
 */
bool dynamic_walk(int fd, const struct dynamic *dynamic,
        void (*take)(void *context, const struct dynamic_symbol *symbol), void *context);

/* The same for the functions of .symtab, where a file that is not stripped has the names of what it
 * does not export. False when there is no such table or it cannot be read. */
bool dynamic_walk_symtab(
        int fd, void (*take)(void *context, const struct dynamic_symbol *symbol), void *context);

/* Reads size bytes at an offset into new memory, with a zero byte behind them. NULL: they are not
 * all there, or no memory. The caller frees it. */
void *dynamic_read_at(int fd, uint64_t offset, uint64_t size);

#endif
