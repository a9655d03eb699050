/*
 * The difference of two models for people.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "diff.h"
#include "probes/counters.h"
#include "text_table.h"
#include "words.h"

static const char *const titles[DIFF_TABLES] = { "Threads by name, by change of the time waited",
	"Call sites, by change of the time waited in them",
	"Locks of one kind, by change of the time waited for them" };

static uint64_t rounded(double value)
{
	return value < 1e18 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

/* A number of one side in its unit. */
static const char *value_text(char buffer[TEXT_NUMBER_SIZE], double value, bool is_time)
{
	return is_time ? text_duration(buffer, rounded(value)) : text_count(buffer, rounded(value));
}

/* "+1.23 ms" */
static const char *change_text(char buffer[TEXT_NUMBER_SIZE], double change, bool is_time)
{
	char plain[TEXT_NUMBER_SIZE];
	value_text(plain, fabs(change), is_time);
	const char *sign = change >= 0.5 ? "+" : change <= -0.5 ? "-" : "";
	snprintf(buffer, TEXT_NUMBER_SIZE, "%s%.*s", sign, TEXT_NUMBER_SIZE - 2, plain);
	return buffer;
}

/* "+12.3 %", "x 15.2", or in which side alone there is something. */
static const char *relative_text(char buffer[TEXT_NUMBER_SIZE], double a, double b)
{
	if (a <= 0 || b <= 0)
		snprintf(buffer, TEXT_NUMBER_SIZE, "%s", a > 0 ? "only A" : b > 0 ? "only B" : "");
	else if (b / a >= 10)
		snprintf(buffer, TEXT_NUMBER_SIZE, b / a < 99.95 ? "x %.1f" : "x %.3g", b / a);
	else
		snprintf(buffer, TEXT_NUMBER_SIZE, "%+.1f %%", 100 * (b - a) / a);
	return buffer;
}

static void print_side(FILE *out, const struct diff *diff, int side)
{
	const struct model *model = diff->sides[side].model;
	const struct process_row *process = model->processes;
	char words[WORDS_SIZE], time[TEXT_NUMBER_SIZE], name[65], settings[WORDS_SETTINGS_SIZE];
	snprintf(name, sizeof(name), "%s", words_base_name(process->record->header.executable));
	fprintf(out, "  %c  ", "AB"[side]);
	text_escape(out, name);
	if (model->process_count > 1)
		fprintf(out, ", %zu processes", model->process_count);
	else
		fprintf(out, ", pid %" PRId32 ", %s", process->record->header.pid,
		        words_ending(process, words));
	if (model->duration_ns > 0)
		fprintf(out, ", %s", text_duration(time, model->duration_ns));
	fputs("; mutexes wait by ", out);
	text_escape(out, words_strategy(&process->record->control, words));
	words_settings(&process->record->control, settings);
	if (settings[0] != '\0') {
		fputs("\n     settings: ", out);
		text_escape(out, settings);
	}
	fputc('\n', out);
}

static void print_counter(FILE *out, const struct diff *diff, size_t row)
{
	const struct counter *counter = &counter_table[row];
	char numbers[4][TEXT_NUMBER_SIZE], name[64];
	double values[2];
	bool is_time = strstr(counter->name, "_ns_") != NULL;
	for (int side = 0; side < 2; side++) {
		uint64_t number = counter_value(&diff->sides[side].model->counters, row);
		values[side] = counter->is_max ? (double)number : diff_value(diff, side, number);
	}
	if (values[0] <= 0 && values[1] <= 0)
		return;
	snprintf(
	        name, sizeof(name), "%s %s", counter_families[counter->family].name, counter->name);
	fprintf(out, "  %-32s%16s%16s%16s%14s\n", name, value_text(numbers[0], values[0], is_time),
	        value_text(numbers[1], values[1], is_time),
	        change_text(numbers[2], values[1] - values[0], is_time),
	        relative_text(numbers[3], values[0], values[1]));
}

static void print_totals(FILE *out, const struct diff *diff)
{
	fprintf(out, "\nTotals%s\n  %-32s%16s%16s%16s%14s\n",
	        diff->rates ? ", per second but for the longest" : "", "counter", "A", "B",
	        "change", "relative");
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		print_counter(out, diff, i);
}

static void print_row(const struct view *view, const struct diff *diff, const struct diff_row *row)
{
	const struct group_row *sides[2] = { row->a, row->b };
	char times[2][TEXT_NUMBER_SIZE] = { "-", "-" }, waits[2][TEXT_NUMBER_SIZE] = { "-", "-" };
	char change[TEXT_NUMBER_SIZE], relative[TEXT_NUMBER_SIZE];
	double values[2] = { 0, 0 };
	for (int side = 0; side < 2; side++) {
		if (sides[side] == NULL)
			continue;
		values[side] = diff_value(diff, side, sides[side]->wait_ns_total);
		value_text(times[side], values[side], true);
		value_text(waits[side], diff_value(diff, side, sides[side]->waits), false);
	}
	relative_text(relative, values[0], values[1]);
	if (row->a == NULL || row->b == NULL)
		snprintf(relative, sizeof(relative), "only %c", row->a != NULL ? 'A' : 'B');
	fprintf(view->out, "%10s %10s %10s %9s %10s %10s  ", times[0], times[1],
	        change_text(change, row->change, true), relative, waits[0], waits[1]);
	table_name(view, row->a != NULL ? row->a->label : row->b->label, GROUP_LABEL_WIDTH);
	fputc('\n', view->out);
}

static void print_table(const struct view *view, const struct diff *diff, int number)
{
	const struct diff_table *table = &diff->tables[number];
	if (table->count == 0)
		return;
	size_t shown = table_heading(view, titles[number], table->count);
	fprintf(view->out, "%10s %10s %10s %9s %10s %10s  %s\n", diff->rates ? "A per s" : "A",
	        diff->rates ? "B per s" : "B", "change", "relative",
	        diff->rates ? "waits A/s" : "waits A", diff->rates ? "waits B/s" : "waits B",
	        "name");
	for (size_t i = 0; i < shown; i++)
		print_row(view, diff, &table->rows[i]);
}

bool write_diff_text(
        FILE *out, const struct write_side sides[2], const struct write_options *options)
{
	struct diff *diff = diff_build(sides);
	if (diff == NULL)
		return false;
	const struct view view = { .out = out, .top = options->top };
	fputs("abshim: what differs from A to B\n", out);
	print_side(out, diff, 0);
	print_side(out, diff, 1);
	print_totals(out, diff);
	for (int i = 0; i < DIFF_TABLES; i++)
		print_table(&view, diff, i);
	diff_free(diff);
	return true;
}
