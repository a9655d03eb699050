/*
 * How counters are added to: by their own thread without a lock prefix, by others atomically.
 */
#ifndef PROBES_COUNTERS_H
#define PROBES_COUNTERS_H

#include <stdbool.h>

#include "record.h"

/* For a counter that only the calling thread writes; others may read it at any time. */
static inline void counter_add(uint64_t *counter, uint64_t amount)
{
	__atomic_store_n(
	        counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + amount, __ATOMIC_RELAXED);
}

/* Takes back 1 that was counted ahead of what has not come about. To count ahead of an atomic
 * operation is cheaper: behind it, the load and the store would wait for it. */
static inline void counter_take_back(uint64_t *counter)
{
	counter_add(counter, UINT64_MAX);
}

static inline void counter_max(uint64_t *counter, uint64_t value)
{
	if (value > __atomic_load_n(counter, __ATOMIC_RELAXED))
		__atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

/* For a counter that several threads write. */
static inline void shared_add(uint64_t *counter, uint64_t amount)
{
	__atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}

static inline void shared_max(uint64_t *counter, uint64_t value)
{
	uint64_t old = __atomic_load_n(counter, __ATOMIC_RELAXED);
	while (value > old)
		if (__atomic_compare_exchange_n(
		            counter, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
}

/* One row for each counter of struct counters, in its order. */
struct counter {
	enum record_family family;
	const char *name;
	bool is_max; /* the values of two threads combine to the larger one; else to the sum */
	const char *help;
};

#define COUNTER_COUNT (sizeof(struct counters) / sizeof(uint64_t))

extern const struct counter counter_table[COUNTER_COUNT];

/* By enum record_family: its name in counters.def, what people call it, and the first of its
 * counters. */
struct counter_family {
	const char *name, *title;
	size_t first, count;
};

extern const struct counter_family counter_families[FAMILY_COUNT];

/* The value of row `row` of counter_table. */
static inline uint64_t counter_value(const struct counters *counters, size_t row)
{
	return ((const uint64_t *)counters)[row];
}

/* Adds from to to, which only the caller writes. */
void counters_merge(struct counters *to, const struct counters *from);

/* The same where several threads write to to. */
void counters_fold(struct counters *to, const struct counters *from);

/* Whether every counter is 0. */
bool counters_are_zero(const struct counters *counters);

/* Bucket b holds [2^b, 2^(b+1)) ns; 0 ns counts in bucket 0, everything too long in the last. */
static inline unsigned histogram_bucket(uint64_t ns)
{
	unsigned bucket = ns < 2 ? 0 : 63u - (unsigned)__builtin_clzll(ns);
	return bucket < RECORD_BUCKETS ? bucket : RECORD_BUCKETS - 1;
}

static inline void wait_totals_add(struct wait_totals *totals, uint64_t wait_ns)
{
	shared_add(&totals->waits, 1);
	shared_add(&totals->wait_ns_total, wait_ns);
	shared_max(&totals->wait_ns_max, wait_ns);
	__atomic_fetch_add(&totals->histogram[histogram_bucket(wait_ns)], 1, __ATOMIC_RELAXED);
}

#endif
