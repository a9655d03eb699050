/*
 * The tables of stacks and of the waits of which one was taken.
 */
#ifndef PROBES_STACKS_H
#define PROBES_STACKS_H

#include "record.h"

/* One thread at a time may call these. */

/* Entry of REGION_STACKS + 1 of the stack with exactly these frames, added when it is new; 0,
 * having counted the loss there, without room. A new one's modules are looked up. */
uint32_t record_stack_add(const uint64_t *frames, uint32_t depth, enum record_stack_end end);

/* Entry of REGION_STACKS; it was taken of a holder. */
void record_stack_held(uint32_t stack);

/* A wait at entry `site` of REGION_SITES was sampled with entry `stack` of REGION_STACKS. Without
 * room the loss is counted in REGION_SAMPLES. */
void record_sample_add(uint32_t site, uint32_t stack, uint64_t wait_ns);

#endif
