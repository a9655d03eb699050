/*
 * The one clock of the record: nanoseconds of CLOCK_MONOTONIC. For times of a few nanoseconds, of
 * which there are many, a counter of the CPU stands in for it where it is known to keep time.
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

/* Nanoseconds of a tick, times 2^32; 0 while ticks are nanoseconds of the clock. */
extern uint64_t clock_tick_scale __attribute__((visibility("hidden")));

/*
 * Looks for a counter to read ticks from, and measures it beside the clock for a few milliseconds.
 * On x86-64 the time stamp counter is trusted when the CPU says that it is invariant (CPUID leaf
 * 0x80000007) and the kernel takes its own time from it, or does not say what it takes; on AArch64
 * the virtual counter always is. Without one, ticks remain those of the clock.
 */
void clock_ticks_start(void);

/* The counter itself: faults where the process has been forbidden to read it. */
static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t count;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
	return count;
#endif
}

static inline uint64_t clock_ticks(void)
{
	return __builtin_expect(clock_tick_scale != 0, 1) ? clock_counter() : clock_monotonic_ns();
}

/* The time between two readings of the counter; 0 for a second one that is behind the first, as two
 * CPUs may differ by a little. */
static inline uint64_t clock_counter_ns(uint64_t from, uint64_t to)
{
	uint64_t count = to - from;
	if (__builtin_expect((count | clock_tick_scale) >> 32 == 0, 1)) /* the usual case */
		return count * clock_tick_scale >> 32;
	if (to < from)
		return 0;
	return (uint64_t)((unsigned __int128)count * clock_tick_scale >> 32);
}

/* The same for two readings of clock_ticks(). */
static inline uint64_t clock_ticks_ns(uint64_t from, uint64_t to)
{
	if (__builtin_expect(clock_tick_scale != 0, 1))
		return clock_counter_ns(from, to);
	return to > from ? to - from : 0;
}

#endif
