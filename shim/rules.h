/*
 * How to get from a frame to its caller's, remembered for each return address: most frames of most
 * stacks have been seen before.
 */
#ifndef SHIM_RULES_H
#define SHIM_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#define RULE_BYTES 512u
#else
#define RULE_BYTES 2048u
#endif

enum rule_kind {
	RULE_NEW,     /* not looked for yet */
	RULE_STEP,    /* bytes says how */
	RULE_SIGNAL,  /* the kernel put the frame there to return from a signal handler */
	RULE_NONE,    /* its object has no unwind table for it */
	RULE_NOWHERE, /* no loaded object has code there; this is not remembered */
};

struct rule {
	uint64_t pc;
	uint64_t start, end;             /* of the function */
	uint64_t image_start, image_end; /* of its object, which the bytes may point into */
	enum rule_kind kind;
	uint32_t era;
	unsigned char bytes[RULE_BYTES] __attribute__((aligned(8))); /* libunwind's own */
};

/* One thread at a time may call these. */

/* Makes the table; false without memory. */
bool rules_make(void);

/* The rule of a return address; RULE_NEW has to be filled in by the caller. Lasts until the next
 * call. */
struct rule *rules_find(uint64_t pc);

/* Code has been unloaded: other code may come to lie there. May be called by any thread. */
void rules_forget(void);

#endif
