/*
 * The loops of exclusives that compilers make of an atomic operation where they may not use LSE.
 */
#ifndef PROBES_EXCLUSIVE_LOOP_H
#define PROBES_EXCLUSIVE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A loop of exclusives in one of the shapes that gcc and clang make. */
struct exclusive_loop {
	unsigned words; /* from the load-exclusive to the branch back */
	unsigned exclusives; /* instructions of the family in it */
	/* Whatever trampoline_from_loop needs. */
	uint32_t code[16];
	unsigned shape;
};

/* Whether such a loop begins at words[0]; count words may be read. Nothing outside the loop may
 * branch into it behind its first word: the caller sees to that. */
bool exclusive_loop_match(struct exclusive_loop *loop, const uint32_t *words, size_t count);

#endif
