/*
 * Stacks and the sampled waits that had them, of all processes.
 */
#include "model_parts.h"

#include <stdlib.h>

#include "model_rows.h"

/* Copies the frames behind those that the model has already; false when they are not all there. */
static bool copy_frames(const struct model *model, uint32_t number,
        const struct record_stack *stack, struct code *to)
{
	const struct record *record = model->processes[number].record;
	uint32_t entries = record->entries[REGION_FRAMES];
	if (stack->depth == 0 || stack->depth > RECORD_MAX_STACK || stack->depth > entries ||
	        stack->first_frame > entries - stack->depth)
		return false;
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint64_t address;
		record_copy(
		        record, REGION_FRAMES, stack->first_frame + i, &address, sizeof(address));
		to[i] = mapped_find(model->mapped, number, address);
	}
	return true;
}

static void collect_stacks(struct model *model, uint32_t number, size_t *frames, size_t room)
{
	const struct process_row *process = &model->processes[number];
	for (uint32_t i = 0; i < process->record->entries[REGION_STACKS]; i++) {
		struct record_stack stack;
		record_copy(process->record, REGION_STACKS, i, &stack, sizeof(stack));
		/* No two stacks share frames: what claims more than there are is damaged. */
		if (stack.hash == 0 || stack.depth > room - *frames ||
		        !copy_frames(model, number, &stack, model->frames + *frames))
			continue;
		model->stack_rows[process->stack_base + i] = (uint32_t)model->stack_count;
		model->stacks[model->stack_count++] =
		        (struct stack_row){ .id = process->stack_base + i,
			        .process = number,
			        .end = stack.end,
			        .depth = stack.depth,
			        .frames = model->frames + *frames,
			        .holders = stack.holders };
		*frames += stack.depth;
	}
}

static bool sample_row(
        const struct model *model, uint32_t number, uint32_t entry, struct sample_row *row)
{
	const struct process_row *process = &model->processes[number];
	struct record_sample sample;
	if (!record_copy(process->record, REGION_SAMPLES, entry, &sample, sizeof(sample)) ||
	        sample.waits == 0 || sample.stack >= process->record->entries[REGION_STACKS])
		return false;
	*row = (struct sample_row){ .process = number,
		.site = MODEL_NONE,
		.stack = process->stack_base + sample.stack,
		.waits = sample.waits,
		.wait_ns_total = sample.wait_ns_total };
	if (sample.site < process->record->entries[REGION_SITES] &&
	        model_site(model, process->site_base + sample.site) != NULL)
		row->site = process->site_base + sample.site;
	return model_stack(model, row->stack) != NULL;
}

static void collect_samples(struct model *model, uint32_t number)
{
	uint32_t entries = model->processes[number].record->entries[REGION_SAMPLES];
	for (uint32_t i = 0; i < entries; i++) {
		struct sample_row *row = &model->samples[model->sample_count];
		if (!sample_row(model, number, i, row))
			continue;
		struct stack_row *stack = &model->stacks[model->stack_rows[row->stack]];
		stack->waits += row->waits;
		stack->wait_ns_total += row->wait_ns_total;
		model->sample_count++;
	}
}

static void merge_chains(struct model *model)
{
	rows_sort_stacks_by_frames(model->mapped, model->stacks, model->stack_count);
	for (size_t i = 0; i < model->stack_count; i++) {
		const struct stack_row *row = &model->stacks[i];
		struct stack_row *last = &model->chains[model->chain_count];
		if (i == 0 || !rows_same_frames(model->mapped, &last[-1], row)) {
			*last = *row;
			model->chain_count++;
			continue;
		}
		last[-1].waits += row->waits;
		last[-1].wait_ns_total += row->wait_ns_total;
		last[-1].holders += row->holders;
	}
}

bool model_collect_stacks(struct model *model)
{
	size_t frames = 0, room = model_entries(model, REGION_FRAMES);
	size_t most = model_entries(model, REGION_STACKS);
	model->frames = calloc(room + 1, sizeof(*model->frames));
	model->stacks = calloc(most + 1, sizeof(*model->stacks));
	model->chains = calloc(most + 1, sizeof(*model->chains));
	model->samples = calloc(model_entries(model, REGION_SAMPLES) + 1, sizeof(*model->samples));
	model->stack_rows = model_no_rows(model->stack_ids);
	if (model->frames == NULL || model->stacks == NULL || model->chains == NULL ||
	        model->samples == NULL || model->stack_rows == NULL)
		return false;
	for (size_t i = 0; i < model->process_count; i++) {
		collect_stacks(model, (uint32_t)i, &frames, room);
		collect_samples(model, (uint32_t)i);
	}
	merge_chains(model);
	rows_sort_stacks(model->stacks, model->stack_count);
	rows_sort_stacks(model->chains, model->chain_count);
	rows_sort_samples(model->samples, model->sample_count);
	for (size_t i = 0; i < model->stack_count; i++)
		model->stack_rows[model->stacks[i].id] = (uint32_t)i;
	return true;
}
