/*
 * Does for a record that is read in mid-run, or whose process was killed, what each thread does for
 * itself at its next wait.
 */
#include "pending.h"

#include <stddef.h>
#include <string.h>

#include "probes/counters.h"

static void settle_lock(struct record *record, const struct record_pending *pending)
{
	struct record_lock lock;
	uint32_t entry = pending->lock - 1;
	if (!record_copy(record, REGION_LOCKS, entry, &lock, sizeof(lock)))
		return;
	wait_totals_add(&lock.wait, pending->wait_ns);
	record_put(record, REGION_LOCKS, entry, &lock, sizeof(lock));
}

static void settle_site(struct record *record, const struct record_pending *pending)
{
	struct record_site site;
	uint32_t entry = pending->site - 1;
	if (pending->site == 0 || !record_copy(record, REGION_SITES, entry, &site, sizeof(site)))
		return;
	wait_totals_add(&site.wait, pending->wait_ns);
	record_put(record, REGION_SITES, entry, &site, sizeof(site));
}

static void settle_blame(struct record *record, const struct record_pending *pending)
{
	struct record_blame blame;
	uint32_t entry = pending->blame - 1;
	if (pending->blame == 0 || !record_copy(record, REGION_BLAME, entry, &blame, sizeof(blame)))
		return;
	shared_add(&blame.waits, 1);
	shared_add(&blame.wait_ns_total, pending->wait_ns);
	shared_max(&blame.wait_ns_max, pending->wait_ns);
	record_put(record, REGION_BLAME, entry, &blame, sizeof(blame));
}

static void settle_holder(struct record *record, const struct record_pending *pending)
{
	struct record_thread holder;
	for (uint32_t i = 0; pending->holder_tid != 0 && i < record->entries[REGION_THREADS]; i++) {
		if (!record_copy(record, REGION_THREADS, i, &holder, sizeof(holder)) ||
		        holder.tid != pending->holder_tid)
			continue;
		shared_add(&holder.caused.waits, 1);
		shared_add(&holder.caused.wait_ns_total, pending->wait_ns);
		shared_max(&holder.caused.wait_ns_max, pending->wait_ns);
		record_put(record, REGION_THREADS, i, &holder, sizeof(holder));
		return;
	}
}

void pending_settle(struct record *record)
{
	struct record_thread thread;
	for (uint32_t i = 0; i < record->entries[REGION_THREADS]; i++) {
		if (!record_copy(record, REGION_THREADS, i, &thread, sizeof(thread)) ||
		        thread.tid == 0 || thread.pending.lock == 0)
			continue;
		settle_lock(record, &thread.pending);
		settle_site(record, &thread.pending);
		settle_blame(record, &thread.pending);
		settle_holder(record, &thread.pending);
	}
}
