/*
 * Walks records once and adds up, merges and sorts what they hold.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "model_parts.h"
#include "probes/clock.h"
#include "process.h"

size_t model_entries(const struct model *model, enum record_region_id id)
{
	size_t entries = 0;
	for (size_t i = 0; i < model->process_count; i++)
		entries += model->processes[i].record->entries[id];
	return entries;
}

uint32_t *model_no_rows(uint32_t ids)
{
	uint32_t *rows = malloc(((size_t)ids + 1) * sizeof(*rows));
	if (rows != NULL)
		memset(rows, 0xff, ((size_t)ids + 1) * sizeof(*rows));
	return rows;
}

static bool is_running(const struct model_source *source)
{
	const struct record_header *header = &source->record->header;
	if (source->running != 0)
		return true;
	return source->wait_status == -1 && header->start_ticks != 0 &&
	       process_start_ticks(header->pid) == header->start_ticks &&
	       !process_has_ended(header->pid);
}

static void find_ending(struct process_row *process, const struct model_source *source)
{
	const struct record_header *header = &source->record->header;
	if (header->state == RECORD_ENDED)
		process->ending = MODEL_ENDED;
	else if (header->state == RECORD_EXECED)
		process->ending = MODEL_REPLACED;
	else if (is_running(source))
		process->ending = MODEL_RUNNING;
	else
		process->ending = MODEL_UNSEEN;
	process->exit_status = process->ending == MODEL_ENDED ? header->exit_status : -1;
	if (source->wait_status != -1 && WIFSIGNALED(source->wait_status))
		process->signal = WTERMSIG(source->wait_status);
	else if (source->wait_status != -1)
		process->exit_status = WEXITSTATUS(source->wait_status);

	uint64_t end_ns = header->end_ns;
	if (end_ns == 0 && (process->ending == MODEL_RUNNING || source->wait_status != -1))
		end_ns = clock_monotonic_ns();
	process->since = source->since;
	/* Nothing in a copy tells when it was made. */
	if (end_ns > header->start_ns && !source->since)
		process->duration_ns = end_ns - header->start_ns;
}

/* From the first start to the last end that is known. */
static uint64_t whole_duration(const struct model *model)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process_row *process = &model->processes[i];
		uint64_t start_ns = process->record->header.start_ns;
		if (process->duration_ns == 0)
			continue;
		if (first_ns > start_ns)
			first_ns = start_ns;
		if (last_ns < start_ns + process->duration_ns)
			last_ns = start_ns + process->duration_ns;
	}
	return last_ns > first_ns ? last_ns - first_ns : 0;
}

static void add_gaps(struct model_gaps *gaps, const struct record_header *header)
{
	static const enum record_region_id stack_regions[] = { REGION_STACKS, REGION_FRAMES,
		REGION_SAMPLES };
	gaps->flags |= header->flags;
	gaps->retired_rest |= header->retired_rest;
	gaps->threads_created += header->threads_created;
	gaps->threads_lost += header->threads_lost;
	gaps->lost_waits += header->lost_waits;
	gaps->lost_ns += header->lost_ns;
	gaps->created_lost += header->created_lost;
	gaps->blames_lost += header->regions[REGION_BLAME].lost;
	gaps->modules_lost += header->regions[REGION_MODULES].lost;
	gaps->stacks_due += header->stacks_due;
	gaps->stacks_taken += header->stacks_taken;
	gaps->stacks_skipped += header->stacks_skipped;
	gaps->stack_ns_total += header->stack_ns_total;
	for (size_t i = 0; i < sizeof(stack_regions) / sizeof(*stack_regions); i++)
		gaps->stacks_lost += header->regions[stack_regions[i]].lost;
}

static bool add_processes(struct model *model, const struct model_source *sources, size_t count)
{
	const struct record **records = calloc(count, sizeof(struct record *));
	model->processes = calloc(count, sizeof(*model->processes));
	if (records == NULL || model->processes == NULL) {
		free(records);
		return false;
	}
	model->process_count = count;
	for (size_t i = 0; i < count; i++) {
		struct process_row *process = &model->processes[i];
		process->record = records[i] = sources[i].record;
		process->lock_base = model->lock_ids;
		process->site_base = model->site_ids;
		process->stack_base = model->stack_ids;
		model->lock_ids += process->record->entries[REGION_LOCKS];
		model->site_ids += process->record->entries[REGION_SITES];
		model->stack_ids += process->record->entries[REGION_STACKS];
		find_ending(process, &sources[i]);
		add_gaps(&model->gaps, &process->record->header);
	}
	model->duration_ns = whole_duration(model);
	model->mapped = mapped_new(records, count);
	free(records);
	return model->mapped != NULL;
}

struct model *model_build(const struct model_source *sources, size_t count)
{
	struct model *model = calloc(1, sizeof(*model));
	if (model == NULL)
		return NULL;
	if (add_processes(model, sources, count) && model_collect_threads(model) &&
	        model_collect_locks(model) && model_collect_sites(model) &&
	        model_collect_blame(model) && model_collect_stacks(model))
		return model;
	model_free(model);
	return NULL;
}

void model_free(struct model *model)
{
	if (model == NULL)
		return;
	mapped_free(model->mapped);
	free(model->processes);
	free(model->threads);
	free(model->names);
	free(model->locks);
	free(model->lock_rows);
	free(model->sites);
	free(model->places);
	free(model->site_rows);
	free(model->blames);
	free(model->pairs);
	free(model->frames);
	free(model->stacks);
	free(model->chains);
	free(model->stack_rows);
	free(model->samples);
	free(model);
}

const struct lock_row *model_lock(const struct model *model, uint32_t id)
{
	uint32_t row = id < model->lock_ids ? model->lock_rows[id] : MODEL_NONE;
	return row != MODEL_NONE ? &model->locks[row] : NULL;
}

const struct site_row *model_site(const struct model *model, uint32_t id)
{
	uint32_t row = id < model->site_ids ? model->site_rows[id] : MODEL_NONE;
	return row != MODEL_NONE ? &model->sites[row] : NULL;
}

const struct stack_row *model_stack(const struct model *model, uint32_t id)
{
	uint32_t row = id < model->stack_ids ? model->stack_rows[id] : MODEL_NONE;
	return row != MODEL_NONE ? &model->stacks[row] : NULL;
}
