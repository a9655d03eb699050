/*
 * Reads and writes GLIBC_TUNABLES: "name=value" with colons between them. Allocates nothing.
 */
#include "allocation.h"

#include <string.h>

#define PREFIX "glibc.malloc."

static const struct {
	const char *name, *values[ALLOC_TLAB + 1];
} tunables[TUNABLE_COUNT] = {
#define TUNABLE(name, shared, tlab) { #name, { "", shared, tlab } },
#include "allocation.def"
};

const char *allocation_value(enum record_alloc_choice arm, enum record_tunable tunable)
{
	const char *value = tunables[tunable].values[arm];
	return *value != '\0' ? value : NULL;
}

const char *allocation_name(enum record_tunable tunable)
{
	return tunables[tunable].name;
}

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

bool allocation_number(const char *text, size_t length, uint64_t *value)
{
	unsigned base = 10;
	size_t at = 0;
	if (length > 1 && text[0] == '0') {
		base = (text[1] | 0x20) == 'x' ? 16 : 8;
		at = base == 16 ? 2 : 1;
	}
	*value = 0;
	if (at == length)
		return false;
	for (; at < length; at++) {
		unsigned digit = digit_of(text[at]);
		if (digit >= base || *value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	return true;
}

/* The value in "glibc.malloc.NAME=value" of the entry, NULL for another one. */
static const char *value_in(const char *entry, const char *name)
{
	size_t prefix = strlen(PREFIX), length = strlen(name);
	if (strncmp(entry, PREFIX, prefix) != 0 || strncmp(entry + prefix, name, length) != 0 ||
	        entry[prefix + length] != '=')
		return NULL;
	return entry + prefix + length + 1;
}

/* The last value of the tunable, NULL: none. */
static const char *find_text(const char *value, enum record_tunable tunable)
{
	const char *found = NULL;
	while (value != NULL && *value != '\0') {
		const char *here = value_in(value, tunables[tunable].name);
		if (here != NULL)
			found = here;
		value = strchr(value, ':');
		if (value != NULL)
			value++;
	}
	return found;
}

static size_t text_length(const char *value)
{
	const char *end = strchr(value, ':');
	return end != NULL ? (size_t)(end - value) : strlen(value);
}

bool allocation_find(const char *value, enum record_tunable tunable, uint64_t *number)
{
	const char *found = find_text(value, tunable);
	return found != NULL && allocation_number(found, text_length(found), number);
}

/* Whether it has another value than the arm's. */
static bool is_conflict(const char *found, const char *wanted)
{
	uint64_t number, right;
	allocation_number(wanted, strlen(wanted), &right);
	return !allocation_number(found, text_length(found), &number) || number != right;
}

static bool add(char text[ALLOCATION_TEXT_SIZE], const char *more)
{
	size_t length = strlen(text);
	if (length + strlen(more) >= ALLOCATION_TEXT_SIZE)
		return false;
	memcpy(text + length, more, strlen(more) + 1);
	return true;
}

static bool add_tunable(char text[ALLOCATION_TEXT_SIZE], const char *name, const char *value)
{
	return (*text == '\0' || add(text, ":")) && add(text, PREFIX) && add(text, name) &&
	       add(text, "=") && add(text, value);
}

enum allocation_result allocation_add(enum record_alloc_choice arm, const char *value,
        char text[ALLOCATION_TEXT_SIZE], const char **name)
{
	bool added = false;
	text[0] = '\0';
	if (value != NULL && !add(text, value))
		return ALLOCATION_TOO_LONG;
	for (int i = 0; i < TUNABLE_COUNT; i++) {
		const char *wanted = tunables[i].values[arm];
		const char *found = find_text(value, (enum record_tunable)i);
		if (*wanted == '\0')
			continue;
		*name = tunables[i].name;
		if (found != NULL && is_conflict(found, wanted))
			return ALLOCATION_CONFLICT;
		if (found == NULL && !add_tunable(text, *name, wanted))
			return ALLOCATION_TOO_LONG;
		added = added || found == NULL;
	}
	return added ? ALLOCATION_ADDED : ALLOCATION_THERE;
}

bool allocation_take_away(
        enum record_alloc_choice arm, const char *value, char text[ALLOCATION_TEXT_SIZE])
{
	char whole[ALLOCATION_TEXT_SIZE];
	const char *name;
	if (value == NULL || allocation_add(arm, NULL, whole, &name) != ALLOCATION_ADDED)
		return false;
	size_t length = strlen(value), end = strlen(whole);
	if (length < end || length >= ALLOCATION_TEXT_SIZE ||
	        strcmp(value + length - end, whole) != 0)
		return false;
	length -= end;
	if (length > 0 && value[length - 1] != ':')
		return false;
	memcpy(text, value, length);
	text[length > 0 ? length - 1 : 0] = '\0';
	return true;
}
