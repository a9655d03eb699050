/*
 * The tables of strategies and pollings, and the parser of NAME[:N]. Allocates nothing.
 */
#include "choice.h"

#include <stddef.h>
#include <string.h>

#include "probes/record_map.h"

struct row {
	const char *name;
	uint32_t count;
	unsigned families;
};

static const struct row strategies[] = {
#define STRATEGY(name, count, help) { #name, count, FOR_MUTEX },
#include "strategies.def"
#undef STRATEGY
};

static const struct row pollings[] = {
#define POLLING(name, count, families, help) { #name, count, families },
#include "pollings.def"
#undef POLLING
};

#define ROWS(table) ((uint32_t)(sizeof(table) / sizeof(*(table))))

static void append(char *text, size_t size, const char *more)
{
	size_t at = strlen(text), length = strlen(more);
	if (at + length < size)
		memcpy(text + at, more, length + 1);
}

/* Names what the family takes, from the tables. */
static const char *unknown_text(enum choice_family family)
{
	static char text[256];
	const struct row *table = family == FOR_MUTEX ? strategies : pollings;
	uint32_t rows = family == FOR_MUTEX ? ROWS(strategies) : ROWS(pollings);
	const char *between = "unknown strategy; right are ";
	text[0] = '\0';
	for (uint32_t i = 0; i < rows; i++) {
		if ((table[i].families & family) == 0)
			continue;
		append(text, sizeof(text), between);
		append(text, sizeof(text), table[i].name);
		append(text, sizeof(text), table[i].count != 0 ? "[:N]" : "");
		between = ", ";
	}
	return text;
}

static void fill(
        struct record_choice *choice, const struct row *row, uint32_t index, uint32_t count)
{
	size_t length = strlen(row->name);
	choice->strategy = index;
	choice->count = count;
	memcpy(choice->name, row->name, length + 1);
	if (row->count == 0)
		return;
	choice->name[length] = ':';
	record_decimal(choice->name + length + 1, count);
}

/* The row of that name for the family; NULL when there is none. */
static const struct row *find(
        enum choice_family family, const char *name, size_t length, uint32_t *index)
{
	const struct row *table = family == FOR_MUTEX ? strategies : pollings;
	uint32_t rows = family == FOR_MUTEX ? ROWS(strategies) : ROWS(pollings);
	for (uint32_t i = 0; i < rows; i++) {
		if ((table[i].families & family) == 0 || strlen(table[i].name) != length ||
		        memcmp(table[i].name, name, length) != 0)
			continue;
		*index = i;
		return &table[i];
	}
	return NULL;
}

void choice_set(
        struct record_choice *choice, enum choice_family family, const char *name, uint32_t count)
{
	uint32_t index;
	const struct row *row = find(family, name, strlen(name), &index);
	if (row != NULL)
		fill(choice, row, index, count != 0 ? count : row->count);
}

void choice_default(struct record_choice *choice, enum choice_family family)
{
	choice_set(choice, family, family == FOR_FUTEX ? "kernel" : "glibc", 0);
}

bool choice_parse_count(const char *text, uint32_t *count)
{
	uint32_t value = 0;
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (uint32_t)(*text - '0');
		if (value > CHOICE_COUNT_MAX)
			return false;
	}
	*count = value;
	return value > 0;
}

const char *choice_parse(struct record_choice *choice, enum choice_family family, const char *value)
{
	const char *colon = strchr(value, ':');
	size_t length = colon != NULL ? (size_t)(colon - value) : strlen(value);
	uint32_t index, count;
	const struct row *row = find(family, value, length, &index);
	if (row == NULL)
		return unknown_text(family);
	count = row->count;
	if (colon != NULL && row->count == 0)
		return "this strategy takes no number";
	if (colon != NULL && !choice_parse_count(colon + 1, &count))
		return "N must be a decimal number from 1 to 1000000";
	fill(choice, row, index, count);
	return NULL;
}
