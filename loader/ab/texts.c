/*
 * Lists of strings and their JSON.
 */
#include "texts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text.h"

/* Takes the text over; NULL stands for one that there was no memory for. */
static bool add(struct texts *texts, char *text)
{
	char **grown = NULL;
	if (text != NULL)
		grown = realloc(texts->items, (texts->count + 2) * sizeof(*grown));
	if (grown == NULL) {
		free(text);
		return false;
	}
	texts->items = grown;
	grown[texts->count++] = text;
	grown[texts->count] = NULL;
	return true;
}

bool texts_add(struct texts *texts, const char *text)
{
	return add(texts, strdup(text));
}

bool texts_format(struct texts *texts, const char *format, ...)
{
	char *text;
	va_list arguments;
	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	return length >= 0 && add(texts, text);
}

void texts_free(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
	*texts = (struct texts){ NULL, 0 };
}

json_t *texts_json(const struct texts *texts)
{
	json_t *array = json_array();
	for (size_t i = 0; i < texts->count; i++) {
		char *valid = text_valid_utf8(texts->items[i]);
		json_array_append_new(array, json_string(valid != NULL ? valid : ""));
		free(valid);
	}
	return array;
}

bool texts_from_json(struct texts *texts, const json_t *array)
{
	size_t i;
	json_t *item;
	if (!json_is_array(array))
		return false;
	json_array_foreach(array, i, item)
	{
		if (!json_is_string(item) || !texts_add(texts, json_string_value(item)))
			return false;
	}
	return true;
}
