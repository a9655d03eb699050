/*
 * The verdict on one metric in a line that a person can quote.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate.h"

#define NAME_MOST   100
#define NAME_PART   48 /* of each end of a name that is cut in its middle */
#define NO_SPREAD   "without any spread"
#define DIGITS_MOST 9

const char *level_text(double level, char buffer[LEVEL_SIZE])
{
	double percent = level * 100;
	for (int digits = 6; digits <= 16; digits++) {
		snprintf(buffer, LEVEL_SIZE, "%.*g", digits, percent);
		if (fabs(strtod(buffer, NULL) - percent) <= (100 - percent) / 100)
			break;
	}
	return buffer;
}

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

static bool holds_zero(double low, double high)
{
	return !(low > 0 || high < 0);
}

static size_t common_tail(const char *name, const char *other)
{
	size_t length = strlen(name), of_other = strlen(other), tail = 0;
	while (tail < length && tail < of_other &&
	        name[length - tail - 1] == other[of_other - tail - 1])
		tail++;
	return tail;
}

/* The end of a long name, which is a path; where another arm's name ends alike, the part that tells
 * them apart before it. */
static const char *short_name(
        const struct metric_values *values, const char *name, char buffer[NAME_MOST + 1])
{
	size_t length = strlen(name), common = 0;
	if (length <= NAME_MOST)
		return name;
	for (size_t i = 0; i < values->arm_count; i++) {
		size_t tail = common_tail(name, values->arms[i].name);
		if (tail > common && strcmp(values->arms[i].name, name) != 0)
			common = tail;
	}
	if (common < NAME_MOST)
		return name + length - NAME_MOST;
	size_t differs = common < length ? length - common - 1 : 0, from = differs;
	while (from > 0 && differs - from < NAME_PART / 2 && name[from - 1] != '/')
		from--;
	snprintf(buffer, NAME_MOST + 1, "%.*s...%s", NAME_PART, name + from,
	        name + length - NAME_PART);
	return buffer;
}

static void append(char buffer[QUOTE_SIZE], const char *format, ...)
{
	va_list arguments;
	size_t used = strlen(buffer);
	va_start(arguments, format);
	vsnprintf(buffer + used, QUOTE_SIZE - used, format, arguments);
	va_end(arguments);
}

static void append_counts(const struct comparison *comparison, char buffer[QUOTE_SIZE])
{
	append(buffer, ", n = %zu+%zu)", comparison->reference->summary.n,
	        comparison->arm->summary.n);
}

/* Enough digits that no bound of an interval without 0 is shown as 0. */
static int digits_beside_zero(double low, double high)
{
	double nearest = fmin(fabs(low), fabs(high));
	int digits = digits_for(high - low);
	while (digits < DIGITS_MOST && nearest * pow(10, digits) < 1)
		digits++;
	return digits;
}

/* The change of the metric itself, for a time and for a rate alike. Where there is no share of the
 * reference, or its interval holds 0 since the reference is so uncertain, the difference. */
static void quote_difference(const struct evaluation *evaluation,
        const struct evaluation_metric *metric, const struct comparison *comparison,
        const char *name, char buffer[QUOTE_SIZE])
{
	const struct stats_difference *welch = &comparison->welch;
	double low = welch->relative_low * 100, high = welch->relative_high * 100;
	bool less = welch->difference < 0, steady = isnan(welch->p);
	const char *word = comparative(metric->values, welch->difference);
	char level[LEVEL_SIZE];
	level_text(evaluation->options.level, level);
	int digits = digits_beside_zero(low, high);
	if (steady && !isnan(welch->relative)) {
		append(buffer, "%s is %.2f %% %s (" NO_SPREAD, name, fabs(welch->relative) * 100,
		        word);
	} else if (steady) {
		append(buffer, "%s differs by %g (" NO_SPREAD, name, welch->difference);
	} else if (isnan(low) || holds_zero(low, high)) {
		append(buffer, "%s differs by %g (%s %%: %g to %g", name, welch->difference, level,
		        welch->low, welch->high);
	} else {
		append(buffer, "%s is %.*f %% %s (%s %%: %.*f to %.*f %%", name, digits,
		        fabs(welch->relative) * 100, word, level, digits, less ? -high : low,
		        digits, less ? -low : high);
	}
	append_counts(comparison, buffer);
}

