/*
 * Sums over all threads of the record, for the decisions at the process's end.
 */
#ifndef SHIM_TOTALS_H
#define SHIM_TOTALS_H

#include <stdbool.h>

#include "probes/record.h"

struct totals {
	struct mutex_counters mutex;
	struct cond_counters cond;
};

/* Adds up running and ended threads. */
void totals_read(struct totals *totals);

/* Whether the process used any mutex or condition variable. */
bool totals_any(void);

#endif
