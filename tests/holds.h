/*
 * What the tests of holds share: begun as in a process with ABSHIM_STATS=hold, by either clock, and
 * what the rows of a lock say.
 */
#ifndef TESTS_HOLDS_H
#define TESTS_HOLDS_H

#include "probes/clock.h"
#include "shim/hold.h"
#include "shim/settings.h"
#include "tests/locks.h"

#define SLEEP_MS 20
#define SLEEP_NS (SLEEP_MS * UINT64_C(1000000))
#define ROUNDS   100u

/* Two clocks that are calibrated against each other may differ by this much. */
static inline uint64_t with_tolerance(uint64_t ns)
{
	return ns + ns / 64 + 1000;
}

struct of_lock {
	unsigned rows;
	struct hold_totals hold, read_hold;
	uint64_t waits;
};

static inline void add_totals(struct hold_totals *to, const struct hold_totals *from)
{
	to->acquired += from->acquired;
	to->hold_ns_total += from->hold_ns_total;
	if (from->hold_ns_max > to->hold_ns_max)
		to->hold_ns_max = from->hold_ns_max;
}

/* What the rows of an address say, one lock after another. */
static inline struct of_lock rows_of(const volatile void *lock, enum record_family family)
{
	struct of_lock sum = { .rows = 0 };
	for (uint32_t i = 0; i < record_header->regions[REGION_LOCKS].used; i++) {
		const struct record_lock *row = record_entry(REGION_LOCKS, i);
		if (row->address != (uintptr_t)lock || row->family != family)
			continue;
		sum.rows++;
		sum.waits += row->wait.waits;
		add_totals(&sum.hold, &row->hold);
		add_totals(&sum.read_hold, &row->read_hold);
	}
	return sum;
}

static inline void init(pthread_mutex_t *mutex, int type)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	expect(pthread_mutexattr_settype(&attributes, type), 0);
	expect(pthread_mutex_init(mutex, &attributes), 0);
	pthread_mutexattr_destroy(&attributes);
}

/* Counting begins. way: 0 with the CPU's counter where there is one, 1 with the clock. */
static inline void begin(int way)
{
	if (way == 1) {
		clock_tick_scale = 0;
		hold_quick = NULL;
	}
	locks_use(&locks_control()->rwlock, 0, 0);
}

/* Runs the tests: each is a forked child of this process, and begins as one whose parent times
 * holds.
 */
static inline int holds_run(TCase *cases, const char *name)
{
	settings.stats = STATS_HOLD;
	if (!hold_start()) {
		puts("no memory for held locks");
		return EXIT_FAILURE;
	}
	tcase_set_timeout(cases, 60);
	return locks_run(cases, name);
}

#endif
