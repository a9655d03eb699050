/*
 * Outputs of tools for the tests of parsers: read from a string or from tests/data/outputs, and the
 * figures that must be found in them.
 */
#ifndef TESTS_OUTPUTS_H
#define TESTS_OUTPUTS_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loader/parse/parse.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A metric of a result; a value of NAN: the result must not have it. */
struct wanted {
	const char *source; /* a file's name, or another that means something to the test */
	const char *label;
	const char *metric;
	double value;
	enum metric_unit unit;
	unsigned flags;
};

/* text: NULL when it must be refused; the reason is in why then. */
static inline struct output *read_text(
        const char *text, size_t size, const struct parser *as, char why[WHY_SIZE])
{
	FILE *in = fmemopen((char *)text, size, "r");
	ck_assert_ptr_nonnull(in);
	struct output *output = output_read_stream(in, "text", as, why);
	fclose(in);
	return output;
}

/* Read as the parser of that name, which must be found by content, too. */
static inline struct output *read_as(const char *parser, const char *text)
{
	char why[WHY_SIZE] = "";
	struct output *output = read_text(text, strlen(text), NULL, why);
	ck_assert_msg(output != NULL, "%s: %s", parser, why);
	ck_assert_str_eq(output->parser->name, parser);
	ck_assert_ptr_eq(parser_by_name(parser), output->parser);
	return output;
}

static inline const struct result *result_labelled(const struct output *output, const char *label)
{
	for (size_t i = 0; i < output->result_count; i++)
		if (strcmp(output->results[i].label, label) == 0)
			return &output->results[i];
	ck_abort_msg("%s: no result '%s'", output->parser->name, label);
	return NULL;
}

static inline bool is_close(double found, double wanted)
{
	return fabs(found - wanted) <= 1e-12 * fabs(wanted);
}

static inline void expect_metric(const struct output *output, const struct wanted *wanted)
{
	const struct result *result = result_labelled(output, wanted->label);
	const struct metric *metric = result_metric(result, wanted->metric);
	if (isnan(wanted->value)) {
		ck_assert_msg(metric == NULL, "%s has %s", wanted->source, wanted->metric);
		return;
	}
	ck_assert_msg(metric != NULL, "%s: no %s", wanted->source, wanted->metric);
	ck_assert_msg(is_close(metric->value, wanted->value), "%s: %s is %.17g, not %.17g",
	        wanted->source, wanted->metric, metric->value, wanted->value);
	ck_assert_msg(metric->unit == wanted->unit && metric->flags == wanted->flags,
	        "%s: %s has unit %d and flags %u", wanted->source, wanted->metric, metric->unit,
	        metric->flags);
}

/* A metric of the result of that label, in short. */
static inline void expect(
        const struct output *output, const char *label, const char *metric, double value)
{
	const struct metric *found = result_metric(result_labelled(output, label), metric);
	struct wanted wanted = { output->parser->name, label, metric, value,
		found != NULL ? found->unit : UNIT_NONE, found != NULL ? found->flags : 0 };
	expect_metric(output, &wanted);
}

#endif
