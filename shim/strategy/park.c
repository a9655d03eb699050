/*
 * Straight to the futex: the cheapest wait in CPU time, the dearest in wake-up time.
 */
#include "shim/strategy.h"

#include <errno.h>

#include "shim/futex.h"

/* Takes the word as WAITED, since other sleepers may remain: the third mutex of Drepper, "Futexes
 * Are Tricky", 2011, which is glibc's own. */
int wait_park(struct wait *wait)
{
	/* Pairs with the release of the word by the previous owner. */
	while (__atomic_exchange_n(wait->word, WORD_WAITED, __ATOMIC_ACQUIRE) != WORD_FREE) {
		if (wait->deadline != NULL && wait->deadline->tv_sec < 0)
			return ETIMEDOUT; /* as libc: the kernel would call it invalid */
		wait->parks++;
		long result = futex_wait(
		        wait->word, WORD_WAITED, wait->shared, wait->clock, wait->deadline);
		if (result == -ETIMEDOUT || result == -EINVAL)
			return (int)-result;
	}
	return 0;
}

int park_wait(struct wait *wait)
{
	return wait_park(wait);
}
