/*
 * The difference of two models for programs: both sides' exact numbers, and what follows from them.
 */
#include <stdlib.h>

#include "diff.h"
#include "json_members.h"
#include "probes/counters.h"
#include "words.h"

#define FORMAT_VERSION 1

static const char *const tables[DIFF_TABLES] = { "threads", "sites", "creations" };

static json_t *side_object(const struct model *model)
{
	const struct process_row *process = model->processes;
	json_t *object = json_object();
	member_string(object, "name", words_base_name(process->record->header.executable));
	member_integer(object, "processes", model->process_count);
	if (model->process_count == 1)
		member_integer(object, "pid", (uint64_t)process->record->header.pid);
	else
		json_object_set_new(object, "pid", json_null());
	json_object_set_new(object, "duration_ns",
	        model->duration_ns > 0 ? member_value(model->duration_ns) : json_null());
	member_string(object, "mutex", process->record->control.mutex.name);
	return object;
}

/* B - A, and the same relative to A: null where A is 0. */
static void set_change(json_t *object, uint64_t a, uint64_t b)
{
	/* Only a damaged record holds numbers whose difference is too large. */
	json_object_set_new(object, "change", json_integer((json_int_t)(b - a)));
	json_object_set_new(object, "relative",
	        a > 0 ? json_real(((double)b - (double)a) / (double)a) : json_null());
}

static void set_rates(
        json_t *object, const struct diff *diff, const char *key, uint64_t a, uint64_t b)
{
	const uint64_t numbers[2] = { a, b };
	json_t *rates = json_array();
	for (int side = 0; side < 2; side++) {
		double seconds = (double)diff->sides[side].model->duration_ns / 1e9;
		json_array_append_new(rates,
		        seconds > 0 ? json_real((double)numbers[side] / seconds) : json_null());
	}
	json_object_set_new(object, key, rates);
}

static json_t *totals_array(const struct diff *diff)
{
	json_t *array = json_array();
	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		const struct counter *counter = &counter_table[i];
		uint64_t a = counter_value(&diff->sides[0].model->counters, i);
		uint64_t b = counter_value(&diff->sides[1].model->counters, i);
		json_t *object = json_object();
		member_string(object, "family", counter_families[counter->family].name);
		member_string(object, "counter", counter->name);
		member_integer(object, "a", a);
		member_integer(object, "b", b);
		set_change(object, a, b);
		if (!counter->is_max)
			set_rates(object, diff, "per_second", a, b);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *group_object(const struct groups *groups, const struct group_row *row)
{
	if (row == NULL)
		return json_null();
	json_t *object = json_object();
	member_integer(object, "members", row->members);
	json_object_set_new(object, "acquired",
	        groups->acquired_known ? member_value(row->acquired) : json_null());
	member_integer(object, "waits", row->waits);
	member_integer(object, "wait_ns_total", row->wait_ns_total);
	member_integer(object, "wait_ns_max", row->wait_ns_max);
	json_object_set_new(object, "hold_ns_total",
	        groups->holds_known ? member_value(row->hold_ns_total) : json_null());
	return object;
}

static json_t *rows_array(const struct diff *diff, const struct diff_table *table)
{
	json_t *array = json_array();
	for (size_t i = 0; i < table->count; i++) {
		const struct diff_row *row = &table->rows[i];
		const struct group_row *any = row->a != NULL ? row->a : row->b;
		uint64_t a = row->a != NULL ? row->a->wait_ns_total : 0;
		uint64_t b = row->b != NULL ? row->b->wait_ns_total : 0;
		json_t *object = json_object();
		member_string(object, "key", any->key);
		member_string(object, "label", any->label);
		member_known(object, "family",
		        any->family < FAMILY_COUNT ? words_family(any->family) : "");
		json_object_set_new(object, "a", group_object(table->groups[0], row->a));
		json_object_set_new(object, "b", group_object(table->groups[1], row->b));
		set_change(object, a, b);
		set_rates(object, diff, "per_second", a, b);
		json_array_append_new(array, object);
	}
	return array;
}

bool write_diff_json(
        FILE *out, const struct write_side sides[2], const struct write_options *options)
{
	struct diff *diff = diff_build(sides);
	(void)options;
	if (diff == NULL)
		return false;
	json_t *report = json_object();
	member_integer(report, "version", FORMAT_VERSION);
	json_object_set_new(report, "a", side_object(sides[0].model));
	json_object_set_new(report, "b", side_object(sides[1].model));
	json_object_set_new(report, "totals", totals_array(diff));
	for (int i = 0; i < DIFF_TABLES; i++)
		json_object_set_new(report, tables[i], rows_array(diff, &diff->tables[i]));
	diff_free(diff);
	bool complete = json_object_size(report) == 7 &&
	                json_dumpf(report, out, JSON_COMPACT) == 0 && fputc('\n', out) != EOF;
	json_decref(report);
	return complete;
}
