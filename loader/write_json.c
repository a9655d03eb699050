/*
 * The report for programs. Counts and times are exact integers, addresses are strings because they
 * do not fit into the numbers of every JSON reader.
 */
#include "write.h"

#include <stdlib.h>
#include <string.h>

#include "alloc_report.h"
#include "json_members.h"
#include "probes/counters.h"
#include "text.h"
#include "trust.h"
#include "uncovered.h"
#include "words.h"
#include "write_json.h"

#define FORMAT_VERSION 1

/* One member for each family that has one for each counter. */
static void set_families(json_t *object, const struct counters *counters)
{
	for (size_t i = 0; i < FAMILY_COUNT; i++) {
		const struct counter_family *family = &counter_families[i];
		json_t *values = json_object();
		for (size_t at = family->first; at < family->first + family->count; at++)
			member_integer(values, counter_table[at].name, counter_value(counters, at));
		json_object_set_new(object, family->name, values);
	}
}

static const char *ending_word(enum model_ending ending)
{
	static const char *const words[] = {
		[MODEL_RUNNING] = "running",
		[MODEL_ENDED] = "ended",
		[MODEL_REPLACED] = "replaced",
		[MODEL_UNSEEN] = "unseen",
	};
	return words[ending];
}

static json_t *process_object(const struct process_row *process)
{
	const struct record_header *header = &process->record->header;
	json_t *object = json_object();
	member_string(object, "name", words_base_name(header->executable));
	member_string(object, "executable", header->executable);
	json_object_set_new(object, "pid", json_integer(header->pid));
	json_object_set_new(object, "parent_pid", json_integer(header->parent_pid));
	member_string(object, "machine", words_machine(header->machine));
	member_integer(object, "cpus", header->cpus);
	member_string(object, "state", ending_word(process->ending));
	member_string(object, "end", words_end_kind(header->end_kind));
	member_bool(object, "since", process->since);
	json_object_set_new(object, "exit_status",
	        process->exit_status >= 0 ? json_integer(process->exit_status) : json_null());
	json_object_set_new(object, "signal",
	        process->signal != 0 ? json_integer(process->signal) : json_null());
	member_integer(object, "start_ticks", header->start_ticks);
	member_integer(object, "start_real_ns", header->start_real_ns);
	member_integer(object, "start_ns", header->start_ns);
	member_integer(object, "end_ns", header->end_ns);
	json_object_set_new(object, "duration_ns",
	        process->duration_ns > 0 ? member_value(process->duration_ns) : json_null());
	member_integer(object, "threads_created", header->threads_created);
	member_known(object, "record", header->path);
	member_known(object, "library", header->library);
	return object;
}

static json_t *settings_object(const struct record *record)
{
	const struct record_control *control = &record->control;
	json_t *object = json_object(), *variables = json_object();
	member_string(object, "mutex", control->mutex.name);
	member_integer(object, "mutex_pre_spins", control->mutex_pre_spins);
	member_string(object, "rwlock", control->rwlock.name);
	member_string(object, "spinlock", control->spinlock.name);
	member_string(object, "sem", control->sem.name);
	member_string(object, "futex", control->futex.name);
	member_integer(object, "stacks", control->stack_depth);
	member_string(object, "stats", words_stats(control->stats));
	member_string(object, "pause", words_pause(control->pause));
	member_string(object, "atomics", words_atomics(control->atomics));
	member_string(object, "alloc", words_alloc(control->alloc));
	for (const char *line = record->header.settings; *line != '\0';) {
		size_t length = strcspn(line, "\n");
		const char *equals = memchr(line, '=', length);
		char name[64], value[RECORD_MAX_SETTINGS];
		if (equals != NULL && (size_t)(equals - line) < sizeof(name)) {
			snprintf(name, sizeof(name), "%.*s", (int)(equals - line), line);
			snprintf(value, sizeof(value), "%.*s", (int)(line + length - equals - 1),
			        equals + 1);
			char *key = text_valid_utf8(name);
			if (key != NULL)
				member_string(variables, key, value);
			free(key);
		}
		line += length + (line[length] == '\n');
	}
	json_object_set_new(object, "environment", variables);
	return object;
}

