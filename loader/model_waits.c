/*
 * Locks, call sites and who blocked whom, of all processes.
 */
#include "model_parts.h"

#include <stdlib.h>

#include "families.h"
#include "model_rows.h"

static bool lock_row(
        const struct model *model, uint32_t number, uint32_t entry, struct lock_row *row)
{
	const struct process_row *process = &model->processes[number];
	if (!record_copy(process->record, REGION_LOCKS, entry, &row->lock, sizeof(row->lock)) ||
	        row->lock.address == 0)
		return false;
	if (process->since && row->lock.wait.waits == 0 && family_hold(&row->lock).acquired == 0)
		return false;
	row->id = process->lock_base + entry;
	row->process = number;
	row->first_site = MODEL_NONE;
	if (row->lock.first_site - 1 < process->record->entries[REGION_SITES])
		row->first_site = process->site_base + row->lock.first_site - 1;
	row->created = mapped_code(
	        model->mapped, number, row->lock.created_module, row->lock.created_address);
	return true;
}

static void add_lock(struct model *model, const struct record_lock *lock)
{
	model->wait_ns_total += lock->wait.wait_ns_total;
	for (int bucket = 0; bucket < RECORD_BUCKETS && lock->family < FAMILY_COUNT; bucket++)
		model->histograms[lock->family][bucket] += lock->wait.histogram[bucket];
}

bool model_collect_locks(struct model *model)
{
	model->locks = calloc(model_entries(model, REGION_LOCKS) + 1, sizeof(*model->locks));
	model->lock_rows = model_no_rows(model->lock_ids);
	if (model->locks == NULL || model->lock_rows == NULL)
		return false;
	for (uint32_t number = 0; number < model->process_count; number++) {
		const struct record *record = model->processes[number].record;
		for (uint32_t i = 0; i < record->entries[REGION_LOCKS]; i++) {
			struct lock_row *row = &model->locks[model->lock_count];
			if (!lock_row(model, number, i, row))
				continue;
			add_lock(model, &row->lock);
			model->lock_count++;
		}
	}
	rows_sort_locks(model->locks, model->lock_count);
	for (size_t i = 0; i < model->lock_count; i++)
		model->lock_rows[model->locks[i].id] = (uint32_t)i;
	return true;
}

static bool site_row(
        const struct model *model, uint32_t number, uint32_t entry, struct site_row *row)
{
	const struct process_row *process = &model->processes[number];
	struct record_site site;
	if (!record_copy(process->record, REGION_SITES, entry, &site, sizeof(site)) ||
	        site.address == 0 || (process->since && site.wait.waits == 0))
		return false;
	*row = (struct site_row){ .id = process->site_base + entry,
		.process = number,
		.lock = MODEL_NONE,
		.locks = 1,
		.family = FAMILY_COUNT,
		.mode = site.mode,
		.code = mapped_code(model->mapped, number, site.module, site.address),
		.wait = site.wait };
	if (site.lock >= process->record->entries[REGION_LOCKS])
		return true;
	row->lock = process->lock_base + site.lock;
	const struct lock_row *lock = model_lock(model, row->lock);
	if (lock != NULL && lock->lock.family < FAMILY_COUNT)
		row->family = lock->lock.family;
	return true;
}

void model_merge_wait(struct wait_totals *to, const struct wait_totals *from)
{
	to->waits += from->waits;
	to->wait_ns_total += from->wait_ns_total;
	if (to->wait_ns_max < from->wait_ns_max)
		to->wait_ns_max = from->wait_ns_max;
	for (int bucket = 0; bucket < RECORD_BUCKETS; bucket++)
		to->histogram[bucket] += from->histogram[bucket];
}

static void merge_places(struct model *model)
{
	rows_sort_sites_by_place(model->mapped, model->sites, model->site_count);
	for (size_t i = 0; i < model->site_count; i++) {
		const struct site_row *row = &model->sites[i];
		struct site_row *last = &model->places[model->place_count];
		if (i > 0 && rows_same_place(model->mapped, &last[-1], row)) {
			model_merge_wait(&last[-1].wait, &row->wait);
			last[-1].locks++;
			continue;
		}
		*last = *row;
		model->place_count++;
	}
}

bool model_collect_sites(struct model *model)
{
	size_t most = model_entries(model, REGION_SITES);
	model->sites = calloc(most + 1, sizeof(*model->sites));
	model->places = calloc(most + 1, sizeof(*model->places));
	model->site_rows = model_no_rows(model->site_ids);
	if (model->sites == NULL || model->places == NULL || model->site_rows == NULL)
		return false;
	for (uint32_t number = 0; number < model->process_count; number++)
		for (uint32_t i = 0; i < model->processes[number].record->entries[REGION_SITES];
		        i++)
			model->site_count +=
			        site_row(model, number, i, &model->sites[model->site_count]);
	merge_places(model);
	rows_sort_sites(model->sites, model->site_count);
	rows_sort_sites(model->places, model->place_count);
	for (size_t i = 0; i < model->site_count; i++)
		model->site_rows[model->sites[i].id] = (uint32_t)i;
	return true;
}

static bool blame_row(
        const struct model *model, uint32_t number, uint32_t entry, struct blame_row *row)
{
	const struct process_row *process = &model->processes[number];
	struct record_blame blame;
	if (!record_copy(process->record, REGION_BLAME, entry, &blame, sizeof(blame)) ||
	        blame.holder_address == 0 || (process->since && blame.waits == 0))
		return false;
	*row = (struct blame_row){ .process = number,
		.site = MODEL_NONE,
		.waiter = { MAPPED_NONE, 0 },
		.holder = { MAPPED_NONE, 0 },
		.waits = blame.waits,
		.wait_ns_total = blame.wait_ns_total,
		.wait_ns_max = blame.wait_ns_max };
	if (blame.holder_address != RECORD_HOLDER_UNKNOWN)
		row->holder = mapped_code(
		        model->mapped, number, blame.holder_module, blame.holder_address);
	const struct site_row *site = NULL;
	if (blame.site < process->record->entries[REGION_SITES])
		site = model_site(model, process->site_base + blame.site);
	if (site != NULL) {
		row->site = site->id;
		row->waiter = site->code;
	}
	return true;
}

static void merge_pairs(struct model *model)
{
	rows_sort_blames_by_pair(model->mapped, model->blames, model->blame_count);
	for (size_t i = 0; i < model->blame_count; i++) {
		const struct blame_row *row = &model->blames[i];
		struct blame_row *last = &model->pairs[model->pair_count];
		if (i == 0 || !rows_same_pair(model->mapped, &last[-1], row)) {
			*last = *row;
			model->pair_count++;
			continue;
		}
		last[-1].waits += row->waits;
		last[-1].wait_ns_total += row->wait_ns_total;
		if (last[-1].wait_ns_max < row->wait_ns_max)
			last[-1].wait_ns_max = row->wait_ns_max;
	}
}

bool model_collect_blame(struct model *model)
{
	size_t most = model_entries(model, REGION_BLAME);
	model->blames = calloc(most + 1, sizeof(*model->blames));
	model->pairs = calloc(most + 1, sizeof(*model->pairs));
	if (model->blames == NULL || model->pairs == NULL)
		return false;
	for (uint32_t number = 0; number < model->process_count; number++)
		for (uint32_t i = 0; i < model->processes[number].record->entries[REGION_BLAME];
		        i++)
			model->blame_count +=
			        blame_row(model, number, i, &model->blames[model->blame_count]);
	merge_pairs(model);
	rows_sort_blames(model->blames, model->blame_count);
	rows_sort_blames(model->pairs, model->pair_count);
	return true;
}
