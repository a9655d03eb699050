/*
 * Tables of an audit.
 */
#include "columns.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../ab/texts.h"
#include "../text.h"

#define MOST_COLUMNS 16u
#define TABLE_WIDTH  100u
#define LEAST_NAME   30u

/* Cells stand one behind the other, a line's name, and its mark, last. */
struct columns {
	struct texts cells;
	size_t per_line; /* with name and mark; 0 until the first line has ended */
	unsigned widths[MOST_COLUMNS];
};

struct columns *columns_new(void)
{
	return calloc(1, sizeof(struct columns));
}

static void add(struct columns *columns, const char *text)
{
	size_t line = columns->per_line > 0 ? columns->cells.count % columns->per_line
	                                    : columns->cells.count;
	unsigned length = (unsigned)strlen(text);
	if (texts_add(&columns->cells, text) && line < MOST_COLUMNS &&
	        length > columns->widths[line])
		columns->widths[line] = length;
}

void columns_text(struct columns *columns, const char *text)
{
	if (columns != NULL)
		add(columns, text);
}

void columns_count(struct columns *columns, uint64_t count)
{
	char number[TEXT_NUMBER_SIZE];
	columns_text(columns, text_count(number, count));
}

void columns_name(struct columns *columns, const char *name, const char *mark)
{
	if (columns == NULL)
		return;
	add(columns, name);
	add(columns, mark);
	if (columns->per_line == 0)
		columns->per_line = columns->cells.count;
}

/* The end of a name that fits, with dots before it. */
static void put_name(FILE *out, const char *name, size_t room)
{
	size_t length = strlen(name);
	if (length > room) {
		name += length - (room - 2);
		/* No character of several bytes is cut in two. */
		while (((unsigned char)*name & 0xc0) == 0x80)
			name++;
		fputs("..", out);
	}
	text_escape(out, name);
}

void columns_print(struct columns *columns, FILE *out)
{
	if (columns == NULL)
		return;
	size_t numbers = columns->per_line - 2;
	unsigned used = 0;
	for (size_t i = 0; i < numbers; i++)
		used += columns->widths[i] + 2;
	size_t room = used + LEAST_NAME < TABLE_WIDTH ? TABLE_WIDTH - used : LEAST_NAME;
	for (size_t i = 0; i + columns->per_line <= columns->cells.count; i += columns->per_line) {
		char **cells = &columns->cells.items[i];
		for (size_t j = 0; j < numbers; j++)
			fprintf(out, "%*s  ", (int)columns->widths[j], cells[j]);
		put_name(out, cells[numbers], room - strlen(cells[numbers + 1]));
		fprintf(out, "%s\n", cells[numbers + 1]);
	}
	texts_free(&columns->cells);
	free(columns);
}
