/*
 * Adds up the record's threads.
 */
#include "totals.h"

#include <string.h>

#include "probes/counters.h"
#include "probes/record_map.h"

void totals_read(struct counters *totals)
{
	memset(totals, 0, sizeof(*totals));
	/* Slots of ended threads are zero: their figures are in the rows of retired ones. */
	for (uint32_t slot = 0; slot < record_used(REGION_THREADS); slot++) {
		const struct record_thread *thread = record_entry(REGION_THREADS, slot);
		counters_merge(totals, &thread->counters);
	}
	for (uint32_t row = 0; row < record_used(REGION_RETIRED); row++) {
		const struct record_retired *retired = record_entry(REGION_RETIRED, row);
		counters_merge(totals, &retired->counters);
	}
}

bool totals_any(void)
{
	struct counters totals;
	totals_read(&totals);
	return !counters_are_zero(&totals) || record_header->threads_lost != 0;
}
