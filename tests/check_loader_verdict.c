/*
 * What is said of metrics: the line to quote, the text and the JSON, for every kind of verdict.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judged.h"

#define COUNT(array)     (sizeof(array) / sizeof(*(array)))
#define ARM(name, array) arm_of(name, array, COUNT(array))

static const double hundred[] = { 100, 101, 102 }, more[] = { 110, 111, 112 };
static const double one[] = { 1 }, two[] = { 2 }, zeros[] = { 0, 0, 0 };

START_TEST(quotes_say_what_is_good)
{
	static const struct {
		enum metric_unit unit;
		enum metric_better better;
		bool rises;
		const char *word;
	} cases[] = {
		{ UNIT_RATE, BETTER_MORE, true, "faster" },
		{ UNIT_RATE, BETTER_MORE, false, "slower" },
		{ UNIT_BYTE_RATE, BETTER_MORE, true, "faster" },
		{ UNIT_RATE, BETTER_LESS, true, "more" }, /* errors */
		{ UNIT_SECONDS, BETTER_LESS, true, "slower" },
		{ UNIT_SECONDS, BETTER_LESS, false, "faster" },
		{ UNIT_SECONDS, BETTER_UNKNOWN, true, "more" },
		{ UNIT_SECONDS, BETTER_MORE, false, "less" },
		{ UNIT_COUNT, BETTER_LESS, true, "more" },
		{ UNIT_COUNT, BETTER_MORE, false, "less" },
		{ UNIT_BYTES, BETTER_LESS, false, "less" },
		{ UNIT_RATIO, BETTER_MORE, true, "more" },
		{ UNIT_NONE, BETTER_UNKNOWN, true, "more" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		char wanted[QUOTE_SIZE];
		bool rises = cases[i].rises;
		struct judged judged = { .metric = { .unit = cases[i].unit,
			                         .better = cases[i].better },
			.arms = { ARM("a", hundred), ARM("b", more) } };
		if (!rises) {
			judged.arms[0] = ARM("a", more);
			judged.arms[1] = ARM("b", hundred);
		}
		judge(&judged, 0);
		snprintf(wanted, sizeof(wanted), "b is %s %% %s (95 %%: %s %%, n = 3+3)",
		        rises ? "9.9" : "9.0", cases[i].word,
		        rises ? "7.5 to 12.3" : "7.0 to 11.0");
		expect_quote(&judged, wanted);
		ck_assert_int_eq(judgement(&judged)->kind, VERDICT_DIFFERENT);
		evaluation_free(judged.evaluation);
	}
}
END_TEST

