/*
 * Polls less and less often, so that many waiters do not tear the word's cache line from the owner.
 * Bounded exponential backoff: Anderson, "The Performance of Spin Lock Alternatives", 1990.
 */
#include "shim/strategy.h"

#define PAUSES_FIRST 4u
#define PAUSES_CAP   256u

/* Marsaglia, "Xorshift RNGs", 2003: the triple (13, 17, 5). */
static uint32_t next_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

void wait_back_off(struct wait_backoff *backoff)
{
	uint32_t pauses = backoff->pauses != 0 ? backoff->pauses : PAUSES_FIRST;
	/* Between half and all of this round's length. */
	uint32_t length = pauses / 2 + next_random(backoff->seed) % (pauses / 2 + 1);
	for (uint32_t i = 0; i < length; i++)
		wait_pause(backoff->hint);
	backoff->pauses = pauses < PAUSES_CAP ? pauses * 2 : PAUSES_CAP;
}

int backoff_wait(struct wait *wait)
{
	struct wait_backoff backoff = { 0, wait->seed, wait->hint };
	for (uint32_t round = 0; wait->may_poll && round < wait->count; round++) {
		wait_back_off(&backoff);
		if (wait_poll(wait))
			return 0;
	}
	return wait_park(wait);
}
