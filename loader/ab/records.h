/*
 * Copies of record files, which are mostly holes.
 */
#ifndef LOADER_AB_RECORDS_H
#define LOADER_AB_RECORDS_H

#include <stdbool.h>

/* Moves a file, to another file system too, without writing its holes out. False: it stays. */
bool records_move(const char *from, const char *to);

/* Makes a private directory for records: in ABSHIM_DIR where that is set, else in tmpfs, else where
 * temporary files go; the caller's to free. NULL: none can be made. */
char *records_make_directory(void);

/* Removes a directory that records_make_directory() made, now or in another process. */
void records_remove_directory(const char *path);

#endif
