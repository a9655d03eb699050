/*
 * What parsers of JSON share.
 */
#ifndef LOADER_PARSE_DOCUMENT_H
#define LOADER_PARSE_DOCUMENT_H

#include <jansson.h>

#include "lines.h"

/* The text's first character but for blanks is a brace, and it has this key. */
bool document_has(const char *text, size_t size, const char *key);

/*
 * Returns the text's value; the caller owns it. NULL with *cut: the text stops early, and the
 * output has got an INCOMPLETE result; NULL without: it is refused.
 */
json_t *document_load(
        struct output *output, const char *text, size_t size, bool *cut, char why[WHY_SIZE]);

/* The member's number times scale; true with NAN where it is null or missing, false with a reason
 * where it is no number. where: the object, for the reason. */
bool document_number(const json_t *object, const char *key, const char *where, double scale,
        double *value, char why[WHY_SIZE]);

/* The member's text, "" when there is none. */
const char *document_text(const json_t *object, const char *key);

/* Adds a value to a result's series; false with the reason. */
bool document_value(struct result *result, const char *series, double value, enum metric_unit unit,
        char why[WHY_SIZE]);

#endif