static json_t *processes_array(const struct model *model)
{
	json_t *array = json_array();
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process_row *process = &model->processes[i];
		json_t *object = process_object(process);
		json_object_set_new(object, "settings", settings_object(process->record));
		json_object_set_new(object, "allocation", alloc_object(process->record));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *uncovered_array(const struct model *model)
{
	struct uncovered uncovered = uncovered_new(model);
	json_t *array = json_array();
	for (size_t i = 0; i < uncovered.count; i++) {
		const struct record_uncovered *row = &uncovered.rows[i];
		json_t *object = json_object();
		member_string(object, "reason", uncovered_reason(row->reason));
		member_known(object, "function", row->symbol);
		member_string(object, "path", row->path);
		json_array_append_new(array, object);
	}
	uncovered_free(&uncovered);
	return array;
}

static json_t *trust_object(const struct model *model, struct symbols *symbols)
{
	const struct model_gaps *gaps = &model->gaps;
	static const struct {
		const char *name;
		uint32_t flag;
	} flags[] = {
		{ "in_memory", RECORD_IN_MEMORY },
		{ "not_tmpfs", RECORD_NOT_TMPFS },
		{ "seccomp", RECORD_SECCOMP },
		{ "reported", RECORD_REPORTED },
		{ "summarised", RECORD_SUMMARISED },
		{ "forked", RECORD_FORKED },
		{ "elision", RECORD_ELISION },
		{ "elsewhere", RECORD_ELSEWHERE },
		{ "no_stacks", RECORD_NO_STACKS },
		{ "no_room", RECORD_NO_ROOM },
	};
	json_t *object = json_object(), *changed = json_array(), *notes = json_array();
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		member_bool(object, flags[i].name, (gaps->flags & flags[i].flag) != 0);
	member_integer(object, "passed_through", model->counters.mutex.passed_through);
	member_integer(object, "threads_lost", gaps->threads_lost);
	member_integer(object, "lost_waits", gaps->lost_waits);
	member_integer(object, "lost_ns", gaps->lost_ns);
	member_integer(object, "created_lost", gaps->created_lost);
	member_integer(object, "blames_lost", gaps->blames_lost);
	member_integer(object, "modules_lost", gaps->modules_lost);
	member_bool(object, "names_merged", gaps->retired_rest != 0);
	struct trust trust;
	trust_collect(&trust, model, symbols);
	size_t changed_count = symbols_count_changed(symbols);
	for (size_t i = 0; i < changed_count; i++) {
		char *path = text_valid_utf8(symbols_changed_path(symbols, i));
		json_array_append_new(changed, path != NULL ? json_string(path) : json_null());
		free(path);
	}
	for (unsigned i = 0; i < trust.count; i++) {
		char *valid = text_valid_utf8(trust.notes[i]);
		json_array_append_new(notes, valid != NULL ? json_string(valid) : json_null());
		free(valid);
	}
	json_object_set_new(object, "uncovered", uncovered_array(model));
	json_object_set_new(object, "changed_files", changed);
	json_object_set_new(object, "notes", notes);
	return object;
}

static json_t *totals_object(const struct model *model)
{
	json_t *object = json_object();
	set_families(object, &model->counters);
	for (size_t i = 0; i < FAMILY_COUNT; i++) {
		json_t *histogram = json_array();
		for (int bucket = 0; bucket < RECORD_BUCKETS; bucket++)
			json_array_append_new(
			        histogram, member_value(model->histograms[i][bucket]));
		json_object_set_new(
		        json_object_get(object, counter_families[i].name), "histogram", histogram);
	}
	return object;
}

static json_t *threads_array(const struct model *model)
{
	json_t *array = json_array();
	for (size_t i = 0; i < model->thread_count; i++) {
		const struct thread_row *row = &model->threads[i];
		json_t *object = json_object(), *caused = json_object();
		member_string(object, "name", row->name);
		json_object_set_new(
		        object, "tid", row->tid != 0 ? json_integer(row->tid) : json_null());
		member_id(object, "process", row->process);
		member_integer(object, "running", row->running);
		member_integer(object, "ended", row->ended);
		set_families(object, &row->counters);
		member_integer(caused, "waits", row->caused.waits);
		member_integer(caused, "wait_ns_total", row->caused.wait_ns_total);
		member_integer(caused, "wait_ns_max", row->caused.wait_ns_max);
		json_object_set_new(object, "caused", caused);
		json_array_append_new(array, object);
	}
	return array;
}

bool write_json(FILE *out, const struct model *model, struct symbols *symbols,
        const struct write_options *options)
{
	(void)options;
	json_t *report = json_object();
	member_integer(report, "version", FORMAT_VERSION);
	json_object_set_new(report, "process", process_object(model->processes));
	json_object_set_new(report, "processes", processes_array(model));
	json_object_set_new(report, "settings", settings_object(model->processes->record));
	json_object_set_new(report, "trust", trust_object(model, symbols));
	json_object_set_new(report, "totals", totals_object(model));
	json_object_set_new(report, "threads", threads_array(model));
	json_object_set_new(report, "locks", json_locks(model, symbols));
	json_object_set_new(report, "sites", json_sites(model, symbols));
	json_object_set_new(report, "blame", json_blame(model, symbols));
	json_object_set_new(report, "stacks", json_stacks(model, symbols));
	json_object_set_new(report, "samples", json_samples(model));
	json_object_set_new(report, "sampling", json_sampling(model));
	json_object_set_new(report, "atomics", json_atomics(model));
	json_object_set_new(report, "allocation", alloc_object(model->processes->record));
	/* A part that could not be made for want of memory is missing. */
	bool complete =
	        json_object_size(report) == 15 && json_dumpf(report, out, JSON_COMPACT) == 0;
	json_decref(report);
	return complete && fputc('\n', out) != EOF;
}
