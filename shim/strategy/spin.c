/*
 * Polls the word a bounded number of times: wins when critical sections are shorter than a sleep
 * and their owner is running.
 */
#include "shim/strategy.h"

int spin_wait(struct wait *wait)
{
	for (uint32_t i = 0; wait->may_poll && i < wait->count; i++)
		if (wait_poll(wait))
			return 0;
	return wait_park(wait);
}
