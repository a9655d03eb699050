/*
 * Adds up the record's threads.
 */
#include "totals.h"

#include <string.h>

#include "probes/record_map.h"

static uint32_t used(enum record_region_id id)
{
	return __atomic_load_n(&record_header->regions[id].used, __ATOMIC_ACQUIRE);
}

static void add(
        struct totals *to, const struct mutex_counters *mutex, const struct cond_counters *cond)
{
#define SUM(to, from)                      ((to) += (from))
#define MAX(to, from)                      ((to) = (to) > (from) ? (to) : (from))
#define MUTEX_COUNTER(name, combine, help) combine(to->mutex.name, mutex->name);
#define COND_COUNTER(name, combine, help)  combine(to->cond.name, cond->name);
#include "probes/counters.def"
#undef SUM
#undef MAX
}

void totals_read(struct totals *totals)
{
	memset(totals, 0, sizeof(*totals));
	/* Slots of ended threads are zero: their figures are in the rows of retired ones. */
	for (uint32_t slot = 0; slot < used(REGION_THREADS); slot++) {
		const struct record_thread *thread = record_entry(REGION_THREADS, slot);
		add(totals, &thread->mutex, &thread->cond);
	}
	for (uint32_t row = 0; row < used(REGION_RETIRED); row++) {
		const struct record_retired *retired = record_entry(REGION_RETIRED, row);
		add(totals, &retired->mutex, &retired->cond);
	}
}

bool totals_any(void)
{
	struct totals totals;
	totals_read(&totals);
	const struct mutex_counters *mutex = &totals.mutex;
	const struct cond_counters *cond = &totals.cond;
	return (mutex->acquired | mutex->contended | mutex->try_failed | mutex->timed_out |
	               mutex->passed_through | cond->waits | cond->signals | cond->broadcasts) != 0;
}
