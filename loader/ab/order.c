/*
 * Orders of blocks as pure functions, so that a resumed experiment goes on in the same one.
 */
#include "order.h"

#include <stdint.h>
#include <string.h>

const char *const order_names[] = {
	[ORDER_ABBA] = "abba", [ORDER_RANDOM] = "random", [ORDER_FIXED] = "fixed"
};

bool order_by_name(const char *name, enum order_kind *kind)
{
	for (size_t i = 0; i < sizeof(order_names) / sizeof(*order_names); i++) {
		if (strcmp(order_names[i], name) != 0)
			continue;
		*kind = (enum order_kind)i;
		return true;
	}
	return false;
}

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* A number below limit, without bias. */
static size_t below(uint64_t *state, size_t limit)
{
	uint64_t rest = (UINT64_MAX % limit + 1) % limit, drawn;
	do
		drawn = next(state);
	while (drawn > UINT64_MAX - rest);
	return drawn % limit;
}

/* Fisher and Yates, followed backwards for the one place that is asked for. */
static size_t shuffled(unsigned long seed, size_t arms, unsigned block, size_t place)
{
	uint64_t state = seed;
	state = next(&state) ^ block;
	size_t swaps[arms], at = place;
	for (size_t i = arms - 1; i > 0; i--)
		swaps[i] = below(&state, i + 1);
	for (size_t i = 1; i < arms; i++) {
		if (at == i)
			at = swaps[i];
		else if (at == swaps[i])
			at = i;
	}
	return at;
}

size_t order_arm(
        enum order_kind kind, unsigned long seed, size_t arms, unsigned block, size_t place)
{
	switch (kind) {
	case ORDER_ABBA:
		return block % 2 == 0 ? place : arms - 1 - place;
	case ORDER_RANDOM:
		return shuffled(seed, arms, block, place);
	case ORDER_FIXED:
		break;
	}
	return place;
}
