/*
 * Brings the rows of several records together, and puts them into words.
 */
#include "atomics_rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

const char *const atomics_left_text[LEFT_COUNT] = {
#define LEFT(name, text) text,
#include "probes/atomics_left.def"
};

const char *const atomics_left_name[LEFT_COUNT] = {
#define LEFT(name, text) #name,
#include "probes/atomics_left.def"
};

const char *atomics_family(uint32_t choice)
{
	return choice == ATOMICS_LSE ? "LSE" : "LL/SC";
}

const char *atomics_outline_name(uint32_t outline)
{
	static const char *const names[] = {
		[OUTLINE_NONE] = "none",
		[OUTLINE_SWITCHED] = "switched",
		[OUTLINE_DISAGREE] = "disagree",
		[OUTLINE_PROTECTED] = "protected",
	};
	return outline < sizeof(names) / sizeof(*names) ? names[outline] : "unknown";
}

enum atomics_reach atomics_row_reach(const struct atomics_row *row)
{
	if (row->made.outline != OUTLINE_NONE || row->made.inline_found > 0)
		return ATOMICS_ACTIVE;
	return row->made.unreadable != 0 ? ATOMICS_UNREACHABLE : ATOMICS_INERT;
}

static int descending(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

/* By what was found, without where it was loaded. */
static int compare_made(const struct record_atomics *a, const struct record_atomics *b)
{
	int order = strcmp(a->path, b->path);
	if (order == 0)
		order = descending(a->outline, b->outline);
	if (order == 0)
		order = descending(a->helpers, b->helpers);
	if (order == 0)
		order = descending(a->flags, b->flags);
	if (order == 0)
		order = descending(a->flag, b->flag);
	if (order == 0)
		order = descending(a->inline_found, b->inline_found);
	if (order == 0)
		order = descending(a->inline_rewritten, b->inline_rewritten);
	if (order == 0)
		order = descending(a->outside, b->outside);
	if (order == 0)
		order = descending(a->kept, b->kept);
	if (order == 0)
		order = descending(a->early, b->early);
	if (order == 0)
		order = descending(a->unreadable, b->unreadable);
	return order != 0 ? order : memcmp(a->left, b->left, sizeof(a->left));
}

static int compare(const void *left, const void *right)
{
	const struct atomics_row *a = left, *b = right;
	int order = descending(b->choice, a->choice);
	if (order == 0)
		order = descending(atomics_row_reach(b), atomics_row_reach(a));
	if (order == 0)
		order = descending(a->made.inline_found + (uint64_t)a->made.helpers,
		        b->made.inline_found + (uint64_t)b->made.helpers);
	return order != 0 ? order : compare_made(&a->made, &b->made);
}

static bool read_row(const struct record *record, uint32_t entry, struct atomics_row *row)
{
	*row = (struct atomics_row){ .choice = record->control.atomics, .loads = 1 };
	record_copy(record, REGION_ATOMICS, entry, &row->made, sizeof(row->made));
	row->made.path[sizeof(row->made.path) - 1] = '\0';
	row->unloaded = row->made.unloaded != 0;
	if (row->made.inline_rewritten > row->made.inline_found) /* damaged */
		row->made.inline_rewritten = row->made.inline_found;
	return row->made.state != 0 && row->choice != ATOMICS_NATIVE;
}

bool atomics_recorded(const struct record *record)
{
	struct atomics_row row;
	for (uint32_t i = 0; i < record->entries[REGION_ATOMICS]; i++)
		if (read_row(record, i, &row))
			return true;
	return false;
}

static void merge_equal(struct atomics_rows *rows)
{
	size_t kept = 0;
	qsort(rows->rows, rows->count, sizeof(*rows->rows), compare);
	for (size_t i = 0; i < rows->count; i++) {
		struct atomics_row *row = &rows->rows[i];
		if (kept > 0 && compare(&rows->rows[kept - 1], row) == 0) {
			rows->rows[kept - 1].loads++;
			rows->rows[kept - 1].unloaded += row->unloaded;
		} else {
			rows->rows[kept++] = *row;
		}
	}
	rows->count = kept;
}

static void add_to_total(struct atomics_total *total, const struct atomics_row *row)
{
	const struct record_atomics *made = &row->made;
	bool switched = made->outline == OUTLINE_SWITCHED, rewritten = made->inline_rewritten > 0;
	total->objects++;
	total->switched += switched;
	total->helpers += switched ? made->helpers : 0;
	total->rewritten_objects += rewritten;
	total->active += switched || rewritten;
	total->found += made->inline_found;
	total->rewritten += made->inline_rewritten;
	total->outside += made->outside;
	for (int i = 0; i < LEFT_COUNT; i++)
		total->left[i] += made->left[i];
	total->inert += atomics_row_reach(row) == ATOMICS_INERT;
	total->unreachable += (made->outline != OUTLINE_NONE && !switched) ||
	                      made->unreadable != 0 || (made->inline_found > 0 && !rewritten);
}

struct atomics_rows atomics_rows_new(const struct model *model)
{
	struct atomics_rows rows = { .rows = NULL };
	size_t room = 1;
	for (size_t i = 0; i < model->process_count; i++)
		room += model->processes[i].record->entries[REGION_ATOMICS];
	rows.rows = calloc(room, sizeof(*rows.rows));
	if (rows.rows == NULL)
		return rows;
	for (size_t i = 0; i < model->process_count; i++) {
		const struct record *record = model->processes[i].record;
		for (uint32_t entry = 0; entry < record->entries[REGION_ATOMICS]; entry++)
			rows.count += read_row(record, entry, &rows.rows[rows.count]);
		rows.lost += record->header.regions[REGION_ATOMICS].lost;
	}
	merge_equal(&rows);
	for (size_t i = 0; i < rows.count; i++)
		add_to_total(&rows.total, &rows.rows[i]);
	return rows;
}

void atomics_rows_free(struct atomics_rows *rows)
{
	free(rows->rows);
}

static void add(char buffer[ATOMICS_WORDS_SIZE], const char *format, ...)
        __attribute__((format(printf, 2, 3)));

static void add(char buffer[ATOMICS_WORDS_SIZE], const char *format, ...)
{
	size_t length = strlen(buffer);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(buffer + length, ATOMICS_WORDS_SIZE - length, format, arguments);
	va_end(arguments);
}

static void add_outline(const struct atomics_row *row, char buffer[ATOMICS_WORDS_SIZE])
{
	char count[TEXT_NUMBER_SIZE];
	const char *helpers = text_things(count, row->made.helpers, "helper");
	if (row->made.outline == OUTLINE_SWITCHED && row->made.flags > 1)
		add(buffer,
		        "outline switched to %s (%s, %" PRIu32 " flags, the first 0x%" PRIx64 ")",
		        atomics_family(row->choice), helpers, row->made.flags, row->made.flag);
	else if (row->made.outline == OUTLINE_SWITCHED)
		add(buffer, "outline switched to %s (%s, flag 0x%" PRIx64 ")",
		        atomics_family(row->choice), helpers, row->made.flag);
	else if (row->made.outline == OUTLINE_DISAGREE)
		add(buffer, "outline out of reach (%s, whose flags are too many or no data)",
		        helpers);
	else
		add(buffer, "outline out of reach (%s, flag 0x%" PRIx64 " cannot be written)",
		        helpers, row->made.flag);
}

/* "3 of 4; left: 1 not proved to be code" */
static void add_inline(const struct atomics_row *row, char buffer[ATOMICS_WORDS_SIZE])
{
	char rewritten[TEXT_NUMBER_SIZE], found[TEXT_NUMBER_SIZE], left[TEXT_NUMBER_SIZE];
	bool first = true;
	add(buffer, "inline rewritten (%s of %s", text_count(rewritten, row->made.inline_rewritten),
	        text_count(found, row->made.inline_found));
	for (int i = 0; i < LEFT_COUNT; i++) {
		if (row->made.left[i] == 0)
			continue;
		add(buffer, "%s%s %s", first ? "; left: " : ", ",
		        text_count(left, row->made.left[i]), atomics_left_text[i]);
		first = false;
	}
	add(buffer, ")");
}

const char *atomics_inert_words(const struct atomics_row *row)
{
	if (row->made.kept == 0)
		return "no atomics";
	return row->choice == ATOMICS_LSE ? "already LSE" : "already LL/SC";
}

/* The words of the audit. */
static void add_outside(const struct atomics_row *row, char buffer[ATOMICS_WORDS_SIZE])
{
	char count[TEXT_NUMBER_SIZE];
	if (row->made.outside != 0)
		add(buffer,
		        "; %s that look%s like atomics, in no function of the unwind tables: not "
		        "counted",
		        text_things(count, row->made.outside, "word"),
		        row->made.outside == 1 ? "s" : "");
}

const char *atomics_row_words(const struct atomics_row *row, char buffer[ATOMICS_WORDS_SIZE])
{
	buffer[0] = '\0';
	if (row->made.outline != OUTLINE_NONE)
		add_outline(row, buffer);
	if (row->made.inline_found > 0) {
		add(buffer, "%s", *buffer != '\0' ? "; " : "");
		add_inline(row, buffer);
	}
	if (row->made.unreadable != 0)
		add(buffer, "%s%sout of reach (its code cannot be read: %.60s)",
		        *buffer != '\0' ? "; " : "", *buffer != '\0' ? "the rest " : "",
		        strerror((int)row->made.unreadable));
	if (*buffer == '\0')
		add(buffer, "inert (%s)", atomics_inert_words(row));
	add_outside(row, buffer);
	return buffer;
}
