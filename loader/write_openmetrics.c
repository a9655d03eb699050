/*
 * The report as OpenMetrics, for the textfile collector of node_exporter and other readers:
 * counters by name of thread, and the largest rows of some tables. The sum over the rows of each is
 * the total.
 */
#include "write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "metrics.h"
#include "probes/counters.h"
#include "words.h"

#define METRIC_NAME_SIZE 80

struct writer {
	struct metrics metrics;
	const struct model *model;
};

static void put_process(struct writer *writer, const struct process_row *process)
{
	const struct record_header *header = &process->record->header;
	char pid[16];
	snprintf(pid, sizeof(pid), "%" PRId32, header->pid);
	metrics_label(&writer->metrics, "process", words_base_name(header->executable));
	metrics_label(&writer->metrics, "pid", pid);
}

/* A sample of all processes together: with one process it is that one's. */
static void open_sample(struct writer *writer, const char *suffix)
{
	const struct process_row *first = writer->model->processes;
	metrics_open(&writer->metrics, suffix);
	if (writer->model->process_count == 1)
		put_process(writer, first);
	else
		metrics_label(&writer->metrics, "process",
		        words_base_name(first->record->header.executable));
}

static void write_setting(struct writer *writer, const struct process_row *process,
        const char *name, const char *value)
{
	metrics_open(&writer->metrics, NULL);
	put_process(writer, process);
	metrics_label(&writer->metrics, "setting", name);
	metrics_label(&writer->metrics, "value", value);
	metrics_count(&writer->metrics, 1);
}

static void write_settings(struct writer *writer)
{
	metrics_begin(&writer->metrics, METRIC_GAUGE, "abshim_setting",
	        "1 for the value that was in force");
	for (size_t i = 0; i < writer->model->process_count; i++) {
		const struct process_row *process = &writer->model->processes[i];
		const struct record_control *control = &process->record->control;
		write_setting(writer, process, "mutex", control->mutex.name);
		write_setting(writer, process, "rwlock", control->rwlock.name);
		write_setting(writer, process, "spinlock", control->spinlock.name);
		write_setting(writer, process, "sem", control->sem.name);
		write_setting(writer, process, "futex", control->futex.name);
		write_setting(writer, process, "atomics", words_atomics(control->atomics));
		write_setting(writer, process, "stats", words_stats(control->stats));
	}
}

static void write_processes(struct writer *writer)
{
	const struct model *model = writer->model;
	metrics_begin(&writer->metrics, METRIC_GAUGE, "abshim_start_time_seconds",
	        "when counting began, since 1970");
	for (size_t i = 0; i < model->process_count; i++) {
		metrics_open(&writer->metrics, NULL);
		put_process(writer, &model->processes[i]);
		metrics_value(&writer->metrics, model->processes[i].record->header.start_real_ns);
	}
	metrics_begin(&writer->metrics, METRIC_GAUGE, "abshim_duration_seconds",
	        "from the start to the end, or until now");
	for (size_t i = 0; i < model->process_count; i++) {
		if (model->processes[i].duration_ns == 0)
			continue;
		metrics_open(&writer->metrics, NULL);
		put_process(writer, &model->processes[i]);
		metrics_value(&writer->metrics, model->processes[i].duration_ns);
	}
	write_settings(writer);
}

static void write_gaps(struct writer *writer)
{
	const struct model_gaps *gaps = &writer->model->gaps;
	const struct {
		const char *name, *help;
		uint64_t value;
	} rows[] = {
		{ "abshim_threads_created", "successful calls of pthread_create",
		        gaps->threads_created },
		{ "abshim_threads_lost", "threads that found no room in the record",
		        gaps->threads_lost },
		{ "abshim_stacks_due", "waits and releases of which a stack could have been taken",
		        gaps->stacks_due },
		{ "abshim_stacks_taken", "stacks taken of waiters and holders",
		        gaps->stacks_taken },
		{ "abshim_stacks_skipped", "stacks that could not be taken", gaps->stacks_skipped },
		{ "abshim_stacks_lost", "stacks that found no room in the record",
		        gaps->stacks_lost },
		{ "abshim_stack_seconds", "time spent taking stacks", gaps->stack_ns_total },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		metrics_begin(&writer->metrics, METRIC_COUNTER, rows[i].name, rows[i].help);
		open_sample(writer, NULL);
		metrics_value(&writer->metrics, rows[i].value);
	}
}

/* "wait_ns_total" of a family becomes "abshim_FAMILY_wait_seconds", "wait_ns_max" becomes
 * "abshim_FAMILY_wait_max_seconds". */
