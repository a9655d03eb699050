/*
 * An evaluation in a terminal.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../text.h"
#include "ministat.h"
#include "write.h"

#define ALPHA(evaluation) (1 - (evaluation)->options.level)

static const char *unit_of(enum metric_unit unit)
{
	switch (unit) {
	case UNIT_RATE:
		return " (1/s)";
	case UNIT_SECONDS:
		return " (s)";
	case UNIT_BYTES:
		return " (bytes)";
	case UNIT_BYTE_RATE:
		return " (bytes/s)";
	default:
		return "";
	}
}

static void print_name(FILE *out, const struct metric_values *values)
{
	text_escape(out, values->name);
	fputs(unit_of(values->unit), out);
}

static void print_ministat(FILE *out, const struct evaluation *evaluation,
        const struct metric_values *values, const struct verdict_style *style)
{
	struct ministat_set sets[MINISTAT_SETS];
	size_t count = values->arm_count < MINISTAT_SETS ? values->arm_count : MINISTAT_SETS;
	for (size_t i = 0; i < count; i++) {
		const struct arm_values *arm = &values->arms[i];
		sets[i] = (struct ministat_set){ arm->name,
			{ arm->values, arm->values != NULL ? arm->n : 0 }, arm->summary };
	}
	struct ministat_options options = { .width = style->width,
		.level = evaluation->options.level,
		.convention = evaluation->options.convention,
		.separate = true,
		.plot = style->plot,
		.compare = style->student };
	ministat_print(out, sets, count, &options);
}

static bool excludes_zero(double low, double high)
{
	return low > 0 || high < 0;
}

/* Whether the share has an interval that says the same as that of the difference: of an uncertain
 * reference it may say less. */
static bool agrees(const struct stats_difference *difference)
{
	return !isnan(difference->relative_low) &&
	       excludes_zero(difference->low, difference->high) ==
	               excludes_zero(difference->relative_low, difference->relative_high);
}

static void print_interval(
        FILE *out, const char *name, const struct stats_difference *difference, double level)
{
	char percent[LEVEL_SIZE];
	if (isnan(difference->low))
		return;
	fprintf(out, "  %-22s %+.6g (%s %%: %+.6g to %+.6g)", name, difference->difference,
	        level_text(level, percent), difference->low, difference->high);
	if (!isnan(difference->relative))
		fprintf(out, ", %+.2f %%", difference->relative * 100);
	if (agrees(difference))
		fprintf(out, " (%+.2f to %+.2f %%)", difference->relative_low * 100,
		        difference->relative_high * 100);
	if (!isnan(difference->p))
		fprintf(out, ", p = %.3g", difference->p);
	fputc('\n', out);
}

static void print_student(FILE *out, const struct stats_student *student)
{
	if (isnan(student->error))
		return;
	fprintf(out, "  %-22s %+.6g +- %.6g", "Student (ministat)", student->difference,
	        student->error);
	if (isfinite(student->relative_error)) /* the reference is not 0 */
		fprintf(out, ", %+.2f %% +- %.2f %%", student->relative * 100,
		        student->relative_error * 100);
	fprintf(out, ", pooled s = %.6g\n", student->pooled);
}

static void print_p(FILE *out, const char *name, double p, const char *says)
{
	if (!isnan(p))
		fprintf(out, "  %-22s p = %.3g%s%s\n", name, p, *says != '\0' ? ": " : "", says);
}

static void print_tests(
        FILE *out, const struct evaluation *evaluation, const struct comparison *comparison)
{
	double level = evaluation->options.level, alpha = ALPHA(evaluation);
	print_interval(out, "Welch", &comparison->welch, level);
	print_student(out, &comparison->student);
	print_interval(out, "bootstrap (BCa)", &comparison->bootstrap, level);
	print_interval(out, "within blocks", &comparison->paired, level);
	print_p(out, "Holm", comparison->p_holm, "");
	print_p(out, "Mann-Whitney", comparison->p_ranks, "");
	print_p(out, "spread", comparison->p_spread,
	        !(comparison->p_spread < alpha) ? "no difference shown"
	        : comparison->spread_ratio > 1  ? "the arm is less steady"
	                                        : "the arm is steadier");
	print_p(out, "equivalence", comparison->p_equivalence,
	        comparison->p_equivalence < alpha ? "shown" : "not shown");
}