/* An interval that holds 0, as the verdict has it: where the difference alone would have been one,
 * that of Bonferroni's level, which Holm's adjustment is never stricter than. */
static void quote_undecided(const struct evaluation *evaluation,
        const struct comparison *comparison, char buffer[QUOTE_SIZE])
{
	struct stats_difference welch = comparison->welch;
	double alpha = 1 - evaluation->options.level;
	append(buffer, "no difference shown ");
	if (isnan(welch.p)) {
		if (isnan(welch.relative))
			append(buffer, "(%+g, " NO_SPREAD, welch.difference);
		else
			append(buffer, "(%+.2f %%, " NO_SPREAD, welch.relative * 100);
		append_counts(comparison, buffer);
		return;
	}
	if (welch.p < alpha) {
		char level[LEVEL_SIZE];
		double strict = 1 - alpha / (double)evaluation->family;
		welch = stats_welch(
		        &comparison->reference->summary, &comparison->arm->summary, strict);
		append(buffer, "after Holm's adjustment (%s %%: ", level_text(strict, level));
	} else {
		append(buffer, "(could be ");
	}
	double low = welch.relative_low * 100, high = welch.relative_high * 100;
	int digits = digits_for(high - low);
	if (isnan(low) || !holds_zero(low, high))
		append(buffer, "%+g to %+g", welch.low, welch.high);
	else
		append(buffer, "%+.*f to %+.*f %%", digits, low, digits, high);
	append_counts(comparison, buffer);
}

/* The interval, unless it reaches beyond the margin: it is wider than the two tests, and then their
 * p is quoted. */
static void quote_equivalent(const struct evaluation *evaluation,
        const struct comparison *comparison, char buffer[QUOTE_SIZE])
{
	const struct stats_difference *welch = &comparison->welch;
	double margin = evaluation->options.equivalence;
	double low = welch->relative_low * 100, high = welch->relative_high * 100;
	int digits = digits_for(high - low);
	char level[LEVEL_SIZE];
	append(buffer, "equivalent within %g %% (", margin * 100);
	if (welch->relative_low < -margin || welch->relative_high > margin)
		append(buffer, "%+.*f %%, p = %.3g", digits, welch->relative * 100,
		        comparison->p_equivalence);
	else
		append(buffer, "%s %%: %+.*f to %+.*f %%",
		        level_text(evaluation->options.level, level), digits, low, digits, high);
	append_counts(comparison, buffer);
}

const char *evaluation_quote(const struct evaluation *evaluation,
        const struct evaluation_metric *metric, const struct comparison *comparison,
        char buffer[QUOTE_SIZE])
{
	const struct stats_difference *welch = &comparison->welch;
	char cut[NAME_MOST + 1];
	const char *name = short_name(metric->values, comparison->arm->name, cut);
	buffer[0] = '\0';
	switch (comparison->kind) {
	case VERDICT_UNKNOWN:
		if (isnan(welch->relative))
			append(buffer, "%+g (n = %zu+%zu)", welch->difference,
			        comparison->reference->summary.n, comparison->arm->summary.n);
		else
			append(buffer, "%+.2f %% (n = %zu+%zu)", welch->relative * 100,
			        comparison->reference->summary.n, comparison->arm->summary.n);
		break;
	case VERDICT_EQUIVALENT:
		quote_equivalent(evaluation, comparison, buffer);
		break;
	case VERDICT_DIFFERENT:
		quote_difference(evaluation, metric, comparison, name, buffer);
		break;
	case VERDICT_UNDECIDED:
		quote_undecided(evaluation, comparison, buffer);
		break;
	}
	return buffer;
}
