/*
 * The orders that rows of the model are sorted in; equal rows keep a fixed order, so that a record
 * always gives the same report.
 */
#ifndef LOADER_MODEL_ROWS_H
#define LOADER_MODEL_ROWS_H

#include "model.h"

/* By time waited, the longest first. */
void rows_sort_threads(struct thread_row *rows, size_t count);
void rows_sort_locks(struct lock_row *rows, size_t count);
void rows_sort_sites(struct site_row *rows, size_t count);
void rows_sort_blames(struct blame_row *rows, size_t count);
void rows_sort_stacks(struct stack_row *rows, size_t count);
void rows_sort_samples(struct sample_row *rows, size_t count);

/* So that rows to be merged are neighbours. */
void rows_sort_threads_by_name(struct thread_row *rows, size_t count);
void rows_sort_sites_by_place(const struct mapped *mapped, struct site_row *rows, size_t count);
void rows_sort_blames_by_pair(const struct mapped *mapped, struct blame_row *rows, size_t count);
void rows_sort_stacks_by_frames(const struct mapped *mapped, struct stack_row *rows, size_t count);

/* Whether they are of one call site, pair or chain, of whatever process. */
bool rows_same_place(
        const struct mapped *mapped, const struct site_row *a, const struct site_row *b);
bool rows_same_pair(
        const struct mapped *mapped, const struct blame_row *a, const struct blame_row *b);
bool rows_same_frames(
        const struct mapped *mapped, const struct stack_row *a, const struct stack_row *b);

#endif
