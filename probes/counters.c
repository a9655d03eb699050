/*
 * The counters as a table, for everything that treats all of them alike.
 */
#include "counters.h"

enum { SUM = false, MAX = true };

const struct counter counter_table[COUNTER_COUNT] = {
#define COUNTER(family, name, combine, help) { FAMILY_##family, #name, combine, help },
#include "counters.def"
};

const struct counter_family counter_families[FAMILY_COUNT] = {
#define FAMILY(name, title)                                                                        \
	{ #name, title, offsetof(struct counters, name) / sizeof(uint64_t),                        \
		sizeof(struct name##_counters) / sizeof(uint64_t) },
#include "counters.def"
};

void counters_merge(struct counters *to, const struct counters *from)
{
	uint64_t *values = (uint64_t *)to;
	for (size_t row = 0; row < COUNTER_COUNT; row++) {
		uint64_t value = counter_value(from, row);
		if (!counter_table[row].is_max)
			values[row] += value;
		else if (value > values[row])
			values[row] = value;
	}
}

void counters_fold(struct counters *to, const struct counters *from)
{
	uint64_t *values = (uint64_t *)to;
	for (size_t row = 0; row < COUNTER_COUNT; row++) {
		uint64_t value = counter_value(from, row);
		if (value == 0)
			continue;
		if (counter_table[row].is_max)
			shared_max(&values[row], value);
		else
			shared_add(&values[row], value);
	}
}

bool counters_are_zero(const struct counters *counters)
{
	for (size_t row = 0; row < COUNTER_COUNT; row++)
		if (counter_value(counters, row) != 0)
			return false;
	return true;
}
