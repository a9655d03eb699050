/*
 * The report for people.
 */
#include "write.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "symbol_names.h"
#include "probes/counters.h"
#include "text.h"
#include "trust.h"
#include "words.h"

#define WIDTH       100
#define BAR_WIDTH   50
#define GRID_VALUE  16
#define NAME_COLUMN 53 /* where names begin in the tables of locks, sites and blame */
#define LOCK_KIND   20 /* columns that " (normal, destroyed)" needs */
#define FILE_NAME   22 /* columns of a source file or library at most */
#define MIN_NAME    8  /* columns that a function's name keeps beside the rest */

struct view {
	FILE *out;
	const struct model *model;
	struct symbols *symbols;
	size_t top;
};

/* Breaks a note at blanks; its lines are indented below its dash. */
static void print_note(FILE *out, const char *note)
{
	size_t column = 0;
	fputs("  -", out);
	while (*note != '\0') {
		size_t length = strcspn(note, " ");
		char word[TRUST_NOTE_SIZE];
		snprintf(word, sizeof(word), "%.*s", (int)length, note);
		if (column + 1 + length > WIDTH - 4 && column > 0) {
			fputs("\n   ", out);
			column = 0;
		}
		fputc(' ', out);
		text_escape(out, word);
		column += 1 + length;
		note += length;
		note += strspn(note, " ");
	}
	fputc('\n', out);
}

static void print_title(const struct view *view)
{
	const struct process_row *process = view->model->processes;
	const struct record_header *header = &process->record->header;
	char words[WORDS_SIZE], time[TEXT_NUMBER_SIZE];
	fputs("abshim: ", view->out);
	char name[65];
	snprintf(name, sizeof(name), "%s", words_base_name(header->executable));
	text_escape(view->out, name);
	fprintf(view->out, ", pid %" PRId32 ", %s", header->pid, words_ending(process, words));
	if (process->duration_ns > 0)
		fprintf(view->out, "%s%s", process->ending == MODEL_RUNNING ? " for " : " after ",
		        text_duration(time, process->duration_ns));
	fputs("; mutexes wait by ", view->out);
	text_escape(view->out, words_strategy(&process->record->control, words));
	fputc('\n', view->out);
}

static void print_trust(const struct view *view)
{
	struct trust trust;
	trust_collect(&trust, view->model, view->symbols);
	if (trust.count > 0)
		fputs("\nBefore you trust it\n", view->out);
	for (unsigned i = 0; i < trust.count; i++)
		print_note(view->out, trust.notes[i]);
}

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
	size_t columns = 3 * (label + 2 + GRID_VALUE) <= WIDTH ? 3 : 2;
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

/* "Locks, by time waited (10 of 34)" */
static size_t print_heading(const struct view *view, const char *title, size_t count)
{
	size_t shown = count < view->top ? count : view->top;
	fprintf(view->out, "\n%s", title);
	if (shown < count)
		fprintf(view->out, " (%zu of %zu; --top N shows more)", shown, count);
	fputc('\n', view->out);
	return shown;
}

static void print_threads(const struct view *view)
{
	const struct model *model = view->model;
	if (model->name_count == 0)
		return;
	size_t shown = print_heading(view, "Threads by name, by time waited", model->name_count);
	fprintf(view->out, "  %-16s%8s%16s%16s%9s%10s%10s%11s\n", "name", "threads", "acquired",
	        "contended", "", "waited", "longest", "caused");
	for (size_t i = 0; i < shown; i++) {
		const struct thread_row *row = &model->names[i];
		char numbers[7][TEXT_NUMBER_SIZE];
		char name[RECORD_NAME_SIZE * 4 + 1] = "";
		FILE *escaped = fmemopen(name, sizeof(name), "w");
		if (escaped != NULL) {
			text_escape(escaped, row->name[0] != '\0' ? row->name : "(no name)");
			fclose(escaped);
		}
		fprintf(view->out, "  %-16s%8s%16s%16s%9s%10s%10s%11s\n", name,
		        text_count(numbers[0], (uint64_t)row->running + row->ended),
		        text_count(numbers[1], row->counters.mutex.acquired),
		        text_count(numbers[2], row->counters.mutex.contended),
		        text_percent(numbers[3], row->counters.mutex.contended,
		                row->counters.mutex.acquired),
		        text_duration(numbers[4], row->counters.mutex.wait_ns_total),
		        text_duration(numbers[5], row->counters.mutex.wait_ns_max),
		        text_duration(numbers[6], row->caused.wait_ns_total));
	}
}

