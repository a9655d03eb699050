/*
 * The verdict on one metric in a line that a person can quote.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evaluate.h"

#define NAME_MOST 100
#define NO_SPREAD "without any spread"

/* Enough digits that the last one shown means something: two of the interval's width. */
static int digits_for(double width)
{
	if (!(width > 0) || isinf(width))
		return 2;
	int digits = 1 - (int)floor(log10(width));
	return digits < 0 ? 0 : digits > 6 ? 6 : digits;
}

/* CPU time and time spent waiting are used up; only a time that passes makes something slower. */
static bool is_cost(const char *name)
{
	static const char *const parts[] = { "cpu", "user", "sys", "shim." };
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(name, parts[i]) != NULL)
			return true;
	return false;
}

static const char *comparative(const struct metric_values *values, double difference)
{
	bool more = difference > 0, time = values->unit == UNIT_SECONDS;
	bool rate = values->unit == UNIT_RATE || values->unit == UNIT_BYTE_RATE;
	if (rate && values->better == BETTER_MORE)
		return more ? "faster" : "slower";
	if (time && values->better == BETTER_LESS && !is_cost(values->name))
		return more ? "slower" : "faster";
	return more ? "more" : "less";
}

/* The change of a metric whose reference is not 0, for a time and for a rate alike the change of
 * the metric itself. */
static void quote_difference(const struct evaluation *evaluation,
        const struct evaluation_metric *metric, const struct comparison *comparison,
        const char *name, char buffer[QUOTE_SIZE])
{
	const struct stats_difference *welch = &comparison->welch;
	double low = welch->relative_low * 100, high = welch->relative_high * 100;
	int digits = digits_for(high - low);
	int used = snprintf(buffer, QUOTE_SIZE, "%s is %.*f %% %s (", name, digits,
	        fabs(welch->relative) * 100, comparative(metric->values, welch->difference));
	if (used < 0 || used >= QUOTE_SIZE)
		return;
	bool less = welch->difference < 0;
	if (isnan(welch->p))
		snprintf(buffer + used, QUOTE_SIZE - (size_t)used, NO_SPREAD ", n = %zu+%zu)",
		        comparison->reference->summary.n, comparison->arm->summary.n);
	else
		snprintf(buffer + used, QUOTE_SIZE - (size_t)used,
		        "%g %%: %.*f to %.*f %%, n = %zu+%zu)", evaluation->options.level * 100,
		        digits, less ? -high : low, digits, less ? -low : high,
		        comparison->reference->summary.n, comparison->arm->summary.n);
}

static void quote_undecided(const struct comparison *comparison, char buffer[QUOTE_SIZE])
{
	const struct stats_difference *welch = &comparison->welch;
	double low = welch->relative_low * 100, high = welch->relative_high * 100;
	int digits = digits_for(high - low);
	size_t na = comparison->reference->summary.n, nb = comparison->arm->summary.n;
	if (isnan(welch->p) && isnan(welch->relative))
		snprintf(buffer, QUOTE_SIZE,
		        "no difference shown (%+g, " NO_SPREAD ", n = %zu+%zu)", welch->difference,
		        na, nb);
	else if (isnan(welch->p))
		snprintf(buffer, QUOTE_SIZE,
		        "no difference shown (%+.2f %%, " NO_SPREAD ", n = %zu+%zu)",
		        welch->relative * 100, na, nb);
	else if (isnan(low))
		snprintf(buffer, QUOTE_SIZE,
		        "no difference shown (could be %+g to %+g, n = %zu+%zu)", welch->low,
		        welch->high, na, nb);
	else
		snprintf(buffer, QUOTE_SIZE,
		        "no difference shown (could be %+.*f to %+.*f %%, n = %zu+%zu)", digits,
		        low, digits, high, na, nb);
}

const char *evaluation_quote(const struct evaluation *evaluation,
        const struct evaluation_metric *metric, const struct comparison *comparison,
        char buffer[QUOTE_SIZE])
{
	const struct stats_difference *welch = &comparison->welch;
	double low = welch->relative_low * 100, high = welch->relative_high * 100;
	int digits = digits_for(high - low);
	size_t na = comparison->reference->summary.n, nb = comparison->arm->summary.n;
	const char *name = comparison->arm->name;
	size_t length = strlen(name);
	if (length > NAME_MOST) /* a path, told from others by its end */
		name += length - NAME_MOST;
	switch (comparison->kind) {
	case VERDICT_UNKNOWN:
		if (isnan(welch->relative))
			snprintf(
			        buffer, QUOTE_SIZE, "%+g (n = %zu+%zu)", welch->difference, na, nb);
		else
			snprintf(buffer, QUOTE_SIZE, "%+.2f %% (n = %zu+%zu)",
			        welch->relative * 100, na, nb);
		break;
	case VERDICT_EQUIVALENT:
		snprintf(buffer, QUOTE_SIZE,
		        "equivalent within %g %% (%g %%: %+.*f to %+.*f %%, n = %zu+%zu)",
		        evaluation->options.equivalence * 100, evaluation->options.level * 100,
		        digits, low, digits, high, na, nb);
		break;
	case VERDICT_DIFFERENT:
		if (isnan(welch->relative))
			snprintf(buffer, QUOTE_SIZE, "%s differs by %g (%g to %g, n = %zu+%zu)",
			        name, welch->difference, welch->low, welch->high, na, nb);
		else
			quote_difference(evaluation, metric, comparison, name, buffer);
		break;
	case VERDICT_UNDECIDED:
		quote_undecided(comparison, buffer);
		break;
	}
	return buffer;
}
