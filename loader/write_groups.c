/*
 * A report of groups: one table for people, or the same rows as JSON.
 */
#include "write.h"

#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "json_members.h"
#include "text_table.h"
#include "words.h"

#define FORMAT_VERSION 1

#define NAME_WIDTH (TABLE_WIDTH - TABLE_NAME_COLUMN - 8) /* a little more than a label needs */

static const struct {
	const char *title, *held, *members, *name;
} titles[] = {
	[GROUP_LOCK] = { "Locks, by time waited for them", "Locks, by time held", "", "lock" },
	[GROUP_SITE] = { "Call sites, by time waited in them", NULL, "locks", "call site" },
	[GROUP_CREATION] = { "Locks of one kind, by time waited for them",
	        "Locks of one kind, by time held", "locks",
	        "variable, or where created or first used" },
	[GROUP_THREAD] = { "Threads of one name, by time waited",
	        "Threads of one name, by time held", "threads", "name" },
	[GROUP_TYPE] = { "Types of locks, by time waited for them", "Types of locks, by time held",
	        "locks", "type" },
};

static void print_row(const struct view *view, const struct group_row *row, const char *label)
{
	char count[TEXT_NUMBER_SIZE] = "";
	if (row->members > 0)
		text_count(count, row->members);
	table_waits(view, row->waits, row->wait_ns_total, row->wait_ns_max);
	fprintf(view->out, "%7s ", count);
	table_name(view, label, NAME_WIDTH);
	fputc('\n', view->out);
}

static void print_hold(const struct view *view, const struct group_row *row, const char *label)
{
	char numbers[5][TEXT_NUMBER_SIZE];
	fprintf(view->out, "%9s %8s %11s %9s %9s   %7s ",
	        text_duration(numbers[0], row->hold_ns_total),
	        text_percent(numbers[1], row->hold_ns_total, view->model->duration_ns),
	        text_count(numbers[2], row->acquired),
	        text_duration(
	                numbers[3], row->acquired > 0 ? row->hold_ns_total / row->acquired : 0),
	        text_duration(numbers[4], row->hold_ns_max), "");
	table_name(view, label, NAME_WIDTH);
	fputc('\n', view->out);
}

/* Call sites wait; they are not held. */
static bool print_holds(const struct view *view, const struct groups *groups)
{
	size_t count;
	if (groups->total.hold_ns_total == 0 || !groups->holds_known)
		return true;
	const struct group_row **rows = groups_held(groups, &count);
	if (rows == NULL)
		return false;
	size_t shown = table_heading(view, titles[groups->by].held, count);
	fprintf(view->out, "%9s %8s %11s %9s %9s   %7s %s\n", "held", "of time", "acquired", "mean",
	        "longest", "", titles[groups->by].name);
	/* Not every acquisition that the totals count is one of which the hold was timed. */
	struct group_row rest = groups->rest, total = groups->total;
	rest.acquired = total.acquired = 0;
	struct group_row hidden = { .family = FAMILY_COUNT };
	for (size_t i = 0; i < count; i++) {
		total.acquired += rows[i]->acquired;
		if (i < shown)
			print_hold(view, rows[i], rows[i]->label);
		else
			group_merge(&hidden, rows[i]);
	}
	if (shown < count)
		print_hold(view, &hidden, "(the rows not shown)");
	if (rest.hold_ns_total > 0)
		print_hold(view, &rest, "(in no row)");
	print_hold(view, &total, "(total)");
	free(rows);
	return true;
}

/* What --top leaves out, as one row. */
static struct group_row sum_of(const struct groups *groups, size_t from, size_t to)
{
	struct group_row sum = { .family = FAMILY_COUNT };
	for (size_t i = from; i < to; i++)
		group_merge(&sum, &groups->rows[i]);
	return sum;
}

/* How many rows anybody waited for: they come first. */
static size_t count_waited(const struct groups *groups)
{
	size_t count = 0;
	while (count < groups->count && groups->rows[count].waits > 0)
		count++;
	return count;
}

