/*
 * Proof that an arm of ABSHIM_ALLOC was in force in a run.
 */
#ifndef LOADER_AB_RECORDS_ALLOC_H
#define LOADER_AB_RECORDS_ALLOC_H

#include "../record_file.h"
#include "stage.h"

/* Refuses the run when its arm asks for ABSHIM_ALLOC and the records say otherwise: that of pid, or
 * where it is 0, those of programs that are no shells. */
void records_check_alloc(
        struct stage *stage, struct record *const *records, size_t count, pid_t pid);

#endif
