/*
 * Opens files that anyone may have put there.
 */
#ifndef LOADER_AUDIT_FILES_H
#define LOADER_AUDIT_FILES_H

#include <sys/stat.h>

/*
 * Opens a regular file for reading; never waits, and touches nothing else: opening a device may do
 * something. Returns -1 with a reason, which lives until the next error.
 */
int file_open(const char *path, struct stat *status, const char **why);

/* What the file is, "a FIFO"; NULL: a regular file. */
const char *file_kind(mode_t mode);

#endif