START_TEST(quotes_of_every_other_kind)
{
	static const double near[] = { 100.2, 101.1, 102.3 };
	static const double fives[] = { 5, 5, 5, 5 }, sixes[] = { 6, 6, 6, 6 };
	static const double spread[] = { -1, 0, 1 }, below[] = { -100, -101, -102 };
	static const double lower[] = { -110, -111, -112 };
	static const struct {
		const double *a, *b;
		size_t na, nb;
		double equivalence;
		enum verdict_kind kind;
		const char *quote;
	} cases[] = {
		{ hundred, near, 3, 3, 0, VERDICT_UNDECIDED,
		        "no difference shown (could be -2.1 to +2.5 %, n = 3+3)" },
		{ hundred, near, 3, 3, 0.05, VERDICT_EQUIVALENT,
		        "equivalent within 5 % (95 %: -2.1 to +2.5 %, n = 3+3)" },
		{ hundred, more, 3, 3, 0.05, VERDICT_DIFFERENT,
		        "b is 9.9 % more (95 %: 7.5 to 12.3 %, n = 3+3)" },
		{ below, lower, 3, 3, 0, VERDICT_DIFFERENT,
		        "b is 9.9 % less (95 %: 7.5 to 12.3 %, n = 3+3)" },
		{ one, two, 1, 1, 0.01, VERDICT_UNKNOWN, "+100.00 % (n = 1+1)" },
		{ one, more, 1, 3, 0, VERDICT_UNKNOWN, "+11000.00 % (n = 1+3)" },
		{ zeros, two, 1, 1, 0, VERDICT_UNKNOWN, "+2 (n = 1+1)" },
		{ zeros, more, 3, 3, 0, VERDICT_DIFFERENT,
		        "b differs by 111 (95 %: 108.516 to 113.484, n = 3+3)" },
		{ zeros, spread, 3, 3, 0, VERDICT_UNDECIDED,
		        "no difference shown (could be -2.48414 to +2.48414, n = 3+3)" },
		{ zeros, zeros, 3, 3, 0, VERDICT_UNDECIDED,
		        "no difference shown (+0, without any spread, n = 3+3)" },
		{ fives, fives, 4, 4, 0, VERDICT_UNDECIDED,
		        "no difference shown (+0.00 %, without any spread, n = 4+4)" },
		{ fives, sixes, 2, 2, 0, VERDICT_UNDECIDED,
		        "no difference shown (+20.00 %, without any spread, n = 2+2)" },
		{ fives, sixes, 3, 3, 0, VERDICT_UNDECIDED,
		        "no difference shown (+20.00 %, without any spread, n = 3+3)" },
		{ fives, sixes, 4, 4, 0, VERDICT_DIFFERENT,
		        "b is 20.00 % more (without any spread, n = 4+4)" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct judged judged = { .arms = { arm_of("a", cases[i].a, cases[i].na),
			                         arm_of("b", cases[i].b, cases[i].nb) } };
		judge(&judged, cases[i].equivalence);
		expect_quote(&judged, cases[i].quote);
		ck_assert_int_eq(judgement(&judged)->kind, cases[i].kind);
		evaluation_free(judged.evaluation);
	}
}
END_TEST

/* The interval that a quote has in parentheses: the two numbers beside "to". */
static bool interval_of(const char *quote, double *low, double *high)
{
	const char *to = strstr(quote, " to "), *from = to;
	if (to == NULL)
		return false;
	while (from > quote && from[-1] != ' ')
		from--;
	*low = strtod(from, NULL);
	*high = strtod(to + 4, NULL);
	return true;
}

static void expect_agreement(const struct evaluation *evaluation, size_t metric)
{
	char quote[QUOTE_SIZE];
	double low, high, margin = evaluation->options.equivalence * 100;
	const struct comparison *to = &evaluation->metrics[metric].comparisons[0];
	evaluation_quote(evaluation, &evaluation->metrics[metric], to, quote);
	if (!interval_of(quote, &low, &high))
		return;
	ck_assert_msg(low <= high, "%s", quote);
	if (to->kind == VERDICT_DIFFERENT)
		ck_assert_msg(low > 0 || high < 0, "%s", quote);
	else if (to->kind == VERDICT_UNDECIDED)
		ck_assert_msg(low <= 0 && high >= 0, "%s", quote);
	else
		ck_assert_msg(low >= -margin && high <= margin, "%s", quote);
}

#define FAMILY 4

/* Families of metrics of 2 to 5 values an arm, near 0 and far from it. */
START_TEST(quotes_never_contradict_their_verdict)
{
	size_t kinds[4] = { 0 }, adjusted = 0, absolute = 0;
	unsigned seed = 1;
	for (int round = 0; round < 5000; round++) {
		double values[2 * FAMILY][5];
		struct arm_values arms[2 * FAMILY];
		struct metric_values metrics[FAMILY];
		size_t n = 2 + (size_t)round % 4;
		double base = round % 3 == 0 ? 1 : round % 3 == 1 ? 10 : -100;
		for (size_t i = 0; i < 2 * FAMILY; i++) {
			double shift = (double)(rand_r(&seed) % 4);
			for (size_t k = 0; k < n; k++)
				values[i][k] = base + (double)(i % 2) * shift +
				               (double)(rand_r(&seed) % 1000) / 500;
			arms[i] = arm_of(i % 2 == 0 ? "a" : "b", values[i], n);
		}
		for (size_t i = 0; i < FAMILY; i++)
			metrics[i] = (struct metric_values){
				.name = "figure", .arms = &arms[2 * i], .arm_count = 2
			};
		struct evaluate_options options = EVALUATE_DEFAULTS;
		options.resamples = options.permutations = 0;
		options.equivalence = round % 2 == 0 ? 0.02 : 0;
		struct evaluation *evaluation = evaluate(metrics, FAMILY, &options);
		for (size_t i = 0; i < FAMILY; i++) {
			char quote[QUOTE_SIZE];
			const struct comparison *to = &evaluation->metrics[i].comparisons[0];
			expect_agreement(evaluation, i);
			evaluation_quote(evaluation, &evaluation->metrics[i], to, quote);
			kinds[to->kind]++;
			adjusted += strstr(quote, "after Holm's adjustment (98.75 %: ") != NULL;
			absolute += strstr(quote, "b differs by ") != NULL;
		}
		evaluation_free(evaluation);
	}
	ck_assert(kinds[VERDICT_DIFFERENT] > 100 && kinds[VERDICT_UNDECIDED] > 100);
	ck_assert(kinds[VERDICT_EQUIVALENT] > 100 && adjusted > 100 && absolute > 10);
}
END_TEST

static char *text_of(const struct judged *judged, bool student)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct verdict_style style = { .width = 40, .student = student };
	verdict_write_text(out, judged->evaluation, &style);
	fclose(out);
	return text;
}

