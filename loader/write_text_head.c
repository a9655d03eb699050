/*
 * The beginning of the text report: who, with which settings, and what to know before trusting it.
 */
#include "text_table.h"

#include <inttypes.h>
#include <string.h>

#include "alloc_report.h"
#include "atomics_rows.h"
#include "families.h"
#include "trust.h"
#include "words.h"

#define NAME_WIDTH     64 /* of a program in the title */
#define PROCESS_NAME   17 /* and in the table of processes */
#define STATE_WIDTH    22
#define SETTINGS_SHOWN 3

static void print_program(
        const struct view *view, const struct process_row *process, unsigned width)
{
	char name[NAME_WIDTH + 1];
	text_shorten(words_base_name(process->record->header.executable), width, name);
	text_escape(view->out, name);
}

/* ", pid 4711, exit(0) after 2.50 s" */
static void print_process(const struct view *view, const struct process_row *process)
{
	char words[WORDS_SIZE], time[TEXT_NUMBER_SIZE];
	fprintf(view->out, ", pid %" PRId32 ", %s", process->record->header.pid,
	        words_ending(process, words));
	if (process->duration_ns > 0)
		fprintf(view->out, "%s%s", process->ending == MODEL_RUNNING ? " for " : " after ",
		        text_duration(time, process->duration_ns));
}

static bool is_one_program(const struct model *model)
{
	const char *first = model->processes->record->header.executable;
	for (size_t i = 1; i < model->process_count; i++)
		if (strcmp(model->processes[i].record->header.executable, first) != 0)
			return false;
	return true;
}

/* ": 12 processes of nginx within 2.50 s" */
static void print_processes(const struct view *view)
{
	const struct model *model = view->model;
	char time[TEXT_NUMBER_SIZE];
	fprintf(view->out, "%zu processes of ", model->process_count);
	print_program(view, model->processes, NAME_WIDTH);
	if (!is_one_program(model))
		fputs(" and other programs", view->out);
	if (model->duration_ns > 0)
		fprintf(view->out, " within %s", text_duration(time, model->duration_ns));
}

/* What a process was told: its mutexes' strategy, then what is not at its default. */
struct told {
	char mutex[WORDS_SIZE], rest[WORDS_SETTINGS_SIZE];
};

static struct told told_to(const struct process_row *process)
{
	struct told told;
	words_strategy(&process->record->control, told.mutex);
	words_settings(&process->record->control, told.rest);
	return told;
}

/* The first process that was told the same as this one. */
static size_t first_alike(const struct model *model, size_t process)
{
	const struct told told = told_to(&model->processes[process]);
	for (size_t i = 0; i < process; i++) {
		const struct told other = told_to(&model->processes[i]);
		if (strcmp(told.mutex, other.mutex) == 0 && strcmp(told.rest, other.rest) == 0)
			return i;
	}
	return process;
}

static void print_rest(const struct view *view, const struct told *told)
{
	if (told->rest[0] != '\0')
		fputs(" ", view->out);
	text_escape(view->out, told->rest);
	fputc('\n', view->out);
}

/* A line for each way that processes were set, of the first few. */
static void print_different(const struct view *view)
{
	unsigned shown = 0;
	fputs("; their settings differ:\n", view->out);
	for (size_t i = 0; i < view->model->process_count && shown < SETTINGS_SHOWN; i++) {
		if (first_alike(view->model, i) != i)
			continue;
		const struct told told = told_to(&view->model->processes[i]);
		fprintf(view->out, "  pid %" PRId32 " and those like it: mutex=",
		        view->model->processes[i].record->header.pid);
		text_escape(view->out, told.mutex);
		print_rest(view, &told);
		shown++;
	}
}

