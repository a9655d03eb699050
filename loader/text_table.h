/*
 * What the tables of the text report share: headings, columns of numbers, names in what is left of
 * a line.
 */
#ifndef LOADER_TEXT_TABLE_H
#define LOADER_TEXT_TABLE_H

#include "model.h"
#include "place_text.h"
#include "symbols.h"
#include "text.h"

#define TABLE_WIDTH       PLACE_TEXT_WIDTH
#define TABLE_NAME_COLUMN 53 /* where names begin in tables of waits */

struct view {
	FILE *out;
	const struct model *model;
	struct symbols *symbols;
	size_t top;
};

/* "Locks, by time waited (10 of 34; --top N shows more)"; returns the number of rows to show. */
size_t table_heading(const struct view *view, const char *title, size_t count);

/* The columns of waits, in front of a name. */
void table_waits_heading(const struct view *view, const char *what);
void table_waits(const struct view *view, uint64_t waits, uint64_t total, uint64_t longest);

/* A name or a place in `width` columns, escaped. */
void table_name(const struct view *view, const char *name, unsigned width);
void table_place(const struct view *view, const struct place *place, unsigned width);

/* A line that names a place below the row it belongs to: "   held by function at file.c:12". */
void table_below(const struct view *view, const char *words, const struct place *place);

/* Text that begins in the column `indent`, broken at blanks; its other lines begin there too. */
void table_paragraph(FILE *out, const char *text, unsigned indent);

/* What a report begins with: the processes, the settings in force, and what limits the figures. */
void text_head(const struct view *view);

/* One line about processes that counted nothing. */
void text_nothing(const struct view *view);

/* The tables, each with its heading; nothing where there are no rows. */
void table_of_threads(const struct view *view);
void table_of_locks(const struct view *view);
void table_of_holds(const struct view *view);
void table_of_places(const struct view *view);
void table_of_pairs(const struct view *view);
void table_of_stacks(const struct view *view);
void table_of_histogram(const struct view *view);
void table_of_atomics(const struct view *view);

#endif
