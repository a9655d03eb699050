/*
 * An evaluation as JSON: what is not known is null, never a number.
 */
#include <math.h>

#include "../json_members.h"
#include "write.h"

#define FORMAT_VERSION 1

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static const char *unit_word(enum metric_unit unit)
{
	static const char *const words[] = { [UNIT_NONE] = "",
		[UNIT_COUNT] = "count",
		[UNIT_RATE] = "1/s",
		[UNIT_SECONDS] = "s",
		[UNIT_BYTES] = "B",
		[UNIT_BYTE_RATE] = "B/s",
		[UNIT_RATIO] = "ratio" };
	return words[unit];
}

static const char *better_word(enum metric_better better)
{
	return better == BETTER_MORE ? "more" : better == BETTER_LESS ? "less" : "unknown";
}

static const char *kind_word(enum verdict_kind kind)
{
	static const char *const words[] = { [VERDICT_UNKNOWN] = "unknown",
		[VERDICT_DIFFERENT] = "different",
		[VERDICT_EQUIVALENT] = "equivalent",
		[VERDICT_UNDECIDED] = "undecided" };
	return words[kind];
}

static json_t *arm_object(const struct arm_values *arm)
{
	const struct stats_summary *summary = &arm->summary;
	json_t *values = json_array();
	for (size_t i = 0; arm->values != NULL && i < arm->n; i++)
		json_array_append_new(values, number(arm->values[i]));
	json_t *object = json_object();
	member_string(object, "name", arm->name);
	json_object_update_new(object,
	        json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "n", (json_int_t)summary->n,
	                "mean", number(summary->mean), "median", number(summary->median),
	                "median_upper", number(summary->median_upper), "stddev",
	                number(summary->stddev), "min", number(summary->min), "max",
	                number(summary->max), "values", values));
	return object;
}

static json_t *difference_object(const struct stats_difference *difference)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "difference",
	        number(difference->difference), "low", number(difference->low), "high",
	        number(difference->high), "relative", number(difference->relative), "relative_low",
	        number(difference->relative_low), "relative_high",
	        number(difference->relative_high), "p", number(difference->p), "df",
	        number(difference->df));
}

static json_t *student_object(const struct stats_student *student)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "difference",
	        number(student->difference), "error", number(student->error), "relative",
	        number(student->relative), "relative_error", number(student->relative_error),
	        "pooled_stddev", number(student->pooled), "proven", student->proven);
}

static json_t *comparison_object(const struct evaluation *evaluation,
        const struct evaluation_metric *metric, const struct comparison *comparison)
{
	char quote[QUOTE_SIZE];
	json_t *object = json_object();
	member_string(object, "reference", comparison->reference->name);
	member_string(object, "arm", comparison->arm->name);
	member_string(object, "verdict", kind_word(comparison->kind));
	member_string(object, "quote", evaluation_quote(evaluation, metric, comparison, quote));
	json_object_set_new(object, "welch", difference_object(&comparison->welch));
	json_object_set_new(object, "student", student_object(&comparison->student));
	json_object_set_new(object, "bootstrap", difference_object(&comparison->bootstrap));
	json_object_set_new(object, "paired", difference_object(&comparison->paired));
	json_object_set_new(object, "pairs", json_integer((json_int_t)comparison->pairs));
	json_object_set_new(object, "p_holm", number(comparison->p_holm));
	json_object_set_new(object, "p_mann_whitney", number(comparison->p_ranks));
	json_object_set_new(object, "p_brown_forsythe", number(comparison->p_spread));
	json_object_set_new(object, "stddev_ratio", number(comparison->spread_ratio));
	json_object_set_new(object, "p_equivalence", number(comparison->p_equivalence));
	return object;
}

static json_t *metric_object(
        const struct evaluation *evaluation, const struct evaluation_metric *metric)
{
	json_t *arms = json_array(), *comparisons = json_array();
	for (size_t i = 0; i < metric->values->arm_count; i++)
		json_array_append_new(arms, arm_object(&metric->values->arms[i]));
	for (size_t i = 0; i < metric->comparison_count; i++)
		json_array_append_new(comparisons,
		        comparison_object(evaluation, metric, &metric->comparisons[i]));
	json_t *object = json_object();
	member_string(object, "name", metric->values->name);
	member_string(object, "unit", unit_word(metric->values->unit));
	member_string(object, "better", better_word(metric->values->better));
	json_object_set_new(object, "arms", arms);
	json_object_set_new(object, "comparisons", comparisons);
	json_object_set_new(object, "p_drift", number(metric->p_drift));
	member_integer(object, "outliers", metric->outliers);
	return object;
}

json_t *verdict_json(const struct evaluation *evaluation)
{
	const struct evaluate_options *options = &evaluation->options;
	json_t *metrics = json_array();
	for (size_t i = 0; i < evaluation->metric_count; i++)
		json_array_append_new(metrics, metric_object(evaluation, &evaluation->metrics[i]));
	json_t *settings = json_pack("{s:f, s:o, s:I, s:I, s:I, s:s}", "level", options->level,
	        "equivalence",
	        options->equivalence > 0 ? number(options->equivalence) : json_null(), "seed",
	        (json_int_t)options->seed, "resamples", (json_int_t)options->resamples,
	        "permutations", (json_int_t)options->permutations, "relative_error",
	        options->convention == STATS_CLASSIC ? "classic" : "freebsd");
	return json_pack("{s:i, s:o, s:o}", "version", FORMAT_VERSION, "evaluation", settings,
	        "metrics", metrics);
}
