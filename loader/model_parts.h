/*
 * The parts of the walk: each fills its rows of the model from all records, then merges and sorts
 * them. False: no memory.
 */
#ifndef LOADER_MODEL_PARTS_H
#define LOADER_MODEL_PARTS_H

#include "model.h"

/* Threads and names; the counters of each process and of all. */
bool model_collect_threads(struct model *model);

/* Locks, and what is summed over them. */
bool model_collect_locks(struct model *model);

/* Sites and places; after the locks. */
bool model_collect_sites(struct model *model);

/* Blames and pairs; after the sites. */
bool model_collect_blame(struct model *model);

/* Stacks, chains and samples; after the sites. */
bool model_collect_stacks(struct model *model);

/* The number of entries in one region of all records. */
size_t model_entries(const struct model *model, enum record_region_id id);

/* Adds up what two rows waited. */
void model_merge_wait(struct wait_totals *to, const struct wait_totals *from);

/* ids entries of MODEL_NONE. NULL: no memory. */
uint32_t *model_no_rows(uint32_t ids);

#endif