/* One value an arm: neither a plot nor a test. */
static bool is_single(const struct evaluation_metric *metric)
{
	for (size_t i = 0; i < metric->values->arm_count; i++)
		if (metric->values->arms[i].summary.n > 1)
			return false;
	return true;
}

static void print_metric(FILE *out, const struct evaluation *evaluation, size_t number,
        const struct verdict_style *style)
{
	const struct evaluation_metric *metric = &evaluation->metrics[number];
	struct verdict_style own = *style;
	own.plot = style->plot && number == 0;
	if (number > 0)
		fputc('\n', out);
	print_name(out, metric->values);
	fputc('\n', out);
	for (size_t i = 0; i < metric->comparison_count; i++) {
		char quote[QUOTE_SIZE];
		const struct comparison *comparison = &metric->comparisons[i];
		evaluation_quote(evaluation, metric, comparison, quote);
		fputs("  ", out);
		if (metric->comparison_count > 1 && comparison->kind != VERDICT_DIFFERENT) {
			text_escape(out, comparison->arm->name);
			fputs(": ", out);
		}
		text_escape(out, quote);
		fputc('\n', out);
	}
	print_ministat(out, evaluation, metric->values, &own);
	for (size_t i = 0; i < metric->comparison_count && !style->student; i++) {
		text_escape(out, metric->comparisons[i].arm->name);
		fputs(" against ", out);
		text_escape(out, metric->comparisons[i].reference->name);
		fputc('\n', out);
		print_tests(out, evaluation, &metric->comparisons[i]);
	}
	if (metric->p_drift < ALPHA(evaluation))
		fprintf(out,
		        "  early runs differ from late ones (p = %.3g): warm up longer, or "
		        "look for what changed\n",
		        metric->p_drift);
	if (metric->outliers > 0)
		fprintf(out, "  %zu value%s far from the median (modified z above 3.5)\n",
		        metric->outliers, metric->outliers == 1 ? " lies" : "s lie");
}

/* "read.mean (s): 0.00304753 -> 0.00304518: -0.08 % (n = 1+1)"; of several arms the arm's name
 * stands before its figure. */
static void print_line(
        FILE *out, const struct evaluation *evaluation, const struct evaluation_metric *metric)
{
	for (size_t i = 0; i < metric->comparison_count; i++) {
		char quote[QUOTE_SIZE];
		const struct comparison *comparison = &metric->comparisons[i];
		print_name(out, metric->values);
		fprintf(out, ": %.6g -> ", comparison->reference->summary.mean);
		if (metric->comparison_count > 1) {
			text_escape(out, comparison->arm->name);
			fputc(' ', out);
		}
		fprintf(out, "%.6g: ", comparison->arm->summary.mean);
		text_escape(out, evaluation_quote(evaluation, metric, comparison, quote));
		fputc('\n', out);
	}
}

/* Says when values were too many for all of the resampling. */
static void print_bounds(
        FILE *out, const struct evaluation *evaluation, const struct verdict_style *style)
{
	const struct evaluate_options *options = &evaluation->options;
	if (!evaluation->bounded || style->student)
		return;
	if (options->resamples == 0)
		fputs("\nToo many values for bootstrap and permutations: left out\n", out);
	else
		fprintf(out,
		        "\nMany values: %zu resamples of the bootstrap and %zu permutations only\n",
		        options->resamples, options->permutations);
}

void verdict_write_text(
        FILE *out, const struct evaluation *evaluation, const struct verdict_style *style)
{
	for (size_t i = 0; i < evaluation->metric_count; i++) {
		bool full = (i == 0 || style->full) && !is_single(&evaluation->metrics[i]);
		if (full)
			print_metric(out, evaluation, i, style);
		else if (i == 1)
			fputs("\nOther metrics (means)\n", out);
		if (!full)
			print_line(out, evaluation, &evaluation->metrics[i]);
	}
	print_bounds(out, evaluation, style);
}
