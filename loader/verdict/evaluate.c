/*
 * Puts every metric of every arm through all tests.
 */
#include "evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct stats_values values_of(const struct arm_values *arm)
{
	return (struct stats_values){ arm->values, arm->values != NULL ? arm->n : 0 };
}

/* The means of each block's values in both arms, for the blocks that have some. Returns their
 * number. */
static size_t pair_blocks(
        const struct arm_values *a, const struct arm_values *b, double *of_a, double *of_b)
{
	size_t pairs = 0;
	for (size_t i = 0; i < a->n; i++) {
		double sums[2] = { 0, 0 };
		size_t counts[2] = { 0, 0 };
		bool seen = false;
		for (size_t k = 0; k < i && !seen; k++)
			seen = a->blocks[k] == a->blocks[i];
		if (seen)
			continue;
		for (size_t k = 0; k < a->n; k++)
			if (a->blocks[k] == a->blocks[i])
				sums[0] += a->values[k], counts[0]++;
		for (size_t k = 0; k < b->n; k++)
			if (b->blocks[k] == a->blocks[i])
				sums[1] += b->values[k], counts[1]++;
		if (counts[1] == 0)
			continue;
		of_a[pairs] = sums[0] / (double)counts[0];
		of_b[pairs++] = sums[1] / (double)counts[1];
	}
	return pairs;
}

