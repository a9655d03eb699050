/*
 * Comparisons of rows, one qsort() each.
 */
#include "model_rows.h"

#include <stdlib.h>
#include <string.h>

#include "families.h"

static int ascending(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int descending(uint64_t a, uint64_t b)
{
	return ascending(b, a);
}

static int either(int first, int second)
{
	return first != 0 ? first : second;
}

static int compare_threads(const void *left, const void *right)
{
	const struct thread_row *a = left, *b = right;
	const struct family_sum sum_a = family_sum_all(&a->counters);
	const struct family_sum sum_b = family_sum_all(&b->counters);
	int order = descending(sum_a.wait_ns_total, sum_b.wait_ns_total);
	order = either(order, descending(sum_a.acquired, sum_b.acquired));
	order = either(order, descending(a->counters.cond.waits, b->counters.cond.waits));
	order = either(order, strcmp(a->name, b->name));
	order = either(order, ascending(a->process, b->process));
	return either(order, ascending((uint32_t)a->tid, (uint32_t)b->tid));
}

static int compare_names(const void *left, const void *right)
{
	const struct thread_row *a = left, *b = right;
	int order = either(strcmp(a->name, b->name), ascending(a->process, b->process));
	return either(order, ascending((uint32_t)a->tid, (uint32_t)b->tid));
}

static int compare_waits(const struct wait_totals *a, const struct wait_totals *b)
{
	return either(
	        descending(a->wait_ns_total, b->wait_ns_total), descending(a->waits, b->waits));
}

static int compare_locks(const void *left, const void *right)
{
	const struct lock_row *a = left, *b = right;
	return either(compare_waits(&a->lock.wait, &b->lock.wait), ascending(a->id, b->id));
}

static int compare_sites(const void *left, const void *right)
{
	const struct site_row *a = left, *b = right;
	return either(compare_waits(&a->wait, &b->wait), ascending(a->id, b->id));
}

/* Code in no file is another one in each process. */
static int compare_code(const struct mapped *mapped, struct code a, uint32_t process_a,
        struct code b, uint32_t process_b)
{
	int order = mapped_compare(mapped, a, b);
	if (order != 0 || a.file != MAPPED_NONE || a.address == 0)
		return order;
	return ascending(process_a, process_b);
}

static int compare_place(
        const struct mapped *mapped, const struct site_row *a, const struct site_row *b)
{
	int order = compare_code(mapped, a->code, a->process, b->code, b->process);
	order = either(order, ascending(a->family, b->family));
	return either(order, ascending(a->mode, b->mode));
}

static int compare_places(const void *left, const void *right, void *mapped)
{
	const struct site_row *a = left, *b = right;
	return either(compare_place(mapped, a, b), ascending(a->id, b->id));
}

static int compare_blames(const void *left, const void *right)
{
	const struct blame_row *a = left, *b = right;
	int order = descending(a->wait_ns_total, b->wait_ns_total);
	order = either(order, descending(a->waits, b->waits));
	order = either(order, ascending(a->site, b->site));
	return either(order, ascending(a->holder.address, b->holder.address));
}

static int compare_pair(
        const struct mapped *mapped, const struct blame_row *a, const struct blame_row *b)
{
	int order = compare_code(mapped, a->waiter, a->process, b->waiter, b->process);
	return either(order, compare_code(mapped, a->holder, a->process, b->holder, b->process));
}

static int compare_pairs(const void *left, const void *right, void *mapped)
{
	const struct blame_row *a = left, *b = right;
	int order = compare_pair(mapped, a, b);
	order = either(order, ascending(a->site, b->site));
	return either(order, ascending(a->holder.address, b->holder.address));
}

static int compare_stacks(const void *left, const void *right)
{
	const struct stack_row *a = left, *b = right;
	int order = descending(a->wait_ns_total, b->wait_ns_total);
	order = either(order, descending(a->waits, b->waits));
	return either(order, ascending(a->id, b->id));
}

static int compare_frames(
        const struct mapped *mapped, const struct stack_row *a, const struct stack_row *b)
{
	int order = ascending(a->depth, b->depth);
	for (uint32_t i = 0; order == 0 && i < a->depth; i++)
		order = compare_code(mapped, a->frames[i], a->process, b->frames[i], b->process);
	return either(order, ascending(a->end, b->end));
}

static int compare_chains(const void *left, const void *right, void *mapped)
{
	const struct stack_row *a = left, *b = right;
	return either(compare_frames(mapped, a, b), ascending(a->id, b->id));
}

static int compare_samples(const void *left, const void *right)
{
	const struct sample_row *a = left, *b = right;
	int order = descending(a->wait_ns_total, b->wait_ns_total);
	order = either(order, descending(a->waits, b->waits));
	order = either(order, ascending(a->stack, b->stack));
	return either(order, ascending(a->site, b->site));
}

/* qsort_r() gives the comparison what the rows alone do not say. */
static void sort_mapped(const struct mapped *mapped, void *rows, size_t count, size_t size,
        int (*compare)(const void *, const void *, void *))
{
	qsort_r(rows, count, size, compare, (void *)mapped);
}

void rows_sort_threads(struct thread_row *rows, size_t count)
{
	qsort(rows, count, sizeof(*rows), compare_threads);
}

void rows_sort_locks(struct lock_row *rows, size_t count)
{
	qsort(rows, count, sizeof(*rows), compare_locks);
}

void rows_sort_sites(struct site_row *rows, size_t count)
{
	qsort(rows, count, sizeof(*rows), compare_sites);
}

void rows_sort_blames(struct blame_row *rows, size_t count)
{
	qsort(rows, count, sizeof(*rows), compare_blames);
}

void rows_sort_stacks(struct stack_row *rows, size_t count)
{
	qsort(rows, count, sizeof(*rows), compare_stacks);
}

void rows_sort_samples(struct sample_row *rows, size_t count)
{
	qsort(rows, count, sizeof(*rows), compare_samples);
}

void rows_sort_threads_by_name(struct thread_row *rows, size_t count)
{
	qsort(rows, count, sizeof(*rows), compare_names);
}

void rows_sort_sites_by_place(const struct mapped *mapped, struct site_row *rows, size_t count)
{
	sort_mapped(mapped, rows, count, sizeof(*rows), compare_places);
}

void rows_sort_blames_by_pair(const struct mapped *mapped, struct blame_row *rows, size_t count)
{
	sort_mapped(mapped, rows, count, sizeof(*rows), compare_pairs);
}

void rows_sort_stacks_by_frames(const struct mapped *mapped, struct stack_row *rows, size_t count)
{
	sort_mapped(mapped, rows, count, sizeof(*rows), compare_chains);
}

bool rows_same_place(
        const struct mapped *mapped, const struct site_row *a, const struct site_row *b)
{
	return compare_place(mapped, a, b) == 0;
}

bool rows_same_pair(
        const struct mapped *mapped, const struct blame_row *a, const struct blame_row *b)
{
	return compare_pair(mapped, a, b) == 0;
}

bool rows_same_frames(
        const struct mapped *mapped, const struct stack_row *a, const struct stack_row *b)
{
	return compare_frames(mapped, a, b) == 0;
}
