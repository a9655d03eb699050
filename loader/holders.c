/*
 * Finds the stacks of holders.
 */
#include "holders.h"

#include <stdlib.h>

static int compare(const struct stack_row *stack, uint32_t process, struct code call)
{
	const struct code *own = &stack->frames[0];
	if (stack->process != process)
		return stack->process < process ? -1 : 1;
	if (own->file != call.file)
		return own->file < call.file ? -1 : 1;
	return (own->address > call.address) - (own->address < call.address);
}

static int compare_stacks(const void *left, const void *right)
{
	const struct stack_row *a = *(const struct stack_row *const *)left;
	const struct stack_row *b = *(const struct stack_row *const *)right;
	int order = compare(a, b->process, b->frames[0]);
	return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

bool holders_open(struct holders *holders, const struct model *model)
{
	*holders = (struct holders){ .stacks = calloc(
		                             model->stack_count + 1, sizeof(*holders->stacks)) };
	if (holders->stacks == NULL)
		return false;
	for (size_t i = 0; i < model->stack_count; i++)
		if (model->stacks[i].holders > 0)
			holders->stacks[holders->count++] = &model->stacks[i];
	qsort(holders->stacks, holders->count, sizeof(*holders->stacks), compare_stacks);
	return true;
}

void holders_close(struct holders *holders)
{
	free(holders->stacks);
}

size_t holders_find(const struct holders *holders, uint32_t process, struct code call,
        const struct stack_row *const **first)
{
	size_t low = 0, high = holders->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare(holders->stacks[middle], process, call) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*first = holders->stacks + low;
	size_t count = 0;
	while (low + count < holders->count &&
	        compare(holders->stacks[low + count], process, call) == 0)
		count++;
	return count;
}
