/*
 * Headings and columns of the text report.
 */
#include "text_table.h"

#include <stdlib.h>
#include <string.h>

#define WORD_SIZE 512 /* a longer one is cut */

size_t table_heading(const struct view *view, const char *title, size_t count)
{
	size_t shown = count < view->top ? count : view->top;
	fprintf(view->out, "\n%s", title);
	if (shown < count)
		fprintf(view->out, " (%zu of %zu; --top N shows more)", shown, count);
	fputc('\n', view->out);
	return shown;
}

void table_waits_heading(const struct view *view, const char *what)
{
	fprintf(view->out, "%9s %8s %11s %9s %9s   %s\n", "waited", "share", "waits", "mean",
	        "longest", what);
}

void table_waits(const struct view *view, uint64_t waits, uint64_t total, uint64_t longest)
{
	char numbers[5][TEXT_NUMBER_SIZE];
	fprintf(view->out, "%9s %8s %11s %9s %9s   ", text_duration(numbers[0], total),
	        text_percent(numbers[1], total, view->model->wait_ns_total),
	        text_count(numbers[2], waits),
	        text_duration(numbers[3], waits > 0 ? total / waits : 0),
	        text_duration(numbers[4], longest));
}

void table_name(const struct view *view, const char *name, unsigned width)
{
	char cut[TABLE_WIDTH + 1];
	snprintf(cut, sizeof(cut), "%.*s", (int)(width < TABLE_WIDTH ? width : TABLE_WIDTH), name);
	text_escape(view->out, cut);
}

void table_place(const struct view *view, const struct place *place, unsigned width)
{
	char text[PLACE_TEXT_WIDTH + 1];
	place_text(place, width, text);
	text_escape(view->out, text);
}

void table_below(const struct view *view, const char *words, const struct place *place)
{
	fprintf(view->out, "%*s", TABLE_NAME_COLUMN, words);
	table_place(view, place, TABLE_WIDTH - TABLE_NAME_COLUMN);
	fputc('\n', view->out);
}

void table_paragraph(FILE *out, const char *text, unsigned indent)
{
	size_t column = indent;
	while (*text != '\0') {
		size_t length = strcspn(text, " ");
		char word[WORD_SIZE];
		snprintf(word, sizeof(word), "%.*s", (int)length, text);
		if (column > indent && column + 1 + length >= TABLE_WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		}
		if (column > indent)
			fputc(' ', out);
		text_escape(out, word);
		column += length + (column > indent);
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}
