/*
 * The lists of held locks: memory of the process's own, one list for each slot of a thread.
 */
#include "hold.h"

#include <sys/mman.h>

#include "mutex.h"
#include "probes/clock.h"
#include "probes/counters.h"
#include "probes/record_map.h"
#include "probes/sys.h"
#include "probes/waits.h"

bool hold_on;
struct holder *hold_holders;

static size_t holders_bytes(void)
{
	return record_header->regions[REGION_THREADS].capacity * sizeof(struct holder);
}

/* In a child, in place of the parent's. */
static bool map_holders(void)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
	            (hold_holders != NULL ? MAP_FIXED : 0);
	long address = sys_call6(SYS_mmap, SYS_ARG(hold_holders), (long)holders_bytes(),
	        PROT_READ | PROT_WRITE, flags, -1, 0);
	if (sys_failed(address))
		return false;
	hold_holders = (struct holder *)address;
	return true;
}

bool hold_start(void)
{
	if (!map_holders())
		return false;
	clock_ticks_start();
	hold_on = true;
	return true;
}

void hold_forked(void)
{
	if (hold_on)
		hold_on = map_holders();
}

void hold_stop(void)
{
	hold_on = false;
}

void hold_enter(const struct record_thread *self)
{
	if (hold_on)
		hold_holders[self->slot].count = 0;
}

static void strike(struct holder *holder, uint32_t entry)
{
	for (; entry + 1 < holder->count; entry++)
		holder->held[entry] = holder->held[entry + 1];
	holder->count--;
}

void hold_make_room(struct holder *holder)
{
	strike(holder, 0);
}

uint64_t hold_take_below(struct holder *holder, uint64_t lock)
{
	uint32_t i = holder->count;
	while (i > 0 && holder->held[i - 1].lock != lock)
		i--;
	if (i == 0)
		return 0;
	uint64_t since = holder->held[i - 1].since;
	strike(holder, i - 1);
	return since;
}

struct record_lock *hold_find_row(
        struct known *known, uint64_t lock, enum record_family family, uint32_t kind)
{
	uint32_t rows = record_header->regions[REGION_LOCKS].used;
	/* A wait may have made a row for it meanwhile. */
	if (known->lock == lock && known->row == NULL && known->rows == rows)
		return NULL;
	known->rows = rows;
	known->row = record_lock_row(lock, family, kind);
	known->lock = lock;
	return known->row;
}

void hold_rwlock_ended(struct record_thread *self, const void *lock)
{
	uint64_t now = clock_ticks(), address = (uint64_t)(uintptr_t)lock;
	struct rwlock_counters *counters = &self->counters.rwlock;
	struct holder *holder = &hold_holders[self->slot];
	uint64_t since = hold_take(holder, address | MODE_SHARED);
	bool reads = since != 0;
	if (!reads)
		since = hold_take(holder, address | MODE_EXCLUSIVE);
	if (since == 0) {
		counter_add(&counters->hold_lost, 1);
		return;
	}
	uint64_t hold_ns = clock_ticks_ns(since, now);
	counter_add(
	        reads ? &counters->read_hold_ns_total : &counters->write_hold_ns_total, hold_ns);
	counter_max(reads ? &counters->read_hold_ns_max : &counters->write_hold_ns_max, hold_ns);
	struct record_lock *row = hold_row(holder, address, FAMILY_rwlock, 0);
	if (row == NULL) {
		counter_add(&counters->hold_lost, 1);
		return;
	}
	struct hold_totals *totals = reads ? &row->read_hold : &row->hold;
	shared_add(&totals->acquired, 1);
	shared_add(&totals->hold_ns_total, hold_ns);
	shared_max(&totals->hold_ns_max, hold_ns);
}
