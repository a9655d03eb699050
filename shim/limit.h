/*
 * How a wait ends, when it does: what the caller of a timed function gave.
 */
#ifndef SHIM_LIMIT_H
#define SHIM_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct wait_limit {
	clockid_t clock;
	const struct timespec *deadline; /* absolute, NULL: never */
	bool clocklock;                  /* the caller used a function that takes a clock */
};

static inline struct wait_limit limit_none(void)
{
	return (struct wait_limit){ CLOCK_REALTIME, NULL, false };
}

static inline struct wait_limit limit_real(const struct timespec *deadline)
{
	return (struct wait_limit){ CLOCK_REALTIME, deadline, false };
}

static inline struct wait_limit limit_clock(clockid_t clock, const struct timespec *deadline)
{
	return (struct wait_limit){ clock, deadline, true };
}

/* Whether libc takes it; if not, it answers EINVAL also where there is nothing to wait for. */
static inline bool limit_is_valid(const struct wait_limit *limit)
{
	if (limit->clock != CLOCK_REALTIME && limit->clock != CLOCK_MONOTONIC)
		return false;
	return limit->deadline == NULL ||
	       (limit->deadline->tv_nsec >= 0 && limit->deadline->tv_nsec < 1000000000);
}

#endif
