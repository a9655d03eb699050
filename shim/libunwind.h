/*
 * What is used of libunwind, loaded while the process runs: its interface for the memory of other
 * processes, which takes everything from functions of ours and never asks the loader. Names and
 * layouts are those of libunwind's <libunwind.h>, where each has its description; the same on both
 * machines from version 1.3.
 */
#ifndef SHIM_LIBUNWIND_H
#define SHIM_LIBUNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#define UNWIND_LIBRARY "libunwind-x86_64.so.8"
#define UNWIND_PREFIX  "_Ux86_64_"
enum { UNWIND_SP = 7, UNWIND_RETURN = 16, UNWIND_PC = 16, UNWIND_REGISTERS = 17 };
#elif defined(__aarch64__)
#define UNWIND_LIBRARY "libunwind-aarch64.so.8"
#define UNWIND_PREFIX  "_Uaarch64_"
enum { UNWIND_SP = 31, UNWIND_RETURN = 30, UNWIND_PC = 32, UNWIND_REGISTERS = 33 };
#endif

enum unwind_constant {
	UNWIND_REMOTE_TABLE = 2, /* unw_dyn_info_format_t */
	UNWIND_NO_REGISTER = -3, /* of unw_error_t, made negative as they are returned */
	UNWIND_STOPPED = -5,
	UNWIND_BAD_FRAME = -7,
	UNWIND_INVALID = -8,
	UNWIND_NO_INFO = -10,
};

/* unw_accessors_t; later versions may look at what follows. */
struct unwind_accessors {
	int (*find_proc_info)(void *space, uint64_t pc, void *info, int with_rules, void *walk);
	void (*put_unwind_info)(void *space, void *info, void *walk);
	int (*get_dyn_info_list_addr)(void *space, uint64_t *list, void *walk);
	int (*access_mem)(void *space, uint64_t address, uint64_t *word, int write, void *walk);
	int (*access_reg)(void *space, int number, uint64_t *value, int write, void *walk);
	int (*access_fpreg)(void *space, int number, void *value, int write, void *walk);
	int (*resume)(void *space, void *cursor, void *walk);
	int (*get_proc_name)(
	        void *space, uint64_t pc, char *name, size_t size, uint64_t *offset, void *walk);
	void *later[8];
};

/* What of a table for binary search is told in unw_dyn_info_t. */
struct unwind_place {
	uint64_t name, base, words, data;
};

/* unw_dyn_info_t of such a table. */
struct unwind_table {
	void *next, *previous;
	uint64_t start, end, global_pointer;
	int32_t format, unused;
	union {
		struct {
			uint64_t load_offset;
			struct unwind_place place;
		} later;
		struct unwind_place place; /* before version 1.4 */
	};
};

/* unw_proc_info_t: its first two words are the function's bounds. */
struct unwind_function {
	uint64_t start, end;
	uint64_t others[14];
};

/* unw_cursor_t: 127 words on x86-64, 250 on AArch64. */
struct unwind_cursor {
	uint64_t words[512];
};

typedef int unwind_rules_callback(
        void *token, void *rules, size_t size, uint64_t start, uint64_t end);

struct libunwind {
	void *(*create_addr_space)(struct unwind_accessors *accessors, int byte_order);
	int (*init_remote)(struct unwind_cursor *cursor, void *space, void *walk);
	int (*reg_states_iterate)(
	        struct unwind_cursor *cursor, unwind_rules_callback *callback, void *token);
	int (*apply_reg_state)(struct unwind_cursor *cursor, void *rules);
	int (*get_reg)(struct unwind_cursor *cursor, int number, uint64_t *value);
	int (*dwarf_search_unwind_table)(void *space, uint64_t pc, struct unwind_table *table,
	        void *info, int with_rules, void *walk);
};

#endif