START_TEST(an_uncertain_reference_has_no_share)
{
	static const double pair[] = { 1, 2 };
	static const double numbers[] = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
	struct judged judged = { .arms = { ARM("a", pair), ARM("b", numbers) } };
	judge(&judged, 0);
	ck_assert(judgement(&judged)->welch.relative_low < 0);
	expect_quote(&judged, "b differs by 6 (95 %: 3.54514 to 8.45486, n = 2+10)");
	char *text = text_of(&judged, false);
	ck_assert_msg(strstr(text, "+3.54514 to +8.45486), +400.00 %, p = 0.000394\n") != NULL,
	        "%s", text);
	free(text);
	evaluation_free(judged.evaluation);
}
END_TEST

START_TEST(a_steady_reference_makes_the_arm_less_steady)
{
	static const double steady[] = { 5, 5, 5, 5, 5 }, unsteady[] = { 1, 9, 2, 8, 5 };
	struct judged judged = { .arms = { ARM("a", steady), ARM("b", unsteady) } };
	judge(&judged, 0);
	char *text = text_of(&judged, false);
	ck_assert_msg(strstr(text, ": the arm is less steady\n") != NULL, "%s", text);
	free(text);
	evaluation_free(judged.evaluation);
}
END_TEST

START_TEST(levels_are_never_shown_as_certainty)
{
	char text[LEVEL_SIZE];
	ck_assert_str_eq(level_text(0.95, text), "95");
	ck_assert_str_eq(level_text(1 - 0.05 / 3, text), "98.3333");
	ck_assert_str_eq(level_text(0.999999999, text), "99.9999999");
}
END_TEST

START_TEST(digits_fit_the_interval)
{
	static const double steady[] = { 1e6, 1e6 + 1, 1e6 + 2 };
	static const double moved[] = { 1e6 + 10, 1e6 + 11, 1e6 + 12 };
	static const double wide[] = { 1, 50, 180 }, wider[] = { 900, 10, 600 };
	struct judged judged = { .arms = { ARM("a", steady), ARM("b", moved) } };
	judge(&judged, 0);
	expect_quote(&judged, "b is 0.00100 % more (95 %: 0.00077 to 0.00123 %, n = 3+3)");
	evaluation_free(judged.evaluation);
	judged = (struct judged){ .arms = { ARM("a", wide), ARM("b", wider) } };
	judge(&judged, 0);
	expect_quote(&judged, "no difference shown (could be -1069 to +2177 %, n = 3+3)");
	evaluation_free(judged.evaluation);
}
END_TEST

START_TEST(long_names_keep_their_end_and_the_figures)
{
	char name[600], quote[QUOTE_SIZE];
	memset(name, 'x', sizeof(name));
	strcpy(name + sizeof(name) - 6, "/last");
	struct judged judged = { .arms = { ARM("a", hundred), ARM(name, more) } };
	judge(&judged, 0);
	evaluation_quote(
	        judged.evaluation, &judged.evaluation->metrics[0], judgement(&judged), quote);
	ck_assert_ptr_nonnull(strstr(quote, "/last is 9.9 % more (95 %: 7.5 to 12.3 %, n = 3+3)"));
	evaluation_free(judged.evaluation);
	/* Ends that are alike tell nothing. */
	char other[sizeof(name)];
	memcpy(other, name, sizeof(name));
	memcpy(name + 99, "/before/", 8);
	memcpy(other + 99, "/after//", 8);
	judged =
	        (struct judged){ .arms = { ARM("a", hundred), ARM(name, more), ARM(other, more) } };
	judge(&judged, 0);
	evaluation_quote(
	        judged.evaluation, &judged.evaluation->metrics[0], judgement(&judged), quote);
	ck_assert_msg(strncmp(quote, "before/xxx", 10) == 0, "%s", quote);
	ck_assert_ptr_nonnull(strstr(quote, "x...xx"));
	ck_assert_ptr_nonnull(strstr(quote, "/last is 9.9 % more (95 %: 7.5 to 12.3 %, n = 3+3)"));
	evaluation_quote(judged.evaluation, &judged.evaluation->metrics[0],
	        &judged.evaluation->metrics[0].comparisons[1], quote);
	ck_assert_msg(strncmp(quote, "after//xxx", 10) == 0, "%s", quote);
	evaluation_free(judged.evaluation);
}
END_TEST

