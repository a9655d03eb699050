/*
 * Makes the rows that audit.h promises.
 */
#ifndef LOADER_AUDIT_ROWS_H
#define LOADER_AUDIT_ROWS_H

#include "audit.h"

/* Adds an empty row that is complete. It stays where it is until the next one is added. */
struct audit_file *audit_add(struct audit_list *list, const char *path);

/* Counts one more instruction of a family. */
void audit_count(struct audit_file *file, const char *name, bool outline);

/* An array with room for one more element than count, which must have grown by this from NULL. Ends
 * the command where there is no memory. */
void *audit_grow(void *array, size_t count, size_t size);

#endif
