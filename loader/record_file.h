/*
 * A record as the command reads it: checked, copied, and safe to walk whatever the file held.
 */
#ifndef LOADER_RECORD_FILE_H
#define LOADER_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "message.h"
#include "probes/record.h"

struct record {
	struct record_header header;         /* its strings are terminated */
	struct record_control control;       /* zero when the record has none */
	unsigned char *tables[REGION_COUNT]; /* copies of the used entries; read by record_copy() */
	uint32_t entries[REGION_COUNT];      /* how many each holds */
};

/*
 * Reads a record from a file, a pipe or a memfd; the descriptor stays open. Returns NULL with a
 * reason that does not name the file when it is no complete record that this version knows.
 */
struct record *record_read(int fd, char why[WHY_SIZE]);

/* The same from a path; the reason names it. */
struct record *record_read_path(const char *path, char why[WHY_SIZE]);

/* The same from a path that was found, not given: of a regular file only, since others may block.
 */
struct record *record_read_found(const char *path, char why[WHY_SIZE]);

/* The same from a running process; the reason names it. */
struct record *record_read_process(pid_t pid, char why[WHY_SIZE]);

void record_free(struct record *record);

/* Changes an entry of the copy: the counterpart of record_copy(), for an entry that there is. */
void record_put(struct record *record, enum record_region_id id, uint32_t entry, const void *from,
        size_t size);

/* Copies an entry to *to, a struct of size bytes. False, and zeroes, when there is no such entry.
 */
bool record_copy(const struct record *record, enum record_region_id id, uint32_t entry, void *to,
        size_t size);

#endif
