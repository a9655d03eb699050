/*
 * Which waits and releases have their stack taken, and when it may be done.
 */
#ifndef SHIM_STACKS_H
#define SHIM_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "control.h"
#include "probes/waits.h"
#include "unwind.h"

/* Loads libunwind where stacks are asked for; ends the process with a message when that fails. The
 * caller holds no lock. */
void stacks_load(void);

/* In a forked child, before its record is made. False: no stack can be taken from now on, since the
 * fork came while another thread was taking one. */
bool stacks_forked(void);

/* No stack is taken by anybody from when the first returns until the same thread calls the second:
 * while code is unloaded, or system calls are no longer allowed. They may nest. */
void stacks_hold_off(void);
void stacks_allow(void);

/* The two halves of the functions below. */
void stacks_take_waiter(const struct unwind_registers *from, const struct record_pending *pending,
        uint64_t ended_ns, uint64_t wait_ns);
void stacks_take_holder(
        const struct unwind_registers *from, uint64_t acquired_at, const void *site);

static inline bool stacks_on(void)
{
	return __builtin_expect(__atomic_load_n(&control()->stack_depth, __ATOMIC_RELAXED) != 0, 0);
}

/* A wait has been timed; ended_ns: the time now. */
static inline __attribute__((always_inline)) void stacks_waited(
        const struct record_pending *pending, uint64_t ended_ns, uint64_t wait_ns)
{
	struct unwind_registers here;
	if (!stacks_on())
		return;
	unwind_here(&here); /* every frame less is time saved */
	stacks_take_waiter(&here, pending, ended_ns, wait_ns);
}

/* The calling thread has just released a lock that others waited for, by the call that returns to
 * site. acquired_at: the return address of the call that had acquired it, 0 unknown. */
static inline __attribute__((always_inline)) void stacks_released(
        uint64_t acquired_at, const void *site)
{
	struct unwind_registers here;
	if (!stacks_on())
		return;
	unwind_here(&here);
	stacks_take_holder(&here, acquired_at, site);
}

#endif
