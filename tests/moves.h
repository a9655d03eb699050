/*
 * What a trampoline says of how far it has moved the stack pointer, beside what its words do.
 */
#ifndef TESTS_MOVES_H
#define TESTS_MOVES_H

#include "probes/a64.h"
#include "shim/atomics/trampoline.h"

/* By how much the word moves it. */
static inline int moves_of(uint32_t word)
{
	if ((word & 0xffff83e0) == 0xa9bf03e0) /* stp ..., [sp, #-16]! */
		return 16;
	return (word & 0xffff83e0) == 0xa8c103e0 ? -16 : 0; /* ldp ..., [sp], #16 */
}

/* Whether it is told for every word as it is on all ways there, and 0 on all ways out. */
static inline bool moves_are_told(const struct trampoline *made)
{
	if (made->moved[0] != 0)
		return false;
	for (unsigned i = 0; i < made->count; i++) {
		int after = made->moved[i] + moves_of(made->words[i]);
		bool leaves = made->words[i] >> 26 == 5; /* b */
		uint64_t target;
		if (!leaves && (i + 1 == made->count || made->moved[i + 1] != after))
			return false;
		if (!a64_branch_target(made->words[i], 4 * (uint64_t)i, &target))
			continue;
		bool inside = target / 4 < made->count;
		if (leaves == inside || (inside ? made->moved[target / 4] : 0) != after)
			return false;
	}
	return true;
}

#endif
