/*
 * Threads of all processes, running and ended, and their sums by name.
 */
#include "model_parts.h"

#include <stdlib.h>
#include <string.h>

#include "model_rows.h"
#include "probes/counters.h"
#include "process.h"

static void merge_thread(struct thread_row *to, const struct thread_row *from)
{
	counters_merge(&to->counters, &from->counters);
	to->caused.waits += from->caused.waits;
	to->caused.wait_ns_total += from->caused.wait_ns_total;
	if (to->caused.wait_ns_max < from->caused.wait_ns_max)
		to->caused.wait_ns_max = from->caused.wait_ns_max;
	to->running += from->running;
	to->ended += from->ended;
	to->tid = 0;
	if (to->process != from->process)
		to->process = MODEL_NONE;
}

static bool running_row(const struct record *record, uint32_t entry, struct thread_row *row)
{
	struct record_thread thread;
	if (!record_copy(record, REGION_THREADS, entry, &thread, sizeof(thread)) || thread.tid == 0)
		return false;
	*row = (struct thread_row){ .tid = (int32_t)thread.tid,
		.running = 1,
		.counters = thread.counters,
		.caused = thread.caused };
	memcpy(row->name, thread.name, sizeof(row->name) - 1);
	return true;
}

static bool ended_row(const struct record *record, uint32_t entry, struct thread_row *row)
{
	struct record_retired retired;
	if (!record_copy(record, REGION_RETIRED, entry, &retired, sizeof(retired)) ||
	        retired.state == 0)
		return false;
	*row = (struct thread_row){
		.ended = retired.threads, .counters = retired.counters, .caused = retired.caused
	};
	memcpy(row->name, retired.name, sizeof(row->name) - 1);
	return true;
}

bool model_record_is_empty(const struct record *record)
{
	struct thread_row row;
	if (record->header.threads_lost != 0)
		return false;
	for (uint32_t i = 0; i < record->entries[REGION_THREADS]; i++)
		if (running_row(record, i, &row) && !counters_are_zero(&row.counters))
			return false;
	for (uint32_t i = 0; i < record->entries[REGION_RETIRED]; i++)
		if (ended_row(record, i, &row) && !counters_are_zero(&row.counters))
			return false;
	return true;
}

/* After a subtraction most rows may be left with nothing. */
static bool is_shown(const struct process_row *process, const struct thread_row *row)
{
	return !process->since || !counters_are_zero(&row->counters) || row->caused.waits > 0;
}

static void collect_process(struct model *model, uint32_t number)
{
	struct process_row *process = &model->processes[number];
	const struct record *record = process->record;
	const struct record_header *header = &record->header;
	struct thread_row *first = model->threads + model->thread_count, *row = first;
	/* Across pid namespaces it runs under another id than the one that it knows itself by. */
	bool visible = process->ending == MODEL_RUNNING && header->start_ticks != 0 &&
	               process_start_ticks(header->pid) == header->start_ticks;
	for (uint32_t i = 0; i < record->entries[REGION_THREADS]; i++) {
		if (!running_row(record, i, row) || !is_shown(process, row))
			continue;
		if (visible)
			process_thread_name(header->pid, row->tid, row->name);
		row++;
	}
	for (uint32_t i = 0; i < record->entries[REGION_RETIRED]; i++)
		if (ended_row(record, i, row) && is_shown(process, row))
			row++;
	for (struct thread_row *at = first; at < row; at++) {
		at->process = number;
		counters_merge(&process->counters, &at->counters);
	}
	process->counted_nothing =
	        counters_are_zero(&process->counters) && header->threads_lost == 0;
	counters_merge(&model->counters, &process->counters);
	model->thread_count = (size_t)(row - model->threads);
}

static void merge_names(struct model *model)
{
	rows_sort_threads_by_name(model->threads, model->thread_count);
	for (size_t i = 0; i < model->thread_count; i++) {
		const struct thread_row *row = &model->threads[i];
		struct thread_row *last = &model->names[model->name_count];
		if (i > 0 && strcmp(last[-1].name, row->name) == 0)
			merge_thread(&last[-1], row);
		else
			model->names[model->name_count++] = *row;
	}
	rows_sort_threads(model->threads, model->thread_count);
	rows_sort_threads(model->names, model->name_count);
}

bool model_collect_threads(struct model *model)
{
	size_t most = model_entries(model, REGION_THREADS) + model_entries(model, REGION_RETIRED);
	model->threads = calloc(most + 1, sizeof(*model->threads));
	model->names = calloc(most + 1, sizeof(*model->names));
	if (model->threads == NULL || model->names == NULL)
		return false;
	for (size_t i = 0; i < model->process_count; i++)
		collect_process(model, (uint32_t)i);
	model->counted_nothing =
	        counters_are_zero(&model->counters) && model->gaps.threads_lost == 0;
	merge_names(model);
	return true;
}