/* The JSON of an evaluation as it is printed, on one line. */
static char *json_of(const struct judged *judged)
{
	json_t *json = verdict_json(judged->evaluation);
	char *text = json_dumps(json, JSON_COMPACT);
	ck_assert_ptr_nonnull(text);
	json_decref(json);
	return text;
}

#define NO_INTERVAL                                                                                \
	"\"low\":null,\"high\":null,\"relative\":-0.5,\"relative_low\":null,\"relative_high\":"    \
	"null,\"p\":null,\"df\":null}"

START_TEST(json_of_single_runs_is_null_where_nothing_is_known)
{
	static const char wanted[] =
	        "{\"version\":1,\"evaluation\":{\"level\":0.94999999999999996,\"equivalence\":null,"
	        "\"seed\":1,\"resamples\":10000,\"permutations\":9999,\"relative_error\":"
	        "\"classic\"},"
	        "\"metrics\":[{\"name\":\"read.p99\",\"unit\":\"s\",\"better\":\"less\",\"arms\":["
	        "{\"name\":\"a\",\"n\":1,\"mean\":2.0,\"median\":2.0,\"median_upper\":2.0,"
	        "\"stddev\":null,\"min\":2.0,\"max\":2.0,\"values\":[2.0]},"
	        "{\"name\":\"b\xef\xbf\xbd\",\"n\":1,\"mean\":1.0,\"median\":1.0,\"median_upper\":"
	        "1.0,"
	        "\"stddev\":null,\"min\":1.0,\"max\":1.0,\"values\":[1.0]}],"
	        "\"comparisons\":[{\"reference\":\"a\",\"arm\":\"b\xef\xbf\xbd\","
	        "\"verdict\":\"unknown\",\"quote\":\"-50.00 % (n = 1+1)\","
	        "\"welch\":{\"difference\":-1.0," NO_INTERVAL ","
	        "\"student\":{\"difference\":-1.0,\"error\":null,\"relative\":-0.5,"
	        "\"relative_error\":null,\"pooled_stddev\":null,\"proven\":false},"
	        "\"bootstrap\":{\"difference\":-1.0," NO_INTERVAL ","
	        "\"paired\":{\"difference\":null,\"low\":null,\"high\":null,\"relative\":null,"
	        "\"relative_low\":null,\"relative_high\":null,\"p\":null,\"df\":null},\"pairs\":0,"
	        "\"p_holm\":null,\"p_mann_whitney\":1.0,\"p_brown_forsythe\":null,"
	        "\"stddev_ratio\":null,\"p_equivalence\":null}],\"p_drift\":null,\"outliers\":0}]"
	        "}";
	struct judged judged = { .metric = { "read.p99", UNIT_SECONDS, BETTER_LESS, NULL, 0 },
		.arms = { ARM("a", two), ARM("b\xff", one) } };
	judge(&judged, 0);
	char *text = json_of(&judged);
	ck_assert_msg(strcmp(text, wanted) == 0, "%s", text);
	free(text);
	evaluation_free(judged.evaluation);
}
END_TEST

static double number_at(const json_t *object, const char *group, const char *key)
{
	const json_t *value = json_object_get(json_object_get(object, group), key);
	ck_assert_msg(json_is_real(value), "%s.%s is no number", group, key);
	return json_real_value(value);
}

START_TEST(json_has_the_figures)
{
	struct judged judged = { .arms = { ARM("a", hundred), ARM("b", more) } };
	judge(&judged, 0.01);
	json_t *json = verdict_json(judged.evaluation);
	const json_t *metric = json_array_get(json_object_get(json, "metrics"), 0);
	const json_t *to = json_array_get(json_object_get(metric, "comparisons"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(to, "verdict")), "different");
	ck_assert(fabs(number_at(to, "welch", "relative") - 10.0 / 101) < 1e-15);
	ck_assert(fabs(number_at(to, "student", "error") - 2.776 * sqrt(2.0 / 3)) < 1e-12);
	ck_assert(fabs(number_at(to, "student", "pooled_stddev") - 1) < 1e-15);
	ck_assert(number_at(to, "bootstrap", "low") < 10 && number_at(to, "welch", "df") == 4);
	ck_assert(number_at(json, "evaluation", "equivalence") == 0.01);
	ck_assert(json_real_value(json_object_get(to, "p_equivalence")) > 0.9);
	ck_assert(json_real_value(json_object_get(to, "stddev_ratio")) == 1);
	json_decref(json);
	evaluation_free(judged.evaluation);
}
END_TEST

