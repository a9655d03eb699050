/*
 * Learns for each mutex how many polls it takes, as glibc does for PTHREAD_MUTEX_ADAPTIVE_NP.
 */
#include "shim/strategy.h"

/* The limit is twice what was needed before plus 10; what was needed moves by an eighth towards
 * each new wait: the constants of glibc's nptl/pthread_mutex_lock.c. */
int adaptive_wait(struct wait *wait)
{
	uint32_t limit = (uint32_t)wait->polls_learned * 2 + 10, polls = 0;
	if (!wait->may_poll)
		return wait_park(wait);
	if (limit > wait->count)
		limit = wait->count;
	int result = -1;
	while (result < 0 && polls++ < limit)
		if (wait_poll(wait))
			result = 0;
	if (result < 0)
		result = wait_park(wait);
	wait->polls_learned += ((int)polls - wait->polls_learned) / 8;
	return result;
}
