/*
 * Wraps jansson for the values that reports hold.
 */
#include "json_members.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

void member_string(json_t *object, const char *key, const char *value)
{
	char *valid = text_valid_utf8(value);
	json_object_set_new(object, key, valid != NULL ? json_string(valid) : json_null());
	free(valid);
}

void member_known(json_t *object, const char *key, const char *value)
{
	if (value[0] == '\0')
		json_object_set_new(object, key, json_null());
	else
		member_string(object, key, value);
}

json_t *member_value(uint64_t value)
{
	return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX);
}

void member_integer(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, member_value(value));
}

void member_bool(json_t *object, const char *key, bool value)
{
	json_object_set_new(object, key, json_boolean(value));
}

void member_address(json_t *object, const char *key, uint64_t address)
{
	char text[24];
	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	json_object_set_new(object, key, json_string(text));
}
