/*
 * Gives the CPU away and looks again: wins when the owner is runnable but has no CPU, as with more
 * threads than CPUs. Also on one CPU, since yielding is what lets the owner run there.
 */
#include "shim/strategy.h"

#include "shim/futex.h"

void wait_yield(struct wait *wait)
{
	wait->yields++;
	sys_call3(SYS_sched_yield, 0, 0, 0);
}

int yield_wait(struct wait *wait)
{
	for (uint32_t i = 0; wait->may_yield && i < wait->count; i++) {
		wait_yield(wait);
		if (wait_is_free(wait) && wait_try(wait))
			return 0;
	}
	return wait_park(wait);
}
