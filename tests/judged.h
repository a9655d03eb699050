/*
 * Evaluations of a few values for the tests of verdicts.
 */
#ifndef TESTS_JUDGED_H
#define TESTS_JUDGED_H

#include <check.h>
#include <stdlib.h>

#include "loader/verdict/evaluate.h"
#include "loader/verdict/write.h"

#define ARMS_MOST 3

/* A metric of two arms or three and its evaluation. */
struct judged {
	struct arm_values arms[ARMS_MOST];
	struct metric_values metric;
	struct evaluation *evaluation;
};

static inline struct arm_values arm_of(const char *name, const double *values, size_t n)
{
	return (struct arm_values){ .name = name,
		.values = values,
		.n = n,
		.summary = stats_describe((struct stats_values){ values, n }) };
}

/* Evaluates the metric with the unit, direction and arms that are set in it already. */
static inline void judge(struct judged *judged, double equivalence)
{
	struct evaluate_options options = EVALUATE_DEFAULTS;
	options.equivalence = equivalence;
	judged->metric.arms = judged->arms;
	if (judged->metric.name == NULL)
		judged->metric.name = "figure";
	while (judged->metric.arm_count < ARMS_MOST &&
	        judged->arms[judged->metric.arm_count].name != NULL)
		judged->metric.arm_count++;
	judged->evaluation = evaluate(&judged->metric, 1, &options);
	ck_assert_ptr_nonnull(judged->evaluation);
}

static inline const struct comparison *judgement(const struct judged *judged)
{
	return &judged->evaluation->metrics[0].comparisons[0];
}

static inline void expect_quote(const struct judged *judged, const char *wanted)
{
	char quote[QUOTE_SIZE];
	ck_assert_str_eq(evaluation_quote(judged->evaluation, &judged->evaluation->metrics[0],
	                         judgement(judged), quote),
	        wanted);
}

#endif
