/*
 * The one clock of the record: nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef PROBES_CLOCK_H
#define PROBES_CLOCK_H

#include <stdint.h>
#include <time.h>

/* How the clock is read: by a system call until a quicker function is put here. Must be safe in a
 * signal handler and leave errno alone. */
extern int (*clock_source)(clockid_t clock, struct timespec *now)
        __attribute__((visibility("hidden")));

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_source(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
