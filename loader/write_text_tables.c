/*
 * The tables of the text report: locks, holds, call sites, who blocked whom.
 */
#include "text_table.h"

#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "words.h"

/* "recursive", "rwlock", ... */
static const char *lock_type(const struct record_lock *lock)
{
	return lock->family == FAMILY_mutex ? words_mutex_type(lock->kind)
	                                    : words_family(lock->family);
}

static void print_lock_name(const struct view *view, const struct lock_row *row)
{
	struct place place;
	char pid[24] = "", rest[64];
	if (view->model->process_count > 1)
		snprintf(pid, sizeof(pid), " of %d",
		        (int)view->model->processes[row->process].record->header.pid);
	snprintf(rest, sizeof(rest), "%s (%s%s%s)", pid, lock_type(&row->lock),
	        words_mutex_is_shared(row->lock.kind) ? ", shared" : "",
	        row->lock.destroyed ? ", destroyed" : "");
	symbols_find_lock(view->symbols, row->process, &row->lock, &place);
	table_place(view, &place, TABLE_WIDTH - TABLE_NAME_COLUMN - (unsigned)strlen(rest));
	fprintf(view->out, "%s\n", rest);
}

/* How many locks anybody waited for: they come first. Others have been held only. */
static size_t count_waited(const struct model *model)
{
	size_t count = 0;
	while (count < model->lock_count && model->locks[count].lock.wait.waits > 0)
		count++;
	return count;
}

void table_of_locks(const struct view *view)
{
	uint64_t previous = 0;
	size_t count = count_waited(view->model);
	if (count == 0)
		return;
	size_t shown = table_heading(view, "Locks, by time waited for them", count);
	table_waits_heading(view, "lock, and where it was created or first used");
	for (size_t i = 0; i < shown; i++) {
		const struct lock_row *row = &view->model->locks[i];
		const struct site_row *site = model_site(view->model, row->first_site);
		bool created = row->created.address != 0;
		struct code code = { MAPPED_NONE, 0 };
		struct place place;
		if (created || site != NULL)
			code = created ? row->created : site->code;
		table_waits(view, row->lock.wait.waits, row->lock.wait.wait_ns_total,
		        row->lock.wait.wait_ns_max);
		print_lock_name(view, row);
		if (code.address != 0 && code.address != previous) {
			symbols_find_call(view->symbols, code, &place);
			table_below(view, created ? "created in " : "first in ", &place);
		}
		previous = code.address;
	}
}

/* Rows of model.locks, by time held. */
static int compare_holds(const void *left, const void *right)
{
	const struct lock_row *a = *(const struct lock_row *const *)left;
	const struct lock_row *b = *(const struct lock_row *const *)right;
	uint64_t a_ns = family_hold(&a->lock).hold_ns_total;
	uint64_t b_ns = family_hold(&b->lock).hold_ns_total;
	if (a_ns != b_ns)
		return a_ns < b_ns ? 1 : -1;
	return a->id < b->id ? -1 : 1;
}

void table_of_holds(const struct view *view)
{
	const struct model *model = view->model;
	const struct lock_row **rows = calloc(model->lock_count + 1, sizeof(*rows));
	size_t count = 0;
	for (size_t i = 0; rows != NULL && i < model->lock_count; i++)
		if (family_hold(&model->locks[i].lock).acquired > 0)
			rows[count++] = &model->locks[i];
	if (count == 0) {
		free(rows);
		return;
	}
	qsort(rows, count, sizeof(*rows), compare_holds);
	size_t shown = table_heading(view, "Locks, by time held", count);
	fprintf(view->out, "%9s %8s %11s %9s %9s   %s\n", "held", "of time", "acquired", "mean",
	        "longest", "lock");
	for (size_t i = 0; i < shown; i++) {
		const struct hold_totals hold = family_hold(&rows[i]->lock);
		char numbers[5][TEXT_NUMBER_SIZE];
		fprintf(view->out, "%9s %8s %11s %9s %9s   ",
		        text_duration(numbers[0], hold.hold_ns_total),
		        text_percent(numbers[1], hold.hold_ns_total,
		                model->processes[rows[i]->process].duration_ns),
		        text_count(numbers[2], hold.acquired),
		        text_duration(numbers[3], hold.hold_ns_total / hold.acquired),
		        text_duration(numbers[4], hold.hold_ns_max));
		print_lock_name(view, rows[i]);
	}
	free(rows);
}