/* The last part of a path: a library without its version when that makes it too long. */
static void short_file(const char *path, char to[FILE_NAME + 1])
{
	const char *base = words_base_name(path);
	size_t length = strlen(base);
	const char *suffix = strstr(base, ".so.");
	if (length > FILE_NAME && suffix != NULL)
		length = (size_t)(suffix - base) + strlen(".so");
	snprintf(to, FILE_NAME + 1, "%.*s", (int)length, base);
}

/* What follows the name: where it is. Returns what stands for a missing name. */
static const char *place_tail(
        const struct place *place, char tail[WIDTH], char module[FILE_NAME + 1])
{
	char file[FILE_NAME + 1];
	short_file(place->module, module);
	short_file(place->file, file);
	if (place->line != 0)
		snprintf(tail, WIDTH, " at %s:%u", file, place->line);
	else if (place->name[0] != '\0' && place->name_offset != 0)
		snprintf(tail, WIDTH, "+0x%" PRIx64 " in %s", place->name_offset, module);
	else if (place->name[0] != '\0')
		snprintf(tail, WIDTH, " in %s", module);
	else if (module[0] != '\0')
		snprintf(tail, WIDTH, "+0x%" PRIx64, place->module_offset);
	else if (place->address != 0)
		snprintf(tail, WIDTH, "0x%" PRIx64, place->address);
	else
		strcpy(tail, "unknown");
	return module;
}

/* A place in `width` columns: the name keeps what the rest leaves. */
static void print_place(const struct view *view, const struct place *place, unsigned width)
{
	char tail[WIDTH], module[FILE_NAME + 1], name[SYMBOL_NAME_SIZE];
	const char *instead = place_tail(place, tail, module);
	symbol_shorten(place->name, WIDTH, name);
	/* The scope of a function says more than the place of the call in it. */
	if (place->line == 0 && name[0] != '\0' && strlen(name) + strlen(tail) > width)
		snprintf(tail, sizeof(tail), " in %s", module);
	if (strlen(tail) + MIN_NAME > width)
		tail[width > MIN_NAME ? width - MIN_NAME : 0] = '\0';
	symbol_shorten(place->name[0] != '\0' ? place->name : instead,
	        width - (unsigned)strlen(tail), name);
	text_escape(view->out, name);
	text_escape(view->out, tail);
}

static void print_numbers(const struct view *view, uint64_t waits, uint64_t total, uint64_t longest)
{
	char numbers[5][TEXT_NUMBER_SIZE];
	fprintf(view->out, "%9s %8s %11s %9s %9s   ", text_duration(numbers[0], total),
	        text_percent(numbers[1], total, view->model->wait_ns_total),
	        text_count(numbers[2], waits),
	        text_duration(numbers[3], waits > 0 ? total / waits : 0),
	        text_duration(numbers[4], longest));
}

static void print_numbers_heading(const struct view *view, const char *what)
{
	fprintf(view->out, "%9s %8s %11s %9s %9s   %s\n", "waited", "share", "waits", "mean",
	        "longest", what);
}

static void print_lock(const struct view *view, const struct lock_row *row)
{
	struct place place;
	uint32_t kind = row->lock.kind;
	print_numbers(view, row->lock.wait.waits, row->lock.wait.wait_ns_total,
	        row->lock.wait.wait_ns_max);
	symbols_find_data(view->symbols, row->process, row->lock.address, &place);
	print_place(view, &place, WIDTH - NAME_COLUMN - LOCK_KIND);
	fprintf(view->out, " (%s%s%s)\n", words_mutex_type(kind),
	        words_mutex_is_shared(kind) ? ", shared" : "",
	        row->lock.destroyed ? ", destroyed" : "");
}

static void print_locks(const struct view *view)
{
	uint64_t previous = 0;
	if (view->model->lock_count == 0)
		return;
	size_t shown =
	        print_heading(view, "Locks, by time waited for them", view->model->lock_count);
	print_numbers_heading(view, "lock, and where it was first waited for");
	for (size_t i = 0; i < shown; i++) {
		const struct lock_row *row = &view->model->locks[i];
		struct place place;
		const struct site_row *site = model_site(view->model, row->first_site);
		uint64_t address = site != NULL ? site->code.address : 0;
		print_lock(view, row);
		if (address != 0 && address != previous) {
			symbols_find_call(view->symbols, site->code, &place);
			fprintf(view->out, "%*s", NAME_COLUMN, "first in ");
			print_place(view, &place, WIDTH - NAME_COLUMN);
			fputc('\n', view->out);
		}
		previous = address;
	}
}

