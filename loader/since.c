/*
 * Subtracts one record from another, entry by entry: no entry of a record is ever moved. Only
 * threads that have ended meanwhile are found again under their name, or where there is room.
 */
#include "since.h"

#include <string.h>

#include "probes/counters.h"

/* A torn copy may hold a little more in one place than there is now. */
static void subtract(uint64_t *from, uint64_t amount)
{
	*from -= amount < *from ? amount : *from;
}

static void subtract_32(uint32_t *from, uint32_t amount)
{
	*from -= amount < *from ? amount : *from;
}

static void subtract_counters(struct counters *from, const struct counters *amount)
{
	uint64_t *values = (uint64_t *)from;
	for (int i = 0; i < FAMILY_COUNT; i++) {
		const struct counter_family *family = &counter_families[i];
		uint64_t left = 0;
		for (size_t row = family->first; row < family->first + family->count; row++) {
			if (counter_table[row].is_max)
				continue;
			subtract(&values[row], counter_value(amount, row));
			left |= values[row];
		}
		/* The longest of no waits is 0. */
		if (left == 0)
			memset(values + family->first, 0, family->count * sizeof(*values));
	}
}

/* The first counter that amount has more of; COUNTER_COUNT: none. */
static size_t find_smaller(const struct counters *counters, const struct counters *amount)
{
	size_t row = 0;
	while (row < COUNTER_COUNT &&
	        (counter_table[row].is_max ||
	                counter_value(counters, row) >= counter_value(amount, row)))
		row++;
	return row;
}

static void subtract_caused(struct caused_counters *from, const struct caused_counters *amount)
{
	subtract(&from->waits, amount->waits);
	subtract(&from->wait_ns_total, amount->wait_ns_total);
}

static void subtract_wait(struct wait_totals *from, const struct wait_totals *amount)
{
	subtract(&from->waits, amount->waits);
	subtract(&from->wait_ns_total, amount->wait_ns_total);
	for (int bucket = 0; bucket < RECORD_BUCKETS; bucket++)
		subtract_32(&from->histogram[bucket], amount->histogram[bucket]);
}

static bool is_same_thread(const struct record_thread *a, const struct record_thread *b)
{
	return a->tid != 0 && a->tid == b->tid && a->handle == b->handle &&
	       a->started_ns == b->started_ns;
}

/*
 * A counter of a thread, or of the ended ones of a name, that the copy has more of; COUNTER_COUNT:
 * none. Their sums prove nothing: a copy may have met a thread twice, running and ended.
 */
static size_t find_later(const struct record *record, const struct record *earlier)
{
	struct record_thread thread, thread_then;
	struct record_retired retired, retired_then;
	size_t row = COUNTER_COUNT;
	for (uint32_t i = 0; row == COUNTER_COUNT && i < earlier->entries[REGION_THREADS]; i++) {
		record_copy(record, REGION_THREADS, i, &thread, sizeof(thread));
		record_copy(earlier, REGION_THREADS, i, &thread_then, sizeof(thread_then));
		if (is_same_thread(&thread, &thread_then))
			row = find_smaller(&thread.counters, &thread_then.counters);
	}
	for (uint32_t i = 0; row == COUNTER_COUNT && i < earlier->entries[REGION_RETIRED]; i++) {
		record_copy(record, REGION_RETIRED, i, &retired, sizeof(retired));
		record_copy(earlier, REGION_RETIRED, i, &retired_then, sizeof(retired_then));
		row = find_smaller(&retired.counters, &retired_then.counters);
	}
	return row;
}

static bool is_earlier(
        const struct record *record, const struct record *earlier, char why[WHY_SIZE])
{
	const struct record_header *now = &record->header, *then = &earlier->header;
	if (then->pid != now->pid || then->start_ticks != now->start_ticks ||
	        then->start_ns != now->start_ns || strcmp(then->executable, now->executable) != 0) {
		why_set(why,
		        "is of another process (pid %d, not pid %d): give an earlier copy of the "
		        "same record",
		        (int)then->pid, (int)now->pid);
		return false;
	}
	size_t row = find_later(record, earlier);
	if (row == COUNTER_COUNT)
		return true;
	why_set(why, "counts more than the record (%s %s): it is the later one of the two",
	        counter_families[counter_table[row].family].name, counter_table[row].name);
	return false;
}

static void subtract_retired(
        struct record *record, uint32_t entry, const struct record_retired *amount)
{
	struct record_retired retired;
	record_copy(record, REGION_RETIRED, entry, &retired, sizeof(retired));
	subtract_counters(&retired.counters, &amount->counters);
	subtract_caused(&retired.caused, &amount->caused);
	subtract_32(&retired.threads, amount->threads);
	record_put(record, REGION_RETIRED, entry, &retired, sizeof(retired));
}

/* The thread has ended: its counters are among those of some name; the thread may have changed its
 * own. */
static void subtract_ended(struct record *record, const struct record_thread *thread)
{
	struct record_retired retired;
	struct record_retired amount = { .counters = thread->counters, .caused = thread->caused };
	uint32_t found = record->entries[REGION_RETIRED];
	for (uint32_t i = 0; i < record->entries[REGION_RETIRED]; i++) {
		record_copy(record, REGION_RETIRED, i, &retired, sizeof(retired));
		if (retired.state == 0 ||
		        find_smaller(&retired.counters, &thread->counters) != COUNTER_COUNT)
			continue;
		bool same_name = strncmp(retired.name, thread->name, RECORD_NAME_SIZE) == 0;
		if (same_name || found == record->entries[REGION_RETIRED])
			found = i;
		if (same_name)
			break;
	}
	if (found < record->entries[REGION_RETIRED])
		subtract_retired(record, found, &amount);
}