/* "read" or "write" of a call that waits for a reader-writer lock. */
static const char *mode_word(const struct site_row *row)
{
	if (row->family != FAMILY_rwlock)
		return "";
	return row->mode == MODE_SHARED ? "read" : "write";
}

/* " (read, 2 locks)"; locks is 0 where it is not to be said. */
static void describe_place(const struct site_row *row, uint32_t lock_count, char text[64])
{
	char locks[TEXT_NUMBER_SIZE + 16] = "", count[TEXT_NUMBER_SIZE];
	const char *mode = mode_word(row);
	if (lock_count > 1)
		snprintf(locks, sizeof(locks), "%s locks", text_count(count, lock_count));
	text[0] = '\0';
	if (mode[0] != '\0' || locks[0] != '\0')
		snprintf(text, 64, " (%s%s%s)", mode,
		        mode[0] != '\0' && locks[0] != '\0' ? ", " : "", locks);
}

static void print_call(const struct view *view, struct code code, const char *what)
{
	struct place place;
	symbols_find_call(view->symbols, code, &place);
	table_place(view, &place, TABLE_WIDTH - TABLE_NAME_COLUMN - (unsigned)strlen(what));
	fprintf(view->out, "%s\n", what);
}

void table_of_places(const struct view *view)
{
	if (view->model->place_count == 0)
		return;
	size_t shown =
	        table_heading(view, "Call sites, by time waited in them", view->model->place_count);
	table_waits_heading(view, "call site");
	for (size_t i = 0; i < shown; i++) {
		const struct site_row *row = &view->model->places[i];
		char what[64];
		describe_place(row, row->locks, what);
		table_waits(view, row->wait.waits, row->wait.wait_ns_total, row->wait.wait_ns_max);
		print_call(view, row->code, what);
	}
}

/* What can be said of a holder that has no place: locks of most kinds do not know theirs, nor does
 * a reader-writer lock know its readers. */
static const char *unknown_holder(const struct site_row *waiter)
{
	uint32_t family = waiter != NULL ? waiter->family : FAMILY_COUNT;
	if (family == FAMILY_rwlock && waiter->mode == MODE_EXCLUSIVE)
		return "held by readers (not known), or a holder just changing";
	if (family == FAMILY_mutex || family == FAMILY_rwlock || family == FAMILY_COUNT)
		return "held by a holder that was just changing";
	return "        the holder of this kind of lock is not known";
}

static void print_holder(
        const struct view *view, const struct blame_row *row, const struct site_row *waiter)
{
	static const char before[] = "held by ";
	struct place place;
	bool is_known = row->holder.address != 0;
	if (is_known && mapped_compare(view->model->mapped, row->holder, row->waiter) != 0) {
		symbols_find_call(view->symbols, row->holder, &place);
		table_below(view, before, &place);
		return;
	}
	fprintf(view->out, "%*s%s\n", TABLE_NAME_COLUMN - (int)strlen(before), "",
	        is_known ? "held by the same call site" : unknown_holder(waiter));
}

void table_of_pairs(const struct view *view)
{
	if (view->model->pair_count == 0)
		return;
	size_t shown =
	        table_heading(view, "Who blocked whom, by time waited", view->model->pair_count);
	table_waits_heading(view, "waiter, and where the holder had acquired it");
	for (size_t i = 0; i < shown; i++) {
		const struct blame_row *row = &view->model->pairs[i];
		const struct site_row *waiter = model_site(view->model, row->site);
		char what[64] = "";
		if (waiter != NULL)
			describe_place(waiter, 0, what);
		table_waits(view, row->waits, row->wait_ns_total, row->wait_ns_max);
		print_call(view, row->waiter, what);
		print_holder(view, row, waiter);
	}
}
