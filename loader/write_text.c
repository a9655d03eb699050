/*
 * The report for people.
 */
#include "write.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "probes/counters.h"
#include "text_table.h"

#define GRID_VALUE 16

static bool is_time(const char *name)
{
	return strstr(name, "_ns_") != NULL;
}

/* Three columns, read downwards; two where the names are long. */
static void print_grid(
        FILE *out, const struct counters *counters, const struct counter_family *family)
{
	const struct counter *rows = &counter_table[family->first];
	char number[TEXT_NUMBER_SIZE];
	size_t label = 0;
	for (size_t i = 0; i < family->count; i++)
		if (strlen(rows[i].name) > label)
			label = strlen(rows[i].name);
	size_t columns = 3 * (label + 2 + GRID_VALUE) <= TABLE_WIDTH ? 3 : 2;
	size_t lines = (family->count + columns - 1) / columns;
	for (size_t line = 0; line < lines; line++) {
		for (size_t at = line; at < family->count; at += lines) {
			uint64_t value = counter_value(counters, family->first + at);
			fprintf(out, "  %-*s%*s", (int)label, rows[at].name, GRID_VALUE,
			        is_time(rows[at].name) ? text_duration(number, value)
			                               : text_count(number, value));
		}
		fputc('\n', out);
	}
}

static bool family_is_zero(const struct counters *counters, const struct counter_family *family)
{
	for (size_t i = 0; i < family->count; i++)
		if (counter_value(counters, family->first + i) != 0)
			return false;
	return true;
}

static void print_totals(const struct view *view)
{
	const struct counters *counters = &view->model->counters;
	const struct mutex_counters *mutex = &counters->mutex;
	for (size_t i = 0; i < FAMILY_COUNT; i++) {
		const struct counter_family *family = &counter_families[i];
		char percent[TEXT_NUMBER_SIZE], mean[TEXT_NUMBER_SIZE];
		if (i != FAMILY_mutex && family_is_zero(counters, family))
			continue;
		fprintf(view->out, "\n%c%s", toupper((unsigned char)family->title[0]),
		        family->title + 1);
		if (i == FAMILY_mutex && mutex->contended > 0)
			fprintf(view->out, ": %s of acquisitions contended, mean wait %s",
			        text_percent(percent, mutex->contended, mutex->acquired),
			        text_duration(mean, mutex->wait_ns_total / mutex->contended));
		fputc('\n', view->out);
		print_grid(view->out, counters, family);
	}
}

void table_of_threads(const struct view *view)
{
	const struct model *model = view->model;
	if (model->name_count == 0)
		return;
	size_t shown = table_heading(view, "Threads by name, by time waited", model->name_count);
	fprintf(view->out, "  %-16s%8s%16s%16s%9s%10s%10s%11s\n", "name", "threads", "acquired",
	        "contended", "", "waited", "longest", "caused");
	for (size_t i = 0; i < shown; i++) {
		const struct thread_row *row = &model->names[i];
		const struct family_sum sum = family_sum_all(&row->counters);
		char numbers[7][TEXT_NUMBER_SIZE];
		char name[RECORD_NAME_SIZE * 4 + 1] = "";
		FILE *escaped = fmemopen(name, sizeof(name), "w");
		if (escaped != NULL) {
			text_escape(escaped, row->name[0] != '\0' ? row->name : "(no name)");
			fclose(escaped);
		}
		fprintf(view->out, "  %-16s%8s%16s%16s%9s%10s%10s%11s\n", name,
		        text_count(numbers[0], (uint64_t)row->running + row->ended),
		        text_count(numbers[1], sum.acquired), text_count(numbers[2], sum.waits),
		        text_percent(numbers[3], sum.waits, sum.acquired),
		        text_duration(numbers[4], sum.wait_ns_total),
		        text_duration(numbers[5], sum.wait_ns_max),
		        text_duration(numbers[6], row->caused.wait_ns_total));
	}
}

static void print_report(const struct view *view)
{
	if (view->model->counted_nothing) {
		text_nothing(view);
		table_of_atomics(view);
		return;
	}
	text_head(view);
	print_totals(view);
	table_of_threads(view);
	table_of_locks(view);
	table_of_holds(view);
	table_of_places(view);
	table_of_pairs(view);
	table_of_stacks(view);
	table_of_histogram(view);
	table_of_atomics(view);
}

/* The whole text with at most top rows of each table; NULL: no memory. */
static char *render(struct view view, size_t top, size_t *size)
{
	char *text = NULL;
	view.out = open_memstream(&text, size);
	if (view.out == NULL)
		return NULL;
	view.top = top;
	print_report(&view);
	bool good = !ferror(view.out);
	if (fclose(view.out) == 0 && good)
		return text;
	free(text);
	return NULL;
}

bool write_text(FILE *out, const struct model *model, struct symbols *symbols,
        const struct write_options *options)
{
	const struct view view = { .model = model, .symbols = symbols };
	size_t size = 0, top = options->top;
	char *text = render(view, top, &size);
	/* Tables of everything, each full, or of names that are all escapes. */
	while (text != NULL && size >= WRITE_TEXT_LIMIT && top <= WRITE_DEFAULT_TOP && top > 1) {
		free(text);
		top = top * 2 / 3;
		text = render(view, top, &size);
	}
	if (text == NULL)
		return false;
	fwrite(text, 1, size, out);
	free(text);
	return true;
}
