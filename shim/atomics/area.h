/*
 * The memory that trampolines lie in, with unwind tables of their own, in reach of the code that
 * branches to them.
 */
#ifndef SHIM_ATOMICS_AREA_H
#define SHIM_ATOMICS_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trampoline.h"

/* Code first, behind it the tables. */
struct area {
	uint64_t start, end;   /* 0: none; its memory */
	uint64_t eh_frame_hdr; /* 0: none */
	uint64_t code_end;
};

/* One that is being filled. */
struct area_draft {
	struct area area;
	uint64_t frames, frames_end; /* .eh_frame so far */
};

/* Room for count trampolines of code in [low, high). False when there is none in reach
 * (*no_memory: or none at all). Its memory is writable until area_finish. */
bool area_begin(
        struct area_draft *draft, uint64_t low, uint64_t high, unsigned count, bool *no_memory);

/* Where the next trampoline will lie. */
static inline uint64_t area_next(const struct area_draft *draft)
{
	return draft->area.code_end;
}

/* Adds one that was made for that address and stands for the instruction at original. */
void area_add(struct area_draft *draft, const struct trampoline *made, uint64_t original);

/* Makes it code, with its tables, and gives back what it did not need. False when the system
 * refuses: then it is gone. */
bool area_finish(struct area_draft *draft);

/* Gives it back. */
void area_drop(struct area *area);

/* Makes the area known to unwinders, as one of the object's at base; false: there are too many. */
bool area_publish(const struct area *area, uint64_t base);

/* Takes back all areas of the object at base, which is no more. */
void area_forget(uint64_t base);

/* The published area that holds the address, from any thread at any time. */
bool area_at(uint64_t address, struct area *area);

/* The published areas one after the other; *next is 0 at first. */
bool area_next_published(unsigned *next, struct area *area);

#endif
