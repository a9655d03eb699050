/*
 * Walks a record once and adds up, merges and sorts what it holds.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "model_rows.h"
#include "probes/clock.h"
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
	for (uint32_t i = 0; i < record->entries[REGION_THREADS]; i++)
		if (running_row(record, i, &row) && !counters_are_zero(&row.counters))
			return false;
	for (uint32_t i = 0; i < record->entries[REGION_RETIRED]; i++)
		if (ended_row(record, i, &row) && !counters_are_zero(&row.counters))
			return false;
	return true;
}

/* Whether the process runs under the id that it knows itself by: not so across pid namespaces. */
static bool is_visible(const struct record_header *header)
{
	return header->start_ticks != 0 && process_start_ticks(header->pid) == header->start_ticks;
}

static bool collect_threads(struct model *model)
{
	const struct record *record = model->record;
	size_t most = (size_t)record->entries[REGION_THREADS] + record->entries[REGION_RETIRED];
	model->threads = calloc(most + 1, sizeof(*model->threads));
	model->names = calloc(most + 1, sizeof(*model->names));
	if (model->threads == NULL || model->names == NULL)
		return false;
	struct thread_row *row = model->threads;
	bool visible = model->ending == MODEL_RUNNING && is_visible(&record->header);
	for (uint32_t i = 0; i < record->entries[REGION_THREADS]; i++) {
		if (!running_row(record, i, row))
			continue;
		if (visible)
			process_thread_name(record->header.pid, row->tid, row->name);
		row++;
	}
	for (uint32_t i = 0; i < record->entries[REGION_RETIRED]; i++)
		if (ended_row(record, i, row))
			row++;
	model->thread_count = (size_t)(row - model->threads);
	for (size_t i = 0; i < model->thread_count; i++)
		counters_merge(&model->counters, &model->threads[i].counters);
	return true;
}

static void merge_names(struct model *model)
{
	rows_sort_threads_by_name(model->threads, model->thread_count);
	for (size_t i = 0; i < model->thread_count; i++) {
		const struct thread_row *row = &model->threads[i];
		struct thread_row *last = &model->names[model->name_count];
		if (i > 0 && strcmp(last[-1].name, row->name) == 0) {
			merge_thread(&last[-1], row);
			last[-1].tid = 0;
			continue;
		}
		*last = *row;
		model->name_count++;
	}
	rows_sort_threads(model->threads, model->thread_count);
	rows_sort_threads(model->names, model->name_count);
}

static bool collect_locks(struct model *model)
{
	uint32_t entries = model->record->entries[REGION_LOCKS];
	model->locks = calloc((size_t)entries + 1, sizeof(*model->locks));
	if (model->locks == NULL)
		return false;
	for (uint32_t i = 0; i < entries; i++) {
		struct lock_row *row = &model->locks[model->lock_count];
		row->id = i;
		record_copy(model->record, REGION_LOCKS, i, &row->lock, sizeof(row->lock));
		if (row->lock.address == 0)
			continue;
		model->wait_ns_total += row->lock.wait.wait_ns_total;
		for (int bucket = 0; bucket < RECORD_BUCKETS && row->lock.family < FAMILY_COUNT;
		        bucket++)
			model->histograms[row->lock.family][bucket] +=
			        row->lock.wait.histogram[bucket];
		model->lock_count++;
	}
	rows_sort_locks(model->locks, model->lock_count);
	return true;
}

/* The record stores an entry number + 1, 0 for none. */
static uint32_t module_of(const struct record *record, uint32_t stored)
{
	return stored == 0 || stored > record->entries[REGION_MODULES] ? MODEL_NONE : stored - 1;
}

static bool site_row(const struct record *record, uint32_t entry, struct site_row *row)
{
	struct record_site site;
	if (!record_copy(record, REGION_SITES, entry, &site, sizeof(site)) || site.address == 0)
		return false;
	*row = (struct site_row){ .id = entry,
		.lock = site.lock < record->entries[REGION_LOCKS] ? site.lock : MODEL_NONE,
		.locks = 1,
		.module = module_of(record, site.module),
		.mode = site.mode,
		.address = site.address,
		.wait = site.wait };
	return true;
}

static void merge_wait(struct wait_totals *to, const struct wait_totals *from)
{
	to->waits += from->waits;
	to->wait_ns_total += from->wait_ns_total;
	if (to->wait_ns_max < from->wait_ns_max)
		to->wait_ns_max = from->wait_ns_max;
	for (int bucket = 0; bucket < RECORD_BUCKETS; bucket++)
		to->histogram[bucket] += from->histogram[bucket];
}

