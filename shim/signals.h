/*
 * The calling thread's signals, by raw system calls: libc's own hide two of them.
 */
#ifndef SHIM_SIGNALS_H
#define SHIM_SIGNALS_H

#include <signal.h>
#include <stdint.h>

#include "probes/sys.h"

#define SIGNALS_ALL   (~UINT64_C(0))
#define SIGNAL_BIT(n) (UINT64_C(1) << ((n)-1))

/* As the kernel takes it; the same on both machines. */
struct signal_action {
	uintptr_t handler; /* of SIG_DFL, SIG_IGN or a function */
	unsigned long flags;
	uintptr_t restorer;
	uint64_t mask;
};

/* Returns the mask that was in force. */
static inline uint64_t signals_set_mask(uint64_t mask)
{
	uint64_t old = 0;
	sys_call6(
	        SYS_rt_sigprocmask, SIG_SETMASK, SYS_ARG(&mask), SYS_ARG(&old), sizeof(mask), 0, 0);
	return old;
}

static inline long signals_action(
        int number, const struct signal_action *action, struct signal_action *old)
{
	return sys_call6(
	        SYS_rt_sigaction, number, SYS_ARG(action), SYS_ARG(old), sizeof(uint64_t), 0, 0);
}

/* Takes a blocked, pending signal of the set out of the queue, waiting up to wait_ns for one.
 * Returns its number, 0 when none came. */
static inline int signals_take(uint64_t set, uint64_t wait_ns)
{
	struct timespec limit = { (time_t)(wait_ns / 1000000000u), (long)(wait_ns % 1000000000u) };
	long result = sys_call6(
	        SYS_rt_sigtimedwait, SYS_ARG(&set), 0, SYS_ARG(&limit), sizeof(set), 0, 0);
	return result > 0 ? (int)result : 0;
}

static inline uint64_t signals_pending(void)
{
	uint64_t set = 0;
	sys_call3(SYS_rt_sigpending, SYS_ARG(&set), sizeof(set), 0);
	return set;
}

#endif
