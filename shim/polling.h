/*
 * What a thread does before a blocking call of libc's or the kernel's: it polls, as a row of
 * pollings.def says.
 */
#ifndef SHIM_POLLING_H
#define SHIM_POLLING_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/record.h"

enum polling_strategy {
#define POLLING(name, count, families, help) POLLING_##name,
#include "pollings.def"
#undef POLLING
};

/* What was done. */
struct polling {
	uint64_t polls, yields;
	bool useful; /* it ended with ready */
};

/* The row in force now. */
static inline enum polling_strategy polling_strategy(const struct record_choice *choice)
{
	return (enum polling_strategy)__atomic_load_n(&choice->strategy, __ATOMIC_RELAXED);
}

/*
 * Calls ready(lock) until it answers true, the choice's count of times at most. Between two calls
 * lies a pause or a sched_yield, one before the first as well. Does nothing where the choice is the
 * null arm, where the thread has one CPU (spin), or under a seccomp filter (yield). choice: in the
 * control page. ready: must be safe in a signal handler and leave errno alone; is no cancellation
 * point.
 */
struct polling polling_run(
        const struct record_choice *choice, bool (*ready)(void *lock), void *lock);

/* Adds it to a family's counters `spun`, `spun_useful`, `spun_vain` and `yielded`, which stand in
 * this order from the one given. */
void polling_count(const struct polling *polling, uint64_t *spun);

#endif
