/*
 * Comparisons of rows, one qsort() each.
 */
#include "model_rows.h"

#include <stdlib.h>
#include <string.h>

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
	int order = descending(a->counters.mutex.wait_ns_total, b->counters.mutex.wait_ns_total);
	order = either(order, descending(a->counters.mutex.acquired, b->counters.mutex.acquired));
	order = either(order, descending(a->counters.cond.waits, b->counters.cond.waits));
	order = either(order, strcmp(a->name, b->name));
	return either(order, ascending((uint32_t)a->tid, (uint32_t)b->tid));
}

static int compare_names(const void *left, const void *right)
{
	const struct thread_row *a = left, *b = right;
	return either(strcmp(a->name, b->name), ascending((uint32_t)a->tid, (uint32_t)b->tid));
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

static int compare_place(const struct site_row *a, const struct site_row *b)
{
	return either(ascending(a->module, b->module), ascending(a->address, b->address));
}

static int compare_places(const void *left, const void *right)
{
	const struct site_row *a = left, *b = right;
	return either(compare_place(a, b), ascending(a->id, b->id));
}

static int compare_blames(const void *left, const void *right)
{
	const struct blame_row *a = left, *b = right;
	int order = descending(a->wait_ns_total, b->wait_ns_total);
	order = either(order, descending(a->waits, b->waits));
	order = either(order, ascending(a->site, b->site));
	return either(order, ascending(a->holder_address, b->holder_address));
}

static int compare_pair(const struct blame_row *a, const struct blame_row *b)
{
	int order = ascending(a->waiter_module, b->waiter_module);
	order = either(order, ascending(a->waiter_address, b->waiter_address));
	order = either(order, ascending(a->holder_module, b->holder_module));
	return either(order, ascending(a->holder_address, b->holder_address));
}

static int compare_pairs(const void *left, const void *right)
{
	const struct blame_row *a = left, *b = right;
	return either(compare_pair(a, b), ascending(a->site, b->site));
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

void rows_sort_threads_by_name(struct thread_row *rows, size_t count)
{
	qsort(rows, count, sizeof(*rows), compare_names);
}

void rows_sort_sites_by_place(struct site_row *rows, size_t count)
{
	qsort(rows, count, sizeof(*rows), compare_places);
}

void rows_sort_blames_by_pair(struct blame_row *rows, size_t count)
{
	qsort(rows, count, sizeof(*rows), compare_pairs);
}

bool rows_same_place(const struct site_row *a, const struct site_row *b)
{
	return compare_place(a, b) == 0;
}

bool rows_same_pair(const struct blame_row *a, const struct blame_row *b)
{
	return compare_pair(a, b) == 0;
}
