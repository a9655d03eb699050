/*
 * The text report's account of the atomics switch: a line for each file that had something to
 * switch, the others by name, and a sum.
 */
#include "text_table.h"

#include <stdlib.h>
#include <string.h>

#include "atomics_rows.h"
#include "words.h"

#define NAME_WIDTH  25
#define FILES_SHOWN 4   /* times the rows of other tables: they are short, and tell files apart */
#define INERT_BYTES 600 /* of the names of inert files */

/* "libx.so.1 (unloaded)" */
static void print_name(const struct view *view, const struct atomics_row *row)
{
	char name[NAME_WIDTH + 1], marked[NAME_WIDTH + 64], more[32] = "";
	if (row->unloaded == row->loads)
		snprintf(more, sizeof(more), " (unloaded)");
	else if (row->unloaded > 0)
		snprintf(more, sizeof(more), " (%u unloaded)", row->unloaded);
	text_shorten(words_base_name(row->made.path), NAME_WIDTH - 1, name);
	snprintf(marked, sizeof(marked), "%s%s", name, more);
	fputs("  ", view->out);
	text_escape(view->out, marked);
	if (strlen(marked) > NAME_WIDTH)
		fprintf(view->out, "\n%*s", NAME_WIDTH + 3, "");
	else
		fprintf(view->out, "%*s", (int)(NAME_WIDTH + 1 - strlen(marked)), "");
}

static void print_row(const struct view *view, const struct atomics_row *row)
{
	char words[ATOMICS_WORDS_SIZE];
	print_name(view, row);
	table_paragraph(view->out, atomics_row_words(row, words), NAME_WIDTH + 3);
}

static bool is_inert(const struct atomics_row *row, const char *why)
{
	return atomics_row_reach(row) == ATOMICS_INERT &&
	       strcmp(atomics_inert_words(row), why) == 0;
}

/* Those in which there is nothing to switch for one reason. */
static void print_inert(const struct view *view, const struct atomics_rows *rows, const char *why)
{
	char names[INERT_BYTES + 80], count[TEXT_NUMBER_SIZE];
	size_t named = 0, inert = 0;
	for (size_t i = 0; i < rows->count; i++)
		inert += is_inert(&rows->rows[i], why);
	if (inert == 0)
		return;
	size_t length = (size_t)snprintf(
	        names, sizeof(names), "%s inert (%s):", text_things(count, inert, "object"), why);
	for (size_t i = 0; i < rows->count; i++) {
		const struct atomics_row *row = &rows->rows[i];
		const char *name = words_base_name(row->made.path);
		const char *mark = row->unloaded == row->loads ? " (unloaded)" : "";
		if (!is_inert(row, why) || length + strlen(name) + strlen(mark) + 2 > INERT_BYTES)
			continue;
		length += (size_t)snprintf(names + length, sizeof(names) - length, "%s %s%s",
		        named++ > 0 ? "," : "", name, mark);
	}
	if (named < inert)
		snprintf(names + length, sizeof(names) - length, " and %zu more", inert - named);
	fputs("  ", view->out);
	table_paragraph(view->out, names, 4);
}

/* What there is none of is left out. */
static void print_total(const struct view *view, const struct atomics_rows *rows)
{
	const struct atomics_total *total = &rows->total;
	char words[5][128] = { "", "", "", "", "" }, all[700], numbers[5][TEXT_NUMBER_SIZE];
	if (total->switched > 0)
		snprintf(words[0], sizeof(words[0]), "; %zu switched by the flag (%s)",
		        total->switched, text_things(numbers[0], total->helpers, "helper"));
	if (total->found > 0)
		snprintf(words[1], sizeof(words[1]), "; inline rewritten in %zu (%s of %s)",
		        total->rewritten_objects, text_count(numbers[1], total->rewritten),
		        text_count(numbers[2], total->found));
	if (total->unreachable > 0)
		snprintf(words[2], sizeof(words[2]), "; %zu out of reach", total->unreachable);
	if (total->inert > 0)
		snprintf(words[3], sizeof(words[3]), "; %zu inert", total->inert);
	if (total->outside > 0)
		snprintf(words[4], sizeof(words[4]), "; %s outside functions not counted",
		        text_things(numbers[4], total->outside, "word"));
	snprintf(all, sizeof(all), "total: %s%s%s%s%s%s",
	        text_things(numbers[3], total->objects, "object"), words[0], words[1], words[2],
	        words[3], words[4]);
	fputs("  ", view->out);
	table_paragraph(view->out, all, 4);
}

void table_of_atomics(const struct view *view)
{
	struct atomics_rows rows = atomics_rows_new(view->model);
	struct view more = *view;
	size_t shown, printed = 0;
	if (rows.count == 0) {
		atomics_rows_free(&rows);
		return;
	}
	more.top *= FILES_SHOWN;
	shown = table_heading(
	        &more, "Atomics, by what there was to switch", rows.count - rows.total.inert);
	for (size_t i = 0; i < rows.count && printed < shown; i++) {
		if (atomics_row_reach(&rows.rows[i]) == ATOMICS_INERT)
			continue;
		print_row(view, &rows.rows[i]);
		printed++;
	}
	print_inert(view, &rows, "no atomics");
	print_inert(view, &rows, "already LSE");
	print_inert(view, &rows, "already LL/SC");
	print_total(view, &rows);
	atomics_rows_free(&rows);
}
