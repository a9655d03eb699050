/*
 * What is known of this process's memory: shared by the parts of shim/alloc/.
 */
#ifndef SHIM_ALLOC_NOTES_H
#define SHIM_ALLOC_NOTES_H

#include "probes/record.h"

/* Kept beside the record, since it stays true in a forked child. */
extern struct record_allocation alloc_notes __attribute__((visibility("hidden")));

/* The value of ABSHIM_ALLOC. */
const char *alloc_arm_name(void);

#endif