static bool compare_pairs(struct comparison *to, const struct evaluate_options *options)
{
	const struct arm_values *a = to->reference, *b = to->arm;
	to->paired = (struct stats_difference){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	if (a->blocks == NULL || b->blocks == NULL || a->values == NULL || b->values == NULL)
		return true;
	double *of_a = calloc(a->n + 1, sizeof(*of_a)), *of_b = calloc(a->n + 1, sizeof(*of_b));
	bool done = of_a != NULL && of_b != NULL;
	if (done) {
		to->pairs = pair_blocks(a, b, of_a, of_b);
		to->paired = stats_paired(of_a, of_b, to->pairs, options->level);
	}
	free(of_a);
	free(of_b);
	return done;
}

static bool compare_arms(struct comparison *to, const struct evaluate_options *options)
{
	const struct stats_summary *a = &to->reference->summary, *b = &to->arm->summary;
	struct stats_values av = values_of(to->reference), bv = values_of(to->arm);
	to->welch = stats_welch(a, b, options->level);
	to->student = stats_student(a, b, options->level, options->convention);
	if (a->mean < 0) { /* ministat's would change the sign; all others here do not */
		to->student.relative = -to->student.relative;
		to->student.relative_error = -to->student.relative_error;
	}
	to->p_equivalence = stats_tost(a, b, options->equivalence);
	to->spread_ratio = b->stddev / a->stddev; /* infinite against a reference without any */
	to->bootstrap = stats_bootstrap(av, bv, options->level,
	        av.n > 1 && bv.n > 1 ? options->resamples : 0, options->seed);
	to->p_ranks = stats_mann_whitney(av, bv);
	to->p_spread = stats_brown_forsythe(av, bv, options->permutations, options->seed);
	return compare_pairs(to, options);
}

static bool find_drift(struct evaluation_metric *metric, const struct evaluate_options *options)
{
	const struct metric_values *values = metric->values;
	struct stats_values *arms = calloc(values->arm_count + 1, sizeof(*arms));
	const unsigned **positions = calloc(values->arm_count + 1, sizeof(*positions));
	bool done = arms != NULL && positions != NULL, known = true;
	metric->p_drift = NAN;
	for (size_t i = 0; i < values->arm_count && done; i++) {
		arms[i] = values_of(&values->arms[i]);
		positions[i] = values->arms[i].positions;
		known = known && positions[i] != NULL && arms[i].n > 0;
		bool *flags = calloc(arms[i].n + 1, sizeof(*flags));
		done = flags != NULL;
		metric->outliers += done ? stats_outliers(arms[i], flags) : 0;
		free(flags);
	}
	if (done && known)
		metric->p_drift = stats_drift(
		        arms, positions, values->arm_count, options->permutations, options->seed);
	free(arms);
	free(positions);
	return done;
}

static bool evaluate_metric(struct evaluation_metric *metric, const struct metric_values *values,
        const struct evaluate_options *options)
{
	metric->values = values;
	metric->comparison_count = values->arm_count > 0 ? values->arm_count - 1 : 0;
	metric->comparisons = calloc(values->arm_count + 1, sizeof(*metric->comparisons));
	if (metric->comparisons == NULL)
		return false;
	for (size_t i = 0; i < metric->comparison_count; i++) {
		struct comparison *comparison = &metric->comparisons[i];
		comparison->reference = &values->arms[0];
		comparison->arm = &values->arms[i + 1];
		if (!compare_arms(comparison, options))
			return false;
	}
	return find_drift(metric, options);
}

/* The p value that goes into the family: Welch's, and where no value differs from another of its
 * arm, so that there is no t, that of Mann and Whitney. */
static double family_p(const struct comparison *comparison)
{
	bool few = comparison->reference->summary.n < 2 || comparison->arm->summary.n < 2;
	return !few && isnan(comparison->welch.p) ? comparison->p_ranks : comparison->welch.p;
}

/* A difference is one when Holm's adjustment leaves it one. */
static enum verdict_kind decide(
        const struct comparison *comparison, const struct evaluate_options *options)
{
	double alpha = 1 - options->level;
	if (comparison->reference->summary.n < 2 || comparison->arm->summary.n < 2)
		return VERDICT_UNKNOWN;
	if (comparison->p_equivalence < alpha)
		return VERDICT_EQUIVALENT;
	if (comparison->p_holm < alpha)
		return VERDICT_DIFFERENT;
	return VERDICT_UNDECIDED;
}

static bool adjust(struct evaluation *evaluation)
{
	size_t count = 0, at = 0;
	for (size_t i = 0; i < evaluation->metric_count; i++)
		count += evaluation->metrics[i].comparison_count;
	double *p = calloc(count + 1, sizeof(*p)), *adjusted = calloc(count + 1, sizeof(*adjusted));
	bool done = p != NULL && adjusted != NULL;
	for (size_t i = 0; i < evaluation->metric_count && done; i++)
		for (size_t k = 0; k < evaluation->metrics[i].comparison_count; k++)
			p[at++] = family_p(&evaluation->metrics[i].comparisons[k]);
	if (done)
		stats_holm(p, count, adjusted);
	for (size_t i = 0; i < count && done; i++)
		evaluation->family += !isnan(p[i]);
	at = 0;
	for (size_t i = 0; i < evaluation->metric_count && done; i++)
		for (size_t k = 0; k < evaluation->metrics[i].comparison_count; k++) {
			struct comparison *comparison = &evaluation->metrics[i].comparisons[k];
			comparison->p_holm = adjusted[at++];
			comparison->kind = decide(comparison, &evaluation->options);
		}
	free(p);
	free(adjusted);
	return done;
}

static size_t bounded(size_t asked, size_t values)
{
	size_t most = EVALUATE_WORK / (values > 0 ? values : 1);
	if (asked <= most)
		return asked;
	return most < EVALUATE_LEAST ? 0 : most;
}

static void bound_work(
        struct evaluation *evaluation, const struct metric_values *metrics, size_t count)
{
	struct evaluate_options *options = &evaluation->options;
	size_t values = 0, resamples = options->resamples, permutations = options->permutations;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 1; k < metrics[i].arm_count; k++)
			values +=
			        values_of(&metrics[i].arms[0]).n + values_of(&metrics[i].arms[k]).n;
	options->resamples = bounded(resamples, values);
	options->permutations = bounded(permutations, values);
	evaluation->bounded =
	        options->resamples < resamples || options->permutations < permutations;
}

struct evaluation *evaluate(
        const struct metric_values *metrics, size_t count, const struct evaluate_options *options)
{
	struct evaluation *evaluation = calloc(1, sizeof(*evaluation));
	if (evaluation == NULL)
		return NULL;
	evaluation->options = *options;
	bound_work(evaluation, metrics, count);
	evaluation->metrics = calloc(count + 1, sizeof(*evaluation->metrics));
	bool done = evaluation->metrics != NULL;
	for (size_t i = 0; i < count && done; i++) {
		evaluation->metric_count++;
		done = evaluate_metric(&evaluation->metrics[i], &metrics[i], &evaluation->options);
	}
	if (done && adjust(evaluation))
		return evaluation;
	evaluation_free(evaluation);
	return NULL;
}

void evaluation_free(struct evaluation *evaluation)
{
	if (evaluation == NULL)
		return;
	for (size_t i = 0; i < evaluation->metric_count; i++)
		free(evaluation->metrics[i].comparisons);
	free(evaluation->metrics);
	free(evaluation);
}
