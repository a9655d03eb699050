/*
 * Members of JSON objects, said the same way in every report.
 */
#ifndef LOADER_JSON_MEMBERS_H
#define LOADER_JSON_MEMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Broken UTF-8 is replaced. */
void member_string(json_t *object, const char *key, const char *value);

/* A string, or null where nothing is known. */
void member_known(json_t *object, const char *key, const char *value);

/* JSON integers end at 2^63 - 1 here; only a damaged record holds more. */
json_t *member_value(uint64_t value);
void member_integer(json_t *object, const char *key, uint64_t value);

void member_bool(json_t *object, const char *key, bool value);

/* "0x7f12": addresses do not fit into the numbers of every JSON reader. */
void member_address(json_t *object, const char *key, uint64_t address);

#endif
