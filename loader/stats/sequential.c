/*
 * The interval that an open-ended experiment looks at after every block.
 *
 * A rule that stops when the interval is narrow looks at the spread only, which for normal values
 * is independent of the mean (Chow and Robbins 1965): no direction is favoured. But it stops when
 * the spread happens to look small, so that the usual interval holds a little less than it says.
 * Widening it by 1 / (2 df) of itself makes up for that: see the simulation in the tests.
 */
#include <math.h>

#include "stats.h"

double stats_sequential_width(
        const struct stats_summary *a, const struct stats_summary *b, double level)
{
	struct stats_difference welch = stats_welch(a, b, level);
	if (isnan(welch.relative_low))
		return NAN;
	double half = (welch.relative_high - welch.relative_low) / 2;
	return half * (1 + 1 / (2 * (double)(a->n + b->n - 2)));
}
