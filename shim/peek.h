/*
 * Reading memory of which nobody has promised that it is there: what a wrong frame or table points
 * to must not end the program.
 */
#ifndef SHIM_PEEK_H
#define SHIM_PEEK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What one walk may read: the calling thread's stack, from where it is now up to the first page
 * that is not there, and one object's image. Pages are asked for once in a walk, never longer: what
 * lies beyond a stack may be gone at the next.
 */
struct peek {
	uint64_t stack_start, stack_end; /* pages known to be there */
	uint64_t image_start, image_end; /* the object that may be read now, see objects.h */
	uint64_t pages[4];               /* its pages that were found there last, 0 none */
	uint32_t oldest;                 /* of them */
};

/* stack: an address in the stack's page of the caller. */
struct peek peek_begin(uint64_t stack);

/* Reads the 8 bytes at the address; false when they may not be read or are not there. */
bool peek_word(struct peek *peek, uint64_t address, uint64_t *word);

/* Whether the kernel can be asked: an emulator or a sandbox may not answer as Linux does. */
bool peek_works(void);

#endif
