/*
 * Takes the calling thread's stack by libunwind, which is loaded for it and for nothing else.
 */
#ifndef SHIM_UNWIND_H
#define SHIM_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "libunwind.h"
#include "probes/record.h"

/* As libunwind numbers them. */
struct unwind_registers {
	uint64_t values[UNWIND_REGISTERS];
};

/* The registers that calls keep, as they are at this instruction of the calling function. */
static inline __attribute__((always_inline)) void unwind_here(struct unwind_registers *registers)
{
#if defined(__x86_64__)
	__asm__ volatile("leaq 0(%%rip), %%rax\n\tmovq %%rax, 128(%0)\n\t"
	                 "movq %%rbx, 24(%0)\n\tmovq %%rbp, 48(%0)\n\tmovq %%rsp, 56(%0)\n\t"
	                 "movq %%r12, 96(%0)\n\tmovq %%r13, 104(%0)\n\t"
	                 "movq %%r14, 112(%0)\n\tmovq %%r15, 120(%0)"
	                 :
	                 : "r"(registers->values)
	                 : "rax", "memory");
#else
	__asm__ volatile("adr x9, .\n\tstr x9, [%0, #256]\n\tmov x9, sp\n\tstr x9, [%0, #248]\n\t"
	                 "stp x19, x20, [%0, #152]\n\tstp x21, x22, [%0, #168]\n\t"
	                 "stp x23, x24, [%0, #184]\n\tstp x25, x26, [%0, #200]\n\t"
	                 "stp x27, x28, [%0, #216]\n\tstp x29, x30, [%0, #232]"
	                 :
	                 : "r"(registers->values)
	                 : "x9", "memory");
#endif
}

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
 * returned yet; limit: frames at most, 1 .. RECORD_MAX_STACK; from: of that function, or of one
 * that it has called and that has not returned either. One thread at a time, with its signals
 * blocked and thread_step_aside() called, while no code is being unloaded. Takes no lock that
 * another thread may hold, allocates nothing by malloc, and reads nothing that is not there.
 */
void unwind_take(const struct unwind_registers *from, const void *site, uint32_t limit,
        struct unwind_stack *stack);

#endif