static void print_settings(const struct view *view)
{
	const struct model *model = view->model;
	const struct told told = told_to(model->processes);
	for (size_t i = 1; i < model->process_count; i++)
		if (first_alike(model, i) == i) {
			print_different(view);
			return;
		}
	fputs("; mutexes wait by ", view->out);
	text_escape(view->out, told.mutex);
	if (told.rest[0] != '\0')
		fputs("\n  settings:", view->out);
	print_rest(view, &told);
}

/* Who serves the processes with memory; the first of each kind. */
static void print_allocation(const struct view *view)
{
	const struct model *model = view->model;
	unsigned shown = 0;
	char words[ALLOC_WORDS_SIZE], other[ALLOC_WORDS_SIZE];
	for (size_t i = 0; i < model->process_count && shown < SETTINGS_SHOWN; i++) {
		const struct record *record = model->processes[i].record;
		bool again = !alloc_is_notable(record);
		alloc_words(record, words);
		for (size_t before = 0; before < i && !again; before++)
			again = alloc_is_notable(model->processes[before].record) &&
			        strcmp(alloc_words(model->processes[before].record, other),
			                words) == 0;
		if (again)
			continue;
		fputs("  memory: ", view->out);
		text_escape(view->out, words);
		fputc('\n', view->out);
		shown++;
	}
}

static void print_process_table(const struct view *view)
{
	const struct model *model = view->model;
	if (model->process_count == 1)
		return;
	size_t shown = table_heading(
	        view, "Processes, in the order of their records", model->process_count);
	fprintf(view->out, "  %-18s%9s  %-22s%12s%15s%11s%9s\n", "name", "pid", "state", "duration",
	        "acquired", "waits", "waited");
	for (size_t i = 0; i < shown; i++) {
		const struct process_row *process = &model->processes[i];
		const struct family_sum sum = family_sum_all(&process->counters);
		char words[WORDS_SIZE], state[STATE_WIDTH + 1], numbers[4][TEXT_NUMBER_SIZE];
		char name[PROCESS_NAME * 4 + 1] = "";
		FILE *out = fmemopen(name, sizeof(name), "w");
		if (out == NULL)
			return;
		struct view to_name = { .out = out };
		print_program(&to_name, process, PROCESS_NAME);
		fclose(out);
		text_shorten(words_ending(process, words), STATE_WIDTH, state);
		fprintf(view->out, "  %-18s%9" PRId32 "  %-22s%12s%15s%11s%9s\n", name,
		        process->record->header.pid, state,
		        process->duration_ns > 0 ? text_duration(numbers[0], process->duration_ns)
		                                 : "-",
		        text_count(numbers[1], sum.acquired), text_count(numbers[2], sum.waits),
		        text_duration(numbers[3], sum.wait_ns_total));
	}
}

static void print_trust(const struct view *view)
{
	struct trust trust;
	trust_collect(&trust, view->model, view->symbols);
	if (trust.count > 0)
		fputs("\nBefore you trust it\n", view->out);
	for (unsigned i = 0; i < trust.count; i++) {
		fputs("  - ", view->out);
		table_paragraph(view->out, trust.notes[i], 4);
	}
}

static void print_who(const struct view *view)
{
	fputs("abshim: ", view->out);
	if (view->model->process_count > 1) {
		print_processes(view);
		return;
	}
	print_program(view, view->model->processes, NAME_WIDTH);
	print_process(view, view->model->processes);
}

void text_nothing(const struct view *view)
{
	const struct process_row *process = view->model->processes;
	const char *words = "used no lock, condition variable or other thing that is counted";
	if (process->record->control.stats == STATS_OFF)
		words = "ABSHIM_STATS=off, so nothing was counted";
	else if (process->since)
		words = "nothing was counted after the earlier copy was made";
	print_who(view);
	fprintf(view->out, ": %s\n", words);
	print_allocation(view);
	if (atomics_recorded(process->record))
		print_trust(view);
}

void text_head(const struct view *view)
{
	print_who(view);
	print_settings(view);
	print_allocation(view);
	print_trust(view);
	print_process_table(view);
}
