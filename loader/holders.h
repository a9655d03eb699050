/*
 * Stacks that were taken of holders, by the call that had acquired the lock.
 */
#ifndef LOADER_HOLDERS_H
#define LOADER_HOLDERS_H

#include "model.h"

struct holders {
	const struct stack_row **stacks; /* those of one process and call are neighbours */
	size_t count;
};

/* False: no memory. The model must outlive it. */
bool holders_open(struct holders *holders, const struct model *model);
void holders_close(struct holders *holders);

/* The stacks of one process whose innermost frame is the call; returns their number. */
size_t holders_find(const struct holders *holders, uint32_t process, struct code call,
        const struct stack_row *const **first);

#endif