/* The rows of names first: what has ended since then is in what is left of them. */
static void subtract_threads(struct record *record, const struct record *earlier)
{
	struct record_retired retired;
	for (uint32_t i = 0; i < earlier->entries[REGION_RETIRED]; i++)
		if (record_copy(earlier, REGION_RETIRED, i, &retired, sizeof(retired)) &&
		        i < record->entries[REGION_RETIRED])
			subtract_retired(record, i, &retired);
	for (uint32_t i = 0; i < earlier->entries[REGION_THREADS]; i++) {
		struct record_thread now, then;
		if (!record_copy(earlier, REGION_THREADS, i, &then, sizeof(then)) || then.tid == 0)
			continue;
		record_copy(record, REGION_THREADS, i, &now, sizeof(now));
		if (!is_same_thread(&now, &then)) {
			subtract_ended(record, &then);
			continue;
		}
		subtract_counters(&now.counters, &then.counters);
		subtract_caused(&now.caused, &then.caused);
		record_put(record, REGION_THREADS, i, &now, sizeof(now));
	}
}

static void subtract_hold(struct hold_totals *now, const struct hold_totals *then)
{
	subtract(&now->acquired, then->acquired);
	subtract(&now->hold_ns_total, then->hold_ns_total);
}

static void subtract_locks(struct record *record, const struct record *earlier)
{
	struct record_lock now, then;
	for (uint32_t i = 0; i < earlier->entries[REGION_LOCKS]; i++) {
		if (!record_copy(record, REGION_LOCKS, i, &now, sizeof(now)))
			return;
		record_copy(earlier, REGION_LOCKS, i, &then, sizeof(then));
		subtract_wait(&now.wait, &then.wait);
		subtract_hold(&now.hold, &then.hold);
		subtract_hold(&now.read_hold, &then.read_hold);
		record_put(record, REGION_LOCKS, i, &now, sizeof(now));
	}
}

static void subtract_sites(struct record *record, const struct record *earlier)
{
	struct record_site now, then;
	for (uint32_t i = 0; i < earlier->entries[REGION_SITES]; i++) {
		if (!record_copy(record, REGION_SITES, i, &now, sizeof(now)))
			return;
		record_copy(earlier, REGION_SITES, i, &then, sizeof(then));
		subtract_wait(&now.wait, &then.wait);
		record_put(record, REGION_SITES, i, &now, sizeof(now));
	}
}

static void subtract_blame(struct record *record, const struct record *earlier)
{
	struct record_blame now, then;
	for (uint32_t i = 0; i < earlier->entries[REGION_BLAME]; i++) {
		if (!record_copy(record, REGION_BLAME, i, &now, sizeof(now)))
			return;
		record_copy(earlier, REGION_BLAME, i, &then, sizeof(then));
		subtract(&now.waits, then.waits);
		subtract(&now.wait_ns_total, then.wait_ns_total);
		record_put(record, REGION_BLAME, i, &now, sizeof(now));
	}
}

static void subtract_stacks(struct record *record, const struct record *earlier)
{
	struct record_stack stack, stack_then;
	struct record_sample now, then;
	for (uint32_t i = 0; i < earlier->entries[REGION_STACKS]; i++) {
		if (!record_copy(record, REGION_STACKS, i, &stack, sizeof(stack)))
			break;
		record_copy(earlier, REGION_STACKS, i, &stack_then, sizeof(stack_then));
		subtract_32(&stack.holders, stack_then.holders);
		record_put(record, REGION_STACKS, i, &stack, sizeof(stack));
	}
	for (uint32_t i = 0; i < earlier->entries[REGION_SAMPLES]; i++) {
		if (!record_copy(record, REGION_SAMPLES, i, &now, sizeof(now)))
			break;
		record_copy(earlier, REGION_SAMPLES, i, &then, sizeof(then));
		subtract(&now.waits, then.waits);
		subtract(&now.wait_ns_total, then.wait_ns_total);
		record_put(record, REGION_SAMPLES, i, &now, sizeof(now));
	}
}

static void subtract_header(struct record_header *now, const struct record_header *then)
{
	subtract(&now->threads_created, then->threads_created);
	subtract(&now->threads_lost, then->threads_lost);
	subtract(&now->lost_waits, then->lost_waits);
	subtract(&now->lost_ns, then->lost_ns);
	subtract(&now->created_lost, then->created_lost);
	subtract(&now->stacks_taken, then->stacks_taken);
	subtract(&now->stacks_skipped, then->stacks_skipped);
	subtract(&now->stacks_due, then->stacks_due);
	subtract(&now->stack_ns_total, then->stack_ns_total);
	for (int id = 0; id < REGION_COUNT; id++)
		subtract_32(&now->regions[id].lost, then->regions[id].lost);
}

bool since_subtract(struct record *record, const struct record *earlier, char why[WHY_SIZE])
{
	if (!is_earlier(record, earlier, why))
		return false;
	subtract_header(&record->header, &earlier->header);
	subtract_threads(record, earlier);
	subtract_locks(record, earlier);
	subtract_sites(record, earlier);
	subtract_blame(record, earlier);
	subtract_stacks(record, earlier);
	return true;
}