static void print_waits(const struct view *view, const struct groups *groups)
{
	size_t count = count_waited(groups);
	size_t shown = table_heading(view, titles[groups->by].title, count);
	char what[128];
	snprintf(what, sizeof(what), "%7s %s", titles[groups->by].members, titles[groups->by].name);
	table_waits_heading(view, what);
	for (size_t i = 0; i < shown; i++)
		print_row(view, &groups->rows[i], groups->rows[i].label);
	if (shown < count) {
		struct group_row hidden = sum_of(groups, shown, count);
		print_row(view, &hidden, "(the rows not shown)");
	}
	if (groups->rest.waits > 0 || groups->rest.wait_ns_total > 0)
		print_row(view, &groups->rest, "(not in the tables, which were full)");
	print_row(view, &groups->total, "(total)");
}

bool write_groups_text(FILE *out, const struct model *model, struct symbols *symbols,
        const struct write_options *options)
{
	/* Shares are of all time waited, also of what the tables do not hold. */
	struct model whole = *model;
	const struct view view = {
		.out = out, .model = &whole, .symbols = symbols, .top = options->top
	};
	struct groups *groups = groups_build(model, symbols, options->by);
	if (groups == NULL)
		return false;
	whole.wait_ns_total = groups->total.wait_ns_total;
	bool complete = true;
	if (model->counted_nothing) {
		text_nothing(&view);
	} else {
		text_head(&view);
		print_waits(&view, groups);
		complete = print_holds(&view, groups);
	}
	groups_free(groups);
	return complete;
}

/* What nobody looked at is null. */
static void set_known(json_t *object, const char *key, uint64_t value, bool known)
{
	json_object_set_new(object, key, known ? member_value(value) : json_null());
}

static json_t *row_object(
        const struct groups *groups, const struct group_row *row, bool acquired_known)
{
	json_t *object = json_object();
	if (row->key != NULL) {
		member_string(object, "key", row->key);
		member_string(object, "label", row->label);
		json_object_set_new(object, "family",
		        row->family < FAMILY_COUNT ? json_string(words_family(row->family))
		                                   : json_null());
		member_integer(object, "members", row->members);
	}
	set_known(object, "acquired", row->acquired, acquired_known);
	member_integer(object, "waits", row->waits);
	member_integer(object, "wait_ns_total", row->wait_ns_total);
	member_integer(object, "wait_ns_max", row->wait_ns_max);
	set_known(object, "hold_ns_total", row->hold_ns_total, groups->holds_known);
	set_known(object, "hold_ns_max", row->hold_ns_max, groups->holds_known);
	return object;
}

bool write_groups_json(FILE *out, const struct model *model, struct symbols *symbols,
        const struct write_options *options)
{
	struct groups *groups = groups_build(model, symbols, options->by);
	if (groups == NULL)
		return false;
	json_t *report = json_object(), *rows = json_array();
	member_integer(report, "version", FORMAT_VERSION);
	json_object_set_new(report, "by", json_string(group_name(groups->by)));
	member_integer(report, "processes", model->process_count);
	json_object_set_new(report, "duration_ns",
	        model->duration_ns > 0 ? member_value(model->duration_ns) : json_null());
	for (size_t i = 0; i < groups->count; i++)
		json_array_append_new(
		        rows, row_object(groups, &groups->rows[i], groups->acquired_known));
	bool complete = json_array_size(rows) == groups->count;
	json_object_set_new(report, "rows", rows);
	json_object_set_new(
	        report, "rest", row_object(groups, &groups->rest, groups->acquired_known));
	json_object_set_new(report, "total", row_object(groups, &groups->total, true));
	groups_free(groups);
	complete = complete && json_object_size(report) == 7 &&
	           json_dumpf(report, out, JSON_COMPACT) == 0 && fputc('\n', out) != EOF;
	json_decref(report);
	return complete;
}
