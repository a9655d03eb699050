/*
 * Reading JSON that a tool wrote: cut short or not, and its numbers with where they are.
 */
#include "document.h"

#include <errno.h>
#include <math.h>
#include <string.h>

bool document_has(const char *text, size_t size, const char *key)
{
	size_t start = strspn(text, " \t\r\n");
	return start < size && text[start] == '{' && text_has(text, size, key);
}

json_t *document_load(
        struct output *output, const char *text, size_t size, bool *cut, char why[WHY_SIZE])
{
	json_error_t error;
	json_t *root = json_loadb(text, size, 0, &error);
	*cut = false;
	if (json_is_object(root))
		return root;
	while (size > 0 && strchr(" \t\r\n", text[size - 1]) != NULL)
		size--;
	if (root == NULL && (json_error_code(&error) == json_error_premature_end_of_input ||
	                            (size_t)error.position >= size)) {
		*cut = state_result(output, "", why);
		if (*cut)
			result_set_incomplete(
			        output_last(output), "the document stops in line %d", error.line);
		return NULL;
	}
	if (root == NULL)
		why_set(why, "%d: %s; JSON is needed", error.line, error.text);
	else
		why_set(why, "1: no object; {...} is needed");
	json_decref(root);
	return NULL;
}

bool document_number(const json_t *object, const char *key, const char *where, double scale,
        double *value, char why[WHY_SIZE])
{
	const json_t *member = json_object_get(object, key);
	*value = json_is_number(member) ? json_number_value(member) * scale : NAN;
	if (member == NULL || json_is_null(member) || json_is_number(member))
		return true;
	why_set(why, "1: '%s' of '%.60s' is no number; a number is needed", key, where);
	return false;
}

const char *document_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text != NULL ? text : "";
}

bool document_value(struct result *result, const char *series, double value, enum metric_unit unit,
        char why[WHY_SIZE])
{
	if (isnan(value))
		return true;
	if (result_add_value(result, series, value, unit, figure_better(series, unit)))
		return true;
	why_set(why, "1: %s: %s", series, strerror(errno));
	return false;
}