static void name_counter(const char *family, const char *counter, char name[METRIC_NAME_SIZE])
{
	const char *time = strstr(counter, "_ns_");
	if (time == NULL)
		snprintf(name, METRIC_NAME_SIZE, "abshim_%s_%s", family, counter);
	else
		snprintf(name, METRIC_NAME_SIZE, "abshim_%s_%.*s%s_seconds", family,
		        (int)(time - counter), counter, strcmp(time, "_ns_max") == 0 ? "_max" : "");
}

static void open_thread(struct writer *writer, const struct thread_row *row)
{
	open_sample(writer, NULL);
	metrics_label(&writer->metrics, "thread", row->name[0] != '\0' ? row->name : "(no name)");
}

static bool family_is_zero(const struct counters *counters, const struct counter_family *family)
{
	for (size_t at = family->first; at < family->first + family->count; at++)
		if (counter_value(counters, at) != 0)
			return false;
	return true;
}

/* Threads that never used a family of locks have no samples of it. */
static void write_counters(struct writer *writer)
{
	const struct model *model = writer->model;
	for (size_t at = 0; at < COUNTER_COUNT; at++) {
		const struct counter *counter = &counter_table[at];
		const struct counter_family *family = &counter_families[counter->family];
		char name[METRIC_NAME_SIZE], help[256];
		name_counter(family->name, counter->name, name);
		snprintf(help, sizeof(help), "%s: %s", family->title, counter->help);
		metrics_begin(&writer->metrics, counter->is_max ? METRIC_GAUGE : METRIC_COUNTER,
		        name, help);
		for (size_t i = 0; i < model->name_count; i++) {
			const struct thread_row *row = &model->names[i];
			if (family_is_zero(&row->counters, family))
				continue;
			open_thread(writer, row);
			metrics_value(&writer->metrics, counter_value(&row->counters, at));
		}
	}
}

static void write_threads(struct writer *writer)
{
	const struct model *model = writer->model;
	metrics_begin(&writer->metrics, METRIC_GAUGE, "abshim_threads",
	        "threads of the name that were counted");
	for (size_t i = 0; i < model->name_count; i++) {
		open_thread(writer, &model->names[i]);
		metrics_value(&writer->metrics,
		        (uint64_t)model->names[i].running + model->names[i].ended);
	}
	metrics_begin(&writer->metrics, METRIC_COUNTER, "abshim_caused_waits",
	        "waits of others while the thread held the lock");
	for (size_t i = 0; i < model->name_count; i++) {
		open_thread(writer, &model->names[i]);
		metrics_value(&writer->metrics, model->names[i].caused.waits);
	}
	metrics_begin(&writer->metrics, METRIC_COUNTER, "abshim_caused_wait_seconds",
	        "time others waited while the thread held the lock");
	for (size_t i = 0; i < model->name_count; i++) {
		open_thread(writer, &model->names[i]);
		metrics_value(&writer->metrics, model->names[i].caused.wait_ns_total);
	}
	write_counters(writer);
}

/* Waits are whole nanoseconds, so the longest of bucket b has 2^(b+1) - 1 of them. */
static void write_buckets(struct writer *writer, uint32_t family)
{
	uint64_t count = 0;
	for (unsigned bucket = 0; bucket < RECORD_BUCKETS; bucket++) {
		char bound[32] = "+Inf";
		if (bucket < RECORD_BUCKETS - 1)
			snprintf(bound, sizeof(bound), "%.15g",
			        (double)((UINT64_C(2) << bucket) - 1) / 1e9);
		count += writer->model->histograms[family][bucket];
		open_sample(writer, "_bucket");
		metrics_label(&writer->metrics, "family", words_family(family));
		metrics_label(&writer->metrics, "le", bound);
		metrics_count(&writer->metrics, count);
	}
	open_sample(writer, "_count");
	metrics_label(&writer->metrics, "family", words_family(family));
	metrics_count(&writer->metrics, count);
}

static void write_histograms(struct writer *writer)
{
	const struct model *model = writer->model;
	uint64_t wait_ns[FAMILY_COUNT] = { 0 };
	for (size_t i = 0; i < model->lock_count; i++)
		if (model->locks[i].lock.family < FAMILY_COUNT)
			wait_ns[model->locks[i].lock.family] +=
			        model->locks[i].lock.wait.wait_ns_total;
	metrics_begin(&writer->metrics, METRIC_HISTOGRAM, "abshim_wait_duration_seconds",
	        "waits by length, of those that are in the table of locks");
	for (uint32_t family = 0; family < FAMILY_COUNT; family++) {
		if (family == FAMILY_cond)
			continue;
		write_buckets(writer, family);
		open_sample(writer, "_sum");
		metrics_label(&writer->metrics, "family", words_family(family));
		metrics_value(&writer->metrics, wait_ns[family]);
	}
}

