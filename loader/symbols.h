/*
 * Names for addresses: functions, source lines and variables of the files that a record names.
 */
#ifndef LOADER_SYMBOLS_H
#define LOADER_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mapped.h"

#define SYMBOL_NAME_SIZE   512
#define SYMBOL_MAX_INLINED 16 /* functions of one address: deeper ones are left out */

/* Strings are empty, and numbers 0, where nothing is known. */
struct place {
	uint64_t address;              /* in the process */
	char name[SYMBOL_NAME_SIZE];   /* function or variable, demangled */
	uint64_t name_offset;          /* bytes from its start */
	char file[RECORD_PATH_SIZE];   /* source file as the compiler was given it */
	unsigned line, column;         /* column 0: unknown, also where the line is known */
	char module[RECORD_PATH_SIZE]; /* path of the mapped file */
	/* Link-time address, as addr2line and objdump use it; the offset in the file when the file
	 * cannot be read any more. */
	uint64_t module_offset;
};

struct symbols;

/* Opens nothing yet: files are opened when an address in them is asked for. The mapped files must
 * outlive it. NULL: no memory. */
struct symbols *symbols_open(const struct mapped *mapped);
void symbols_close(struct symbols *symbols);

/* Finds the call that returns to the code's address. */
void symbols_find_call(struct symbols *symbols, struct code code, struct place *place);

/* The same with every function that was inlined there: the innermost first, the one that holds
 * their code last. Returns their number, at least 1. */
unsigned symbols_find_frames(
        struct symbols *symbols, struct code code, struct place places[SYMBOL_MAX_INLINED]);

/* The build id of a row of the mapped files; returns its size, 0 when it is not known. */
size_t symbols_build_id(struct symbols *symbols, uint32_t file, const unsigned char **id);

/* Finds the variable that a lock of a process is; false when it lies in no file's data (heap,
 * stack).
 */
bool symbols_find_lock(struct symbols *symbols, size_t process, const struct record_lock *lock,
        struct place *place);

/* Looks which files are no longer those that the process had mapped: their lines and names are not
 * used. Returns their number. */
size_t symbols_count_changed(struct symbols *symbols);

/* The path of the n-th of them, n below that number. */
const char *symbols_changed_path(const struct symbols *symbols, size_t n);

#endif
