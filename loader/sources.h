/*
 * The records that a report is made of: named one by one, by process, or by their directory.
 */
#ifndef LOADER_SOURCES_H
#define LOADER_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "model.h"

struct sources {
	struct model_source *rows; /* fit for model_build() */
	size_t count, room;
	bool fault; /* an operand could not be read; a line on stderr said so */
};

/*
 * Adds what an operand stands for: a process id, "-" for standard input, a record's path, or a
 * directory with records. What cannot be read is named on stderr; in a directory that is no fault.
 * A record that is there already is not added twice.
 */
void sources_add(struct sources *sources, const char *operand);

/* Adds the record of one file. */
void sources_add_file(struct sources *sources, const char *path);

void sources_close(struct sources *sources);

#endif
