/*
 * The bounded polls before a blocking call, one way for all families that have no strategies of
 * their own.
 */
#include "polling.h"

#include <stddef.h>

#include "control.h"
#include "probes/counters.h"
#include "probes/record_map.h"
#include "probes/sys.h"
#include "strategy.h"
#include "thread.h"

#define IN_ORDER(family)                                                                           \
	(offsetof(struct family, spun_useful) == offsetof(struct family, spun) + 8 &&              \
	        offsetof(struct family, spun_vain) == offsetof(struct family, spun) + 16 &&        \
	        offsetof(struct family, yielded) == offsetof(struct family, spun) + 24)

_Static_assert(IN_ORDER(rwlock_counters) && IN_ORDER(sem_counters) && IN_ORDER(futex_counters),
        "polling_count adds to four counters in a row");

struct polling polling_run(
        const struct record_choice *choice, bool (*ready)(void *lock), void *lock)
{
	struct polling polling = { 0, 0, false };
	enum polling_strategy strategy = polling_strategy(choice);
	enum wait_hint hint = control_hint();
	uint32_t count = control_count(&choice->count);
	if (strategy == POLLING_spin && thread_may_poll()) {
		while (!polling.useful && polling.polls < count) {
			polling.polls++;
			wait_pause(hint);
			polling.useful = ready(lock);
		}
	} else if (strategy == POLLING_yield && !record_filtered()) {
		while (!polling.useful && polling.yields < count) {
			polling.yields++;
			sys_call3(SYS_sched_yield, 0, 0, 0);
			polling.useful = ready(lock);
		}
	}
	return polling;
}

void polling_count(const struct polling *polling, uint64_t *spun)
{
	if (polling->polls + polling->yields == 0)
		return;
	counter_add(spun, polling->polls);
	counter_add(spun + (polling->useful ? 1 : 2), 1);
	counter_add(spun + 3, polling->yields);
}
