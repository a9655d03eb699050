/*
 * The few instructions that trampolines are made of, appended to one. Registers are numbers; 31 is
 * the zero register, but for bases. wide: of 64 bits, else 32. Encodings: Arm Architecture
 * Reference Manual (DDI 0487), C4.1.
 */
#ifndef SHIM_ATOMICS_EMIT_H
#define SHIM_ATOMICS_EMIT_H

#include "probes/a64.h"
#include "trampoline.h"

void emit_begin(struct trampoline *made);

/* What has no room makes emit_back fail. */
void emit(struct trampoline *made, uint32_t word);

/* Saves pairs of registers that are not in `used`, at least as many registers as wanted, and puts
 * them into to[]: each at an even place with the odd-numbered register next to it. Fails when there
 * are not that many. */
bool emit_borrow(struct trampoline *made, uint32_t used, unsigned wanted, uint8_t *to);
/* Gives them back. */
void emit_return(struct trampoline *made);

void emit_move(struct trampoline *made, unsigned to, unsigned from);
void emit_constant(struct trampoline *made, unsigned to, uint64_t value);
/* to = the stack pointer before it was moved */
void emit_stack_pointer(struct trampoline *made, unsigned to);

/* Operations of two registers, with a shift as in an instruction's bits 23:22 and 15:10, mostly 0.
 */
#define EMIT_AND 0x0a000000u
#define EMIT_BIC 0x0a200000u
#define EMIT_ORR 0x2a000000u
#define EMIT_ORN 0x2a200000u
#define EMIT_EOR 0x4a000000u
#define EMIT_ADD 0x0b000000u
#define EMIT_SUB 0x4b000000u
void emit_operation(struct trampoline *made, uint32_t operation, bool wide, unsigned to,
        unsigned left, unsigned right);

/* The exclusive or LSE instruction. An exclusive store's status is in rs, as in probes/a64.h. */
void emit_atomic(struct trampoline *made, const struct a64_atomic *atomic);

/* Branches to a word of the trampoline, which may be set later. Returns its place. */
unsigned emit_if_not_zero(struct trampoline *made, bool wide, unsigned reg, unsigned to);
/* Lets the conditional branch at a place go to another. */
void emit_lead(struct trampoline *made, unsigned branch, unsigned to);

/* Leaves to `target`; false when that is out of range, or something before had no room. */
bool emit_back(struct trampoline *made, uint64_t address, uint64_t target);

#endif
