/*
 * Whether a preload of libabshim.so can take over a file's calls, and which.
 */
#ifndef LOADER_AUDIT_INTERPOSE_H
#define LOADER_AUDIT_INTERPOSE_H

#include "audit.h"
#include "dynamic.h"

struct interposition {
	struct texts imports; /* functions of libabshim.so that the file calls */
	struct texts defines; /* those that it has itself */
	bool opens;           /* it may open other libraries */
	bool barred;          /* no preload reaches the process that it makes */
};

/*
 * Examines the file of a row, whose machine, kind, libc and is_static are known; sets interposable
 * and why. dynamic is NULL for what is no 64-bit little-endian file. False: no memory.
 */
bool interpose_examine(struct interposition *interposition, struct audit_file *file, int fd,
        const struct dynamic *dynamic);
void interpose_free(struct interposition *interposition);

#endif
