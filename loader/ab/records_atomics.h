/*
 * What a run's records say of the atomics switch.
 */
#ifndef LOADER_AB_RECORDS_ATOMICS_H
#define LOADER_AB_RECORDS_ATOMICS_H

#include "../model.h"
#include "stage.h"

/* Metrics of a run are this and one of these names. */
#define RECORDS_ATOMICS         "shim.atomics."
#define RECORDS_ATOMICS_METRICS 4
extern const char *const records_atomics_metrics[RECORDS_ATOMICS_METRICS];

/* Adds those that are not 0. False: no memory. */
bool records_measure_atomics(struct run *run, const struct model *model);

/*
 * Refuses the run when its arm asks for the switch and no record shows it in force: that of the
 * process pid, or, with 0, that of any program but a shell.
 */
void records_check_atomics(
        struct stage *stage, struct record *const *records, size_t count, pid_t pid);

/* Whether a program is a shell, by its name; in records.c. */
bool records_is_shell(const char *executable);

#endif
