/*
 * The one clock of the record: nanoseconds of CLOCK_MONOTONIC. libc's clock_gettime
 * reads it without a system call, sets no errno here, and is async-signal-safe.
 */
#ifndef PROBES_CLOCK_H
#define PROBES_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
