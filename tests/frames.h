/*
 * For tests of stacks: calls that leave frames, and the start of stacks in the test's own process.
 */
#ifndef TESTS_FRAMES_H
#define TESTS_FRAMES_H

#include <string.h>

#include "probes/record_map.h"
#include "shim/settings.h"
#include "shim/stacks.h"

/* A function that has a frame, even where it ends with a call. */
#if defined(__clang__)
#define NOT_INLINED __attribute__((noinline, optnone))
#else
#define NOT_INLINED __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))
#endif

/* Every test has a process of its own, where the shim has made a record. */
static inline void frames_load(void)
{
	settings.stack_depth = RECORD_MAX_STACK;
	((struct record_control *)record_entry(REGION_CONTROL, 0))->stack_depth = RECORD_MAX_STACK;
	stacks_load();
}

static NOT_INLINED __attribute__((unused)) int frames_call(int depth, void (*last)(void))
{
	volatile char used[64];
	memset((char *)used, depth, sizeof(used));
	if (depth == 0)
		last();
	else
		used[0] = (char)frames_call(depth - 1, last);
	return used[0] + 1;
}

#endif