START_TEST(text_of_single_runs_is_a_line_an_arm)
{
	struct judged judged = { .metric = { "throughput", UNIT_RATE, BETTER_MORE, NULL, 0 },
		.arms = { ARM("a", two), ARM("b", one), ARM("c\033", two) } };
	judge(&judged, 0);
	char *text = text_of(&judged, false);
	ck_assert_str_eq(text, "throughput (1/s): 2 -> b 1: -50.00 % (n = 1+1)\n"
	                       "throughput (1/s): 2 -> c\\x1b 2: +0.00 % (n = 1+1)\n");
	free(text);
	judged.evaluation->metrics[0].comparison_count = 1;
	text = text_of(&judged, false);
	ck_assert_str_eq(text, "throughput (1/s): 2 -> 1: -50.00 % (n = 1+1)\n");
	free(text);
	evaluation_free(judged.evaluation);
}
END_TEST

START_TEST(text_names_the_arms)
{
	static const char head[] = "figure\n"
	                           "  b: no difference shown (could be -2.2 to +2.2 %, n = 3+3)\n"
	                           "  c is 9.9 % more (95 %: 7.5 to 12.3 %, n = 3+3)\n"
	                           "x a\n+ b\n* c\n    N  ";
	struct judged judged = { .arms = { ARM("a", hundred), ARM("b", hundred), ARM("c", more) } };
	judge(&judged, 0);
	char *text = text_of(&judged, false);
	ck_assert_msg(strncmp(text, head, sizeof(head) - 1) == 0, "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "\nb against a\n  Welch "));
	ck_assert_ptr_nonnull(strstr(text, "\nc against a\n  Welch "));
	ck_assert_ptr_nonnull(
	        strstr(text, "  spread                 p = 1: no difference shown\n"));
	ck_assert_ptr_null(strstr(text, "equivalence"));
	ck_assert_ptr_null(strstr(text, "nan"));
	free(text);
	evaluation_free(judged.evaluation);
}
END_TEST

START_TEST(text_of_student_is_as_ministats)
{
	struct judged judged = { .arms = { ARM("a", hundred), ARM("b", more) } };
	judge(&judged, 0);
	char *text = text_of(&judged, true);
	ck_assert_str_eq(text,
	        "figure\n"
	        "  b is 9.9 % more (95 %: 7.5 to 12.3 %, n = 3+3)\n"
	        "x a\n"
	        "+ b\n"
	        "    N           Min           Max        Median           Avg        Stddev\n"
	        "x   3           100           102           101           101             1\n"
	        "+   3           110           112           111           111             1\n"
	        "Difference at 95.0% confidence\n"
	        "\t10 +/- 2.26659\n"
	        "\t9.90099% +/- 2.24415%\n"
	        "\t(Student's t, pooled s = 1)\n");
	free(text);
	evaluation_free(judged.evaluation);
}
END_TEST

START_TEST(text_without_spread_or_reference_has_no_nan)
{
	static const double big[] = { 1e200, 2e200, 3e200 };
	struct judged judged = { .arms = { ARM("a", zeros), ARM("b", zeros), ARM("c", one) } };
	judge(&judged, 0.01);
	char *text = text_of(&judged, false);
	ck_assert_msg(strstr(text, "nan") == NULL && strstr(text, "inf") == NULL, "%s", text);
	free(text);
	free(json_of(&judged));
	evaluation_free(judged.evaluation);
	judged = (struct judged){ .arms = { ARM("a", big), ARM("b", hundred) } };
	judge(&judged, 0.01); /* squares overflow: nothing is known, and nothing ends the process */
	free(json_of(&judged));
	evaluation_free(judged.evaluation);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verdicts");
	TCase *tcase = tcase_create("verdicts");
	tcase_add_test(tcase, quotes_say_what_is_good);
	tcase_add_test(tcase, quotes_of_every_other_kind);
	tcase_add_test(tcase, quotes_never_contradict_their_verdict);
	tcase_add_test(tcase, an_uncertain_reference_has_no_share);
	tcase_add_test(tcase, a_steady_reference_makes_the_arm_less_steady);
	tcase_add_test(tcase, levels_are_never_shown_as_certainty);
	tcase_add_test(tcase, digits_fit_the_interval);
	tcase_add_test(tcase, long_names_keep_their_end_and_the_figures);
	tcase_add_test(tcase, json_of_single_runs_is_null_where_nothing_is_known);
	tcase_add_test(tcase, json_has_the_figures);
	tcase_add_test(tcase, text_of_single_runs_is_a_line_an_arm);
	tcase_add_test(tcase, text_names_the_arms);
	tcase_add_test(tcase, text_of_student_is_as_ministats);
	tcase_add_test(tcase, text_without_spread_or_reference_has_no_nan);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
