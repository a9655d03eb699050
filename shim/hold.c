/*
 * Notes what threads hold, in memory of the process's own: one holder for each slot of a thread.
 */
#include "hold.h"

#include <sys/mman.h>

#include "probes/record_map.h"
#include "probes/sys.h"
#include "probes/waits.h"

bool hold_on;
__thread struct holder *hold_quick __attribute__((tls_model("initial-exec")));
static struct holder *holders; /* by slot */

bool hold_start(void)
{
	size_t bytes = record_header->regions[REGION_THREADS].capacity * sizeof(struct holder);
	long address = sys_call6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_failed(address))
		return false;
	holders = (struct holder *)address;
	clock_ticks_start();
	hold_on = true;
	return true;
}

void hold_stop(void)
{
	hold_on = false;
	hold_quick = NULL;
}

void hold_enter(struct record_thread *self)
{
	if (!hold_on)
		return;
	struct holder *holder = &holders[self->slot];
	holder->self = self;
	holder->count = 0;
	for (uint32_t i = 0; i < KNOWN; i++)
		holder->known[i].lock = holder->known[i].since = 0;
	hold_quick = clock_tick_scale != 0 ? holder : NULL;
}

static void strike(struct holder *holder, uint32_t entry)
{
	for (; entry + 1 < holder->count; entry++)
		holder->held[entry] = holder->held[entry + 1];
	holder->count--;
}

static void push(struct holder *holder, uint64_t lock, enum record_mode mode)
{
	if (holder->count == HELD) /* the oldest one may have been released by another thread */
		strike(holder, 0);
	holder->held[holder->count] = (struct held){ lock, clock_ticks(), mode };
	holder->count++;
}

/* Takes the latest hold of the lock off the list; false when it is not there. */
static bool take(struct holder *holder, uint64_t lock, struct held *taken)
{
	uint32_t i = holder->count;
	while (i > 0 && holder->held[i - 1].lock != lock)
		i--;
	if (i == 0)
		return false;
	*taken = holder->held[i - 1];
	strike(holder, i - 1);
	return true;
}

/* What stands for the row of a lock when there is no room for one. */
static struct record_lock no_row = { .destroyed = 1 };

/* Looks for the row again where the lock is new at its address, and where there was no room but a
 * wait may have made one. */
static struct record_lock *find_row(
        struct known *known, uint64_t lock, enum record_family family, uint32_t kind)
{
	uint32_t rows = record_header->regions[REGION_LOCKS].used;
	if (known->row != NULL && known->row->destroyed == 0)
		return known->row;
	if (known->row == &no_row && known->rows == rows)
		return known->row;
	struct record_lock *row = record_lock_row(lock, family, kind);
	known->row = row != NULL ? row : &no_row;
	known->rows = rows;
	return known->row;
}

/* Makes the lock known; false when its place is that of a mutex which is held. */
static bool know(struct known *known, uint64_t lock)
{
	if (known->lock == lock)
		return true;
	if (known->since != 0)
		return false;
	known->lock = lock;
	known->row = NULL;
	return true;
}

void hold_mutex_begun(const struct record_thread *self, const pthread_mutex_t *mutex)
{
	struct holder *holder = &holders[self->slot];
	uint64_t lock = (uint64_t)(uintptr_t)mutex;
	struct known *known = hold_known(holder, lock);
	if (!know(known, lock)) {
		push(holder, lock, MODE_EXCLUSIVE);
		return;
	}
	find_row(known, lock, FAMILY_mutex, (uint32_t)mutex_kind(mutex));
	known->since = clock_ticks();
}

/* Adds to totals that the lock itself keeps other writers out of. */
static void add_exclusive(struct hold_totals *totals, uint64_t hold_ns, bool released)
{
	counter_add(&totals->acquired, released);
	counter_add(&totals->hold_ns_total, hold_ns);
	counter_max(&totals->hold_ns_max, hold_ns);
}

static void add_shared(struct hold_totals *totals, uint64_t hold_ns)
{
	shared_add(&totals->acquired, 1);
	shared_add(&totals->hold_ns_total, hold_ns);
	shared_max(&totals->hold_ns_max, hold_ns);
}

static void add_mutex(
        struct record_lock *row, uint64_t hold_ns, bool released, struct mutex_counters *counters)
{
	counter_add(&counters->hold_ns_total, hold_ns);
	counter_max(&counters->hold_ns_max, hold_ns);
	if (row == NULL || row == &no_row) {
		counter_add(&counters->hold_lost, released);
		return;
	}
	add_exclusive(&row->hold, hold_ns, released);
}

void hold_mutex_ended(struct record_thread *self, const pthread_mutex_t *mutex, bool released)
{
	uint64_t now = clock_ticks(), lock = (uint64_t)(uintptr_t)mutex;
	uint32_t kind = (uint32_t)mutex_kind(mutex);
	struct mutex_counters *counters = &self->counters.mutex;
	struct holder *holder = &holders[self->slot];
	struct known *known = hold_known(holder, lock);
	bool ours = mutex_owner(mutex) == self->tid;
	struct held held;
	if (ours && known->lock == lock && known->since != 0) {
		uint64_t hold_ns = clock_ticks_ns(known->since, now);
		known->since = 0;
		add_mutex(find_row(known, lock, FAMILY_mutex, kind), hold_ns, released, counters);
	} else if (ours && take(holder, lock, &held)) {
		add_mutex(record_lock_row(lock, FAMILY_mutex, kind),
		        clock_ticks_ns(held.since, now), released, counters);
	} else {
		counter_add(&counters->hold_lost, released);
	}
}

void hold_rwlock_begun(
        const struct record_thread *self, const pthread_rwlock_t *lock, enum record_mode mode)
{
	push(&holders[self->slot], (uint64_t)(uintptr_t)lock, mode);
}

void hold_rwlock_ended(struct record_thread *self, const pthread_rwlock_t *lock)
{
	uint64_t now = clock_ticks(), address = (uint64_t)(uintptr_t)lock;
	struct rwlock_counters *counters = &self->counters.rwlock;
	struct holder *holder = &holders[self->slot];
	struct known *known = hold_known(holder, address + FAMILY_rwlock);
	struct held held;
	if (!take(holder, address, &held)) {
		counter_add(&counters->hold_lost, 1);
		return;
	}
	bool reads = held.mode == MODE_SHARED;
	uint64_t hold_ns = clock_ticks_ns(held.since, now);
	counter_add(
	        reads ? &counters->read_hold_ns_total : &counters->write_hold_ns_total, hold_ns);
	counter_max(reads ? &counters->read_hold_ns_max : &counters->write_hold_ns_max, hold_ns);
	struct record_lock *row = know(known, address + FAMILY_rwlock)
	                                  ? find_row(known, address, FAMILY_rwlock, 0)
	                                  : record_lock_row(address, FAMILY_rwlock, 0);
	if (row == NULL || row == &no_row) {
		counter_add(&counters->hold_lost, 1);
		return;
	}
	if (reads)
		add_shared(&row->read_hold, hold_ns);
	else
		add_exclusive(&row->hold, hold_ns, true);
}