/* What a sample of a table stands for. */
struct series {
	const char *name;
	uint32_t family;
	uint64_t values[6]; /* as in `columns` */
};

static const struct {
	const char *name, *help;
	bool is_max;
} columns[6] = {
	{ "waits", "waits for it", false },
	{ "wait_seconds", "time waited for it", false },
	{ "wait_max_seconds", "longest wait for it", true },
	{ "held", "acquisitions whose end was seen, with ABSHIM_STATS=hold", false },
	{ "hold_seconds", "time held, with ABSHIM_STATS=hold", false },
	{ "hold_max_seconds", "longest hold, with ABSHIM_STATS=hold", true },
};

static struct series series_of(const char *name, const struct group_row *row)
{
	return (struct series){ name, row->family,
		{ row->waits, row->wait_ns_total, row->wait_ns_max, row->acquired,
		        row->hold_ns_total, row->hold_ns_max } };
}

static void merge_series(struct series *to, const struct series *from)
{
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		if (!columns[i].is_max)
			to->values[i] += from->values[i];
		else if (to->values[i] < from->values[i])
			to->values[i] = from->values[i];
	}
}

static void write_series(struct writer *writer, const struct groups *groups,
        const struct series *series, size_t count)
{
	const char *by = group_name(groups->by);
	/* Nobody looked who held, and for how long. */
	size_t most = groups->holds_known ? sizeof(columns) / sizeof(*columns) : 3;
	for (size_t column = 0; column < most; column++) {
		char name[METRIC_NAME_SIZE];
		snprintf(name, sizeof(name), "abshim_%s_%s", by, columns[column].name);
		metrics_begin(&writer->metrics,
		        columns[column].is_max ? METRIC_GAUGE : METRIC_COUNTER, name,
		        columns[column].help);
		for (size_t i = 0; i < count; i++) {
			open_sample(writer, NULL);
			metrics_label(&writer->metrics, "family",
			        series[i].family < FAMILY_COUNT ? words_family(series[i].family)
			                                        : "");
			metrics_label(&writer->metrics, by, series[i].name);
			metrics_value(&writer->metrics, series[i].values[column]);
		}
	}
}

/* Fills in the rows that waited longest and those that were held longest, then the others as one,
 * then what has no row. Returns their number. */
static size_t choose_series(
        struct series *series, const struct groups *groups, const bool *is_shown)
{
	struct series others = { .name = "(others)", .family = FAMILY_COUNT };
	size_t count = 0;
	for (size_t i = 0; i < groups->count; i++) {
		const struct series one = series_of(groups->rows[i].key, &groups->rows[i]);
		if (is_shown[i])
			series[count++] = one;
		else
			merge_series(&others, &one);
	}
	series[count++] = others;
	series[count++] = series_of("(not in the tables)", &groups->rest);
	return count;
}

static bool write_table(
        struct writer *writer, struct symbols *symbols, enum group_by by, size_t top)
{
	struct groups *groups = groups_build(writer->model, symbols, by);
	size_t count = groups != NULL ? groups->count : 0, held_count = 0;
	const struct group_row **held = groups != NULL ? groups_held(groups, &held_count) : NULL;
	struct series *series = calloc(count + 2, sizeof(*series));
	bool *is_shown = calloc(count + 1, sizeof(*is_shown));
	bool complete = held != NULL && series != NULL && is_shown != NULL;
	if (complete) {
		for (size_t i = 0; i < count && i < top; i++)
			is_shown[i] = true;
		for (size_t i = 0; i < held_count && i < top; i++)
			is_shown[held[i] - groups->rows] = true;
		write_series(writer, groups, series, choose_series(series, groups, is_shown));
	}
	free(is_shown);
	free(series);
	free(held);
	groups_free(groups);
	return complete;
}

bool write_openmetrics(FILE *out, const struct model *model, struct symbols *symbols,
        const struct write_options *options)
{
	struct writer writer = { .metrics = { .out = out }, .model = model };
	write_processes(&writer);
	write_gaps(&writer);
	write_threads(&writer);
	write_histograms(&writer);
	bool complete = write_table(&writer, symbols, GROUP_LOCK, options->top) &&
	                write_table(&writer, symbols, GROUP_SITE, options->top) &&
	                write_table(&writer, symbols, GROUP_CREATION, options->top);
	metrics_end(&writer.metrics);
	return complete && !writer.metrics.failed;
}
