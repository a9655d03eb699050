/*
 * What the families of counters have in common, each under names of its own.
 */
#ifndef LOADER_FAMILIES_H
#define LOADER_FAMILIES_H

#include "probes/record.h"

struct family_sum {
	uint64_t acquired;
	uint64_t waits, wait_ns_total, wait_ns_max; /* those that the tables of locks count */
	uint64_t hold_ns_total, hold_ns_max;
	uint64_t lost;
};

/* The sum of one family. Waiting for the signal of a condition is no waiting for a lock: the sum of
 * the conditions is 0. */
struct family_sum family_sum(const struct counters *counters, enum record_family family);

/* The sum of all families. */
struct family_sum family_sum_all(const struct counters *counters);

/* All holds of a lock: a reader-writer lock's by its writers and by each reader. */
struct hold_totals family_hold(const struct record_lock *lock);

#endif
