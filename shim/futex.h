/*
 * The futex system call, raw: no errno, no cancellation point.
 */
#ifndef SHIM_FUTEX_H
#define SHIM_FUTEX_H

#include <linux/futex.h>
#include <stdint.h>
#include <time.h>

#include "probes/sys.h"

#define FUTEX_SCOPE(shared) ((shared) ? 0 : FUTEX_PRIVATE_FLAG)

/* Sleeps while *word == value, until `deadline` (absolute, of `clock`; NULL: for ever). 0 or
 * -errno: EAGAIN (changed), EINTR, ETIMEDOUT, EINVAL. */
static inline long futex_wait(const void *word, uint32_t value, bool shared, clockid_t clock,
        const struct timespec *deadline)
{
	int operation = FUTEX_WAIT_BITSET | FUTEX_SCOPE(shared) |
	                (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
	return sys_call6(SYS_futex, SYS_ARG(word), operation, value, SYS_ARG(deadline), 0,
	        (long)FUTEX_BITSET_MATCH_ANY);
}

static inline void futex_wake_one(const void *word, bool shared)
{
	sys_call6(SYS_futex, SYS_ARG(word), FUTEX_WAKE | FUTEX_SCOPE(shared), 1, 0, 0, 0);
}

#endif
