/*
 * What the figures of two or more arms say: every test of every metric, and one line to quote.
 */
#ifndef LOADER_VERDICT_EVALUATE_H
#define LOADER_VERDICT_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>

#include "../parse/parse.h"
#include "../stats/stats.h"

/* One arm's values of one metric, in the order in which they were measured. */
struct arm_values {
	const char *name;          /* "a", "b", or a file's name */
	const double *values;      /* NULL: only the summary is known */
	const unsigned *blocks;    /* the block of each value, NULL: there are none */
	const unsigned *positions; /* the place of each run in the experiment, NULL: unknown */
	size_t n;
	struct stats_summary summary; /* of the values, or as it was given */
};

/* One metric of all arms. The first arm is the reference. */
struct metric_values {
	const char *name;
	enum metric_unit unit;
	enum metric_better better;
	struct arm_values *arms;
	size_t arm_count;
};

struct evaluate_options {
	double level;       /* 0.95 */
	double equivalence; /* relative margin, 0: not asked for */
	unsigned long seed; /* of all resampling */
	size_t resamples;
	size_t permutations;
	enum stats_convention convention;
};

/* What resampling may cost in all: resamples, and permutations, times values. Beyond, there are
 * fewer of them; where too few would be left for an interval, none. */
#define EVALUATE_WORK  100000000
#define EVALUATE_LEAST 1000

#define EVALUATE_DEFAULTS                                                                          \
	{                                                                                          \
		.level = 0.95, .seed = 1, .resamples = 10000, .permutations = 9999,                \
		.convention = STATS_CLASSIC                                                        \
	}

enum verdict_kind {
	VERDICT_UNKNOWN,    /* fewer than two values in an arm: nothing can be claimed */
	VERDICT_DIFFERENT,  /* by Welch's test, Holm's adjustment included */
	VERDICT_EQUIVALENT, /* by TOST, within the margin */
	VERDICT_UNDECIDED,  /* no difference shown */
};

/* An arm against the reference. */
struct comparison {
	const struct arm_values *reference, *arm;
	enum verdict_kind kind;
	struct stats_difference welch, bootstrap, paired;
	struct stats_student student;
	double p_holm; /* of Welch's p, over all metrics and arms */
	double p_ranks;
	double p_spread, spread_ratio; /* the arm's standard deviation over the reference's */
	double p_equivalence;          /* NAN when it was not asked for */
	size_t pairs;                  /* blocks that held both arms */
};

struct evaluation_metric {
	const struct metric_values *values;
	struct comparison *comparisons; /* arm_count - 1 */
	size_t comparison_count;
	double p_drift;  /* early against late runs; NAN when their places are unknown */
	size_t outliers; /* over all arms, by the modified z score */
};

struct evaluation {
	struct evaluate_options options;   /* resamples and permutations: as many as were done */
	bool bounded;                      /* fewer than asked for */
	struct evaluation_metric *metrics; /* as given: the first one is the primary metric */
	size_t metric_count;
	size_t family; /* comparisons that have a p value: what Holm's adjustment is for */
};

/* The values must outlive the evaluation. NULL: no memory. */
struct evaluation *evaluate(
        const struct metric_values *metrics, size_t count, const struct evaluate_options *options);
void evaluation_free(struct evaluation *evaluation);

#define QUOTE_SIZE 256
#define LEVEL_SIZE 24

/* A level in percent, "95", with as many digits as tell it from 100. Returns buffer. */
const char *level_text(double level, char buffer[LEVEL_SIZE]);

/* "b is 7.9 % faster (95 %: 6.1 to 9.6 %, n = 10+10)", "no difference shown (could be -0.8 to +1.1
 * %, ...)", "equivalent within 1 % (...)"; the change alone where nothing can be claimed. What is
 * quoted beside a verdict never speaks against it. Returns buffer. */
const char *evaluation_quote(const struct evaluation *evaluation,
        const struct evaluation_metric *metric, const struct comparison *comparison,
        char buffer[QUOTE_SIZE]);

#endif
