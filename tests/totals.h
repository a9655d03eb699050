/*
 * Sums of this process's own record, for tests that link the shim into themselves.
 */
#ifndef TESTS_TOTALS_H
#define TESTS_TOTALS_H

#include "probes/counters.h"
#include "probes/record_map.h"

struct totals {
	struct counters counters;
	struct caused_counters caused;
	uint32_t threads_running, threads_ended;
};

static inline void totals_add(struct totals *totals, const struct counters *counters,
        const struct caused_counters *caused)
{
	counters_merge(&totals->counters, counters);
	totals->caused.waits += caused->waits;
	totals->caused.wait_ns_total += caused->wait_ns_total;
	if (caused->wait_ns_max > totals->caused.wait_ns_max)
		totals->caused.wait_ns_max = caused->wait_ns_max;
}

/* Over all threads that have been and are; exact when no other thread is running. */
static inline struct totals totals_read(void)
{
	struct totals totals = { .threads_running = 0 };
	for (uint32_t i = 0; i < record_header->regions[REGION_THREADS].used; i++) {
		const struct record_thread *thread = record_entry(REGION_THREADS, i);
		if (thread->tid == 0)
			continue;
		totals.threads_running++;
		totals_add(&totals, &thread->counters, &thread->caused);
	}
	for (uint32_t i = 0; i < record_header->regions[REGION_RETIRED].used; i++) {
		const struct record_retired *retired = record_entry(REGION_RETIRED, i);
		totals.threads_ended += retired->threads;
		totals_add(&totals, &retired->counters, &retired->caused);
	}
	return totals;
}

#endif
