/*
 * What parsers of text share: taking lines apart, and figures by the label that a tool prints.
 */
#ifndef LOADER_PARSE_LINES_H
#define LOADER_PARSE_LINES_H

#include "parse.h"

#define NAME_SIZE 128

/* A figure that a tool prints after a label. */
struct figure {
	const char *label;
	const char *name; /* of the metric */
	enum metric_unit unit;
	double scale; /* of the unit in which it is printed; 0: it is printed with each figure */
};

/* Without blanks at both ends. Changes the line. */
char *line_trim(char *line);

/* What follows the prefix and blanks; NULL when the line does not begin so. */
char *line_after(char *line, const char *prefix);

/* Parts "label : value" at the first separator: the line becomes the label, the value is returned,
 * both trimmed. NULL: there is no separator. */
char *line_value(char *line, char separator);

/* Parts the line in place at any of the separators, empty words left out. Returns how many there
 * are, no more than max of them in words. */
size_t line_words(char *line, const char *separators, char **words, size_t max);

/* Whether one of the text's lines begins with this, after blanks. */
bool text_has_line(const char *text, size_t size, const char *start);
bool text_has(const char *text, size_t size, const char *part);

/* "PREFIX.TEXT" in lower case, as much of the text as is before a '(', with '_' for blanks and
 * dots. prefix: NULL for none. */
void name_make(char name[NAME_SIZE], const char *prefix, const char *text);

/* "median" for 50, "p99.9" for 99.9. */
void name_percentile(char name[NAME_SIZE], const char *prefix, double percentile);

/* Adds a metric, whose direction follows from its unit and name. A NAN is left out. */
bool figure_add(struct result *result, const char *name, double value, enum metric_unit unit,
        unsigned flags, char why[WHY_SIZE]);

/* The same from a text that begins with the number: "2.5 ms [insert: 2.5 ms]". */
bool figure_read(struct result *result, const char *name, const char *text, enum metric_unit unit,
        double scale, char why[WHY_SIZE]);

/* The figure of that label; NULL when there is none. */
const struct figure *figure_find(const struct figure *figures, size_t count, const char *label);

/* figure_find() and figure_read(); true, too, when there is no such label. */
bool figure_take(struct result *result, const struct figure *figures, size_t count,
        const char *label, const char *text, char why[WHY_SIZE]);

/* The number at the beginning of a text, as figure_read() finds it. */
bool figure_value(const char *text, enum metric_unit unit, double scale, double *value);

/* Adds to the result's errors and to its metric of that name, which is made where it is missing. */
bool figure_errors(struct result *result, double count, char why[WHY_SIZE]);

enum metric_better figure_better(const char *name, enum metric_unit unit);

/* For parsers whose state is of constant size: zeroed, the output first. NULL: no memory. */
void *state_new(struct output *output, size_t size);

/* Adds a result; false, with the reason, for want of memory or when there are too many. */
bool state_result(struct output *output, const char *label, char why[WHY_SIZE]);
bool state_label(struct result *result, const char *label, char why[WHY_SIZE]);

#endif
