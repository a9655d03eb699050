/*
 * Sums over all threads of the record, for the decisions at the process's end.
 */
#ifndef SHIM_TOTALS_H
#define SHIM_TOTALS_H

#include <stdbool.h>

#include "probes/record.h"

/* Adds up running and ended threads. */
void totals_read(struct counters *totals);

/* Whether anything was counted at all. */
bool totals_any(void);

#endif