static void print_places(const struct view *view)
{
	if (view->model->place_count == 0)
		return;
	size_t shown =
	        print_heading(view, "Call sites, by time waited in them", view->model->place_count);
	print_numbers_heading(view, "call site");
	for (size_t i = 0; i < shown; i++) {
		const struct site_row *row = &view->model->places[i];
		struct place place;
		char locks[TEXT_NUMBER_SIZE + 16] = "", count[TEXT_NUMBER_SIZE];
		if (row->locks > 1)
			snprintf(
			        locks, sizeof(locks), " (%s locks)", text_count(count, row->locks));
		symbols_find_call(view->symbols, row->code, &place);
		print_numbers(
		        view, row->wait.waits, row->wait.wait_ns_total, row->wait.wait_ns_max);
		print_place(view, &place, WIDTH - NAME_COLUMN - (unsigned)strlen(locks));
		fprintf(view->out, "%s\n", locks);
	}
}

static void print_pairs(const struct view *view)
{
	if (view->model->pair_count == 0)
		return;
	size_t shown =
	        print_heading(view, "Who blocked whom, by time waited", view->model->pair_count);
	print_numbers_heading(view, "waiter, and where the holder had acquired it");
	for (size_t i = 0; i < shown; i++) {
		const struct blame_row *row = &view->model->pairs[i];
		struct place place;
		print_numbers(view, row->waits, row->wait_ns_total, row->wait_ns_max);
		symbols_find_call(view->symbols, row->waiter, &place);
		print_place(view, &place, WIDTH - NAME_COLUMN);
		fprintf(view->out, "\n%*s", NAME_COLUMN, "held by ");
		if (row->holder.address == row->waiter.address && row->holder.address != 0) {
			fputs("the same call site\n", view->out);
			continue;
		}
		if (row->holder.address == 0) {
			fputs("a holder that was just changing\n", view->out);
			continue;
		}
		symbols_find_call(view->symbols, row->holder, &place);
		print_place(view, &place, WIDTH - NAME_COLUMN);
		fputc('\n', view->out);
	}
}

static void print_histogram(const struct view *view)
{
	uint64_t histogram[RECORD_BUCKETS] = { 0 };
	for (int family = 0; family < FAMILY_COUNT; family++)
		for (int bucket = 0; bucket < RECORD_BUCKETS; bucket++)
			histogram[bucket] += view->model->histograms[family][bucket];
	uint64_t most = 0, all = 0;
	int first = RECORD_BUCKETS, last = -1;
	for (int bucket = 0; bucket < RECORD_BUCKETS; bucket++) {
		if (histogram[bucket] == 0)
			continue;
		all += histogram[bucket];
		most = histogram[bucket] > most ? histogram[bucket] : most;
		first = bucket < first ? bucket : first;
		last = bucket;
	}
	if (last < 0)
		return;
	fprintf(view->out, "\nWaits by length\n%9s %12s\n", "from", "waits");
	for (int bucket = first; bucket <= last; bucket++) {
		char from[TEXT_NUMBER_SIZE], count[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
		int length = (int)((double)histogram[bucket] * BAR_WIDTH / (double)most + 0.5);
		if (length == 0 && histogram[bucket] > 0)
			length = 1;
		fprintf(view->out, "%9s %12s %8s",
		        text_duration(from, bucket == 0 ? 0 : UINT64_C(1) << bucket),
		        text_count(count, histogram[bucket]),
		        text_percent(share, histogram[bucket], all));
		for (int i = 0; i < length; i++)
			fputs(i == 0 ? "  #" : "#", view->out);
		fputc('\n', view->out);
	}
}

bool write_text(FILE *out, const struct model *model, struct symbols *symbols,
        const struct write_options *options)
{
	const struct view view = { out, model, symbols, options->top };
	print_title(&view);
	print_trust(&view);
	print_totals(&view);
	print_threads(&view);
	print_locks(&view);
	print_places(&view);
	print_pairs(&view);
	print_histogram(&view);
	return true;
}
