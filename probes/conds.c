/*
 * A hash table of the condition variables with waiters. Rows are reused when their last waiter has
 * gone; an update that loses a race there makes one wait unsplit, never a wrong one.
 */
#include "conds.h"

#include "clock.h"
#include "record_map.h"

#define WINDOW 8u /* rows that an address may be in */

static struct record_cond *row(uint64_t address, uint32_t step)
{
	uint32_t home = (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
	return record_entry(REGION_CONDS, (home + step) % record_places[REGION_CONDS].capacity);
}

static struct record_cond *find(uint64_t address)
{
	for (uint32_t step = 0; step < WINDOW; step++) {
		struct record_cond *cond = row(address, step);
		if (__atomic_load_n(&cond->address, __ATOMIC_RELAXED) == address)
			return cond;
	}
	return NULL;
}

/* Counts the caller in, unless the row has meanwhile been given to another address. */
static bool join(struct record_cond *cond, uint64_t address)
{
	__atomic_fetch_add(&cond->waiters, 1, __ATOMIC_SEQ_CST); /* pairs with the check in claim */
	if (__atomic_load_n(&cond->address, __ATOMIC_SEQ_CST) == address)
		return true;
	__atomic_fetch_sub(&cond->waiters, 1, __ATOMIC_SEQ_CST);
	return false;
}

/* Takes a row that nobody waits on. */
static struct record_cond *claim(uint64_t address)
{
	for (uint32_t step = 0; step < WINDOW; step++) {
		struct record_cond *cond = row(address, step);
		uint64_t old = __atomic_load_n(&cond->address, __ATOMIC_RELAXED);
		if (__atomic_load_n(&cond->waiters, __ATOMIC_SEQ_CST) != 0)
			continue;
		if (!__atomic_compare_exchange_n(&cond->address, &old, address, false,
		            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			continue;
		if (join(cond, address))
			return cond;
	}
	return NULL;
}

struct record_cond *record_cond_enter(uint64_t address)
{
	if (!record_reserve(REGION_CONDS, record_places[REGION_CONDS].capacity - 1))
		return NULL;
	struct record_cond *cond = find(address);
	if (cond != NULL && join(cond, address))
		return cond;
	return claim(address);
}

/* Takes the oldest signal that no waiter has taken; 0 when there is none. */
static uint64_t take_signal(struct record_cond *cond)
{
	uint32_t taken = __atomic_load_n(&cond->taken, __ATOMIC_RELAXED);
	do {
		uint32_t granted = __atomic_load_n(&cond->granted, __ATOMIC_ACQUIRE);
		if ((int32_t)(granted - taken) <= 0)
			return 0;
	} while (!__atomic_compare_exchange_n(
	        &cond->taken, &taken, taken + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return __atomic_load_n(&cond->signalled_ns[taken % RECORD_SIGNALS], __ATOMIC_RELAXED);
}

uint64_t record_cond_leave(struct record_cond *cond, uint64_t started_ns, bool signalled)
{
	if (cond == NULL)
		return 0;
	uint64_t signal_ns = signalled ? take_signal(cond) : 0;
	if (__atomic_fetch_sub(&cond->waiters, 1, __ATOMIC_SEQ_CST) == 1) {
		/* Signals that only timed-out waiters could have taken are nobody's now. */
		uint32_t granted = __atomic_load_n(&cond->granted, __ATOMIC_RELAXED);
		__atomic_store_n(&cond->taken, granted, __ATOMIC_RELAXED);
	}
	return signal_ns >= started_ns ? signal_ns : 0;
}

void record_cond_signal(uint64_t address, bool broadcast)
{
	if (__atomic_load_n(&record_header->regions[REGION_CONDS].populated, __ATOMIC_RELAXED) == 0)
		return;
	struct record_cond *cond = find(address);
	if (cond == NULL)
		return;
	uint32_t waiters = __atomic_load_n(&cond->waiters, __ATOMIC_RELAXED);
	uint32_t granted = __atomic_load_n(&cond->granted, __ATOMIC_RELAXED);
	uint32_t pending = granted - __atomic_load_n(&cond->taken, __ATOMIC_RELAXED);
	if ((int32_t)(waiters - pending) <= 0)
		return;
	uint32_t grants = broadcast ? waiters - pending : 1;
	uint64_t now = clock_monotonic_ns();
	for (uint32_t i = 0; i < grants && i < RECORD_SIGNALS; i++)
		__atomic_store_n(
		        &cond->signalled_ns[(granted + i) % RECORD_SIGNALS], now, __ATOMIC_RELAXED);
	/* Pairs with the acquire in take_signal: the times are there. */
	__atomic_fetch_add(&cond->granted, grants, __ATOMIC_RELEASE);
}
