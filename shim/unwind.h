/*
 * Takes the calling thread's stack by libunwind, which is loaded for it and for nothing else.
 */
#ifndef SHIM_UNWIND_H
#define SHIM_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/record.h"

struct unwind_stack {
	uint64_t frames[RECORD_MAX_STACK];
	uint32_t depth; /* frames, 1 or more */
	enum record_stack_end end;
	uint64_t start, end_of_first; /* bounds of the function that frame 0 lies in, 0 unknown */
};

/* Loads libunwind and prepares it; the calling thread may hold no lock of the loader's. Returns
 * NULL or what was wrong. */
const char *unwind_load(void);

/*
 * Takes the calling thread's stack: frame 0 is site, the return address of a function that has not
 * returned yet; limit: frames at most, 1 .. RECORD_MAX_STACK. One thread at a time, with its
 * signals blocked and thread_step_aside() called, while no code is being unloaded. Takes no lock
 * that another thread may hold, allocates nothing by malloc, and reads nothing that is not there.
 */
void unwind_take(const void *site, uint32_t limit, struct unwind_stack *stack);

#endif
