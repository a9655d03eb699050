/*
 * The files that processes had mapped, each part once however many processes mapped it and
 * wherever: addresses of several processes become comparable.
 */
#ifndef LOADER_MAPPED_H
#define LOADER_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record_file.h"

#define MAPPED_NONE UINT32_MAX

/* A part of a file that some process had mapped executable. */
struct mapped_file {
	struct record_module map; /* where the first process had it; its path is terminated */
	uint32_t same;            /* the first row of the same file: what tells files apart */
	uint64_t start_real_ns;   /* start of the earliest process that mapped it */
};

/* Where one process had it. */
struct mapping {
	uint64_t start, end; /* start 0: not valid */
	uint32_t file;       /* row of mapped.files */
};

struct mapped_process {
	struct mapping *mappings; /* by entry of REGION_MODULES: a later one replaced the earlier
	                             ones that it overlaps */
	uint32_t count;
};

struct mapped {
	struct mapped_file *files; /* those of the first record come first, by its entry */
	uint32_t file_count;
	struct mapped_process *processes; /* by record */
	size_t process_count;
};

/* An address in code: in the place where the first process had the file mapped. */
struct code {
	uint32_t file;    /* row of mapped.files, MAPPED_NONE: in no known file */
	uint64_t address; /* 0: unknown */
};

/* NULL: no memory. */
struct mapped *mapped_new(const struct record *const *records, size_t count);
void mapped_free(struct mapped *mapped);

/* The address of a process, whose record stores the module as an entry of REGION_MODULES + 1. */
struct code mapped_code(
        const struct mapped *mapped, size_t process, uint32_t stored_module, uint64_t address);

/* The same for an address whose module the record does not store: that of a call's return. */
struct code mapped_find(const struct mapped *mapped, size_t process, uint64_t address);

/* Orders code by file, then by place in it: 0 for the same code of two processes. The caller sees
 * to it that code in no file is compared within one process only. */
int mapped_compare(const struct mapped *mapped, struct code a, struct code b);

/* Where the code lies in its file: equal in all processes. Of code in no file, the address. */
uint64_t mapped_offset(const struct mapped *mapped, struct code code);

#endif