static bool collect_sites(struct model *model)
{
	uint32_t entries = model->record->entries[REGION_SITES];
	model->sites = calloc((size_t)entries + 1, sizeof(*model->sites));
	model->places = calloc((size_t)entries + 1, sizeof(*model->places));
	if (model->sites == NULL || model->places == NULL)
		return false;
	for (uint32_t i = 0; i < entries; i++)
		if (site_row(model->record, i, &model->sites[model->site_count]))
			model->site_count++;
	rows_sort_sites_by_place(model->sites, model->site_count);
	for (size_t i = 0; i < model->site_count; i++) {
		const struct site_row *row = &model->sites[i];
		struct site_row *last = &model->places[model->place_count];
		if (i > 0 && rows_same_place(&last[-1], row)) {
			merge_wait(&last[-1].wait, &row->wait);
			last[-1].locks++;
			continue;
		}
		*last = *row;
		model->place_count++;
	}
	rows_sort_sites(model->sites, model->site_count);
	rows_sort_sites(model->places, model->place_count);
	return true;
}

static bool blame_row(const struct record *record, uint32_t entry, struct blame_row *row)
{
	struct record_blame blame;
	struct site_row site;
	if (!record_copy(record, REGION_BLAME, entry, &blame, sizeof(blame)) ||
	        blame.holder_address == 0)
		return false;
	bool known = blame.holder_address != RECORD_HOLDER_UNKNOWN;
	*row = (struct blame_row){ .site = MODEL_NONE,
		.holder_address = known ? blame.holder_address : 0,
		.holder_module = known ? module_of(record, blame.holder_module) : MODEL_NONE,
		.waiter_module = MODEL_NONE,
		.waits = blame.waits,
		.wait_ns_total = blame.wait_ns_total,
		.wait_ns_max = blame.wait_ns_max };
	if (site_row(record, blame.site, &site)) {
		row->site = blame.site;
		row->waiter_address = site.address;
		row->waiter_module = site.module;
	}
	return true;
}

static bool collect_blame(struct model *model)
{
	uint32_t entries = model->record->entries[REGION_BLAME];
	model->blames = calloc((size_t)entries + 1, sizeof(*model->blames));
	model->pairs = calloc((size_t)entries + 1, sizeof(*model->pairs));
	if (model->blames == NULL || model->pairs == NULL)
		return false;
	for (uint32_t i = 0; i < entries; i++)
		if (blame_row(model->record, i, &model->blames[model->blame_count]))
			model->blame_count++;
	rows_sort_blames_by_pair(model->blames, model->blame_count);
	for (size_t i = 0; i < model->blame_count; i++) {
		const struct blame_row *row = &model->blames[i];
		struct blame_row *last = &model->pairs[model->pair_count];
		if (i == 0 || !rows_same_pair(&last[-1], row)) {
			*last = *row;
			model->pair_count++;
			continue;
		}
		last[-1].waits += row->waits;
		last[-1].wait_ns_total += row->wait_ns_total;
		if (last[-1].wait_ns_max < row->wait_ns_max)
			last[-1].wait_ns_max = row->wait_ns_max;
	}
	rows_sort_blames(model->blames, model->blame_count);
	rows_sort_blames(model->pairs, model->pair_count);
	return true;
}

static bool is_running(const struct record_header *header, const struct model_options *options)
{
	return options->running != 0 || (options->wait_status == -1 && is_visible(header));
}

static void find_ending(struct model *model, const struct model_options *options)
{
	const struct record_header *header = &model->record->header;
	if (header->state == RECORD_ENDED)
		model->ending = MODEL_ENDED;
	else if (header->state == RECORD_EXECED)
		model->ending = MODEL_REPLACED;
	else if (is_running(header, options))
		model->ending = MODEL_RUNNING;
	else
		model->ending = MODEL_UNSEEN;
	model->exit_status = model->ending == MODEL_ENDED ? header->exit_status : -1;
	if (options->wait_status != -1 && WIFSIGNALED(options->wait_status))
		model->signal = WTERMSIG(options->wait_status);
	else if (options->wait_status != -1)
		model->exit_status = WEXITSTATUS(options->wait_status);

	uint64_t end_ns = header->end_ns;
	if (end_ns == 0 && (model->ending == MODEL_RUNNING || options->wait_status != -1))
		end_ns = clock_monotonic_ns();
	model->duration_ns = end_ns > header->start_ns ? end_ns - header->start_ns : 0;
}

struct model *model_build(const struct record *record, const struct model_options *options)
{
	struct model *model = calloc(1, sizeof(*model));
	if (model == NULL)
		return NULL;
	model->record = record;
	find_ending(model, options);
	if (!collect_threads(model) || !collect_locks(model) || !collect_sites(model) ||
	        !collect_blame(model)) {
		model_free(model);
		return NULL;
	}
	merge_names(model);
	model->counted_nothing = counters_are_zero(&model->counters);
	return model;
}

void model_free(struct model *model)
{
	if (model == NULL)
		return;
	free(model->threads);
	free(model->names);
	free(model->locks);
	free(model->sites);
	free(model->places);
	free(model->blames);
	free(model->pairs);
	free(model);
}
