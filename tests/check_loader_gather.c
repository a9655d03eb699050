/*
 * From outputs to the metrics of arms: what is pooled, what is left out, and what is said of it.
 */
#include "loader/verdict/gather.h"

#include "outputs.h"

#define FILES_MOST 4

/* Outputs of key=value lines, an arm each unless a test says otherwise. */
struct files {
	struct output *outputs[FILES_MOST];
	struct gather_arm arms[FILES_MOST];
};

static const char *const paths[FILES_MOST] = { "a.txt", "b.txt", "c.txt", "d.txt" };
static const char *const names[FILES_MOST] = { "a", "b", "c", "d" };

static void read_files(struct files *files, const char *const *texts, size_t count)
{
	char why[WHY_SIZE] = "";
	for (size_t i = 0; i < count; i++) {
		files->outputs[i] = read_text(texts[i], strlen(texts[i]), NULL, why);
		ck_assert_msg(files->outputs[i] != NULL, "%s", why);
		files->arms[i] = (struct gather_arm){ names[i], &paths[i],
			(const struct output *const *)&files->outputs[i], 1, 0 };
	}
}

static void free_files(struct files *files)
{
	for (size_t i = 0; i < FILES_MOST; i++)
		output_free(files->outputs[i]);
}

static const struct metric_values *metric_of(const struct gathered *gathered, const char *name)
{
	for (size_t i = 0; i < gathered->count; i++)
		if (strcmp(gathered->metrics[i].name, name) == 0)
			return &gathered->metrics[i];
	return NULL;
}

static struct gathered *gather_noted(
        const struct gather_arm *arms, size_t count, const char *const *notes, size_t note_count)
{
	struct gathered *gathered = gather(arms, count);
	ck_assert_ptr_nonnull(gathered);
	for (size_t i = 0; i < gathered->note_count && i < note_count; i++)
		ck_assert_str_eq(gathered->notes[i], notes[i]);
	ck_assert_uint_eq(gathered->note_count, note_count);
	return gathered;
}

START_TEST(files_of_an_arm_are_pooled_in_order)
{
	static const char *const texts[] = { "k=3\nk=1\n", "k=2\n", "k=5\n" };
	struct files files = { 0 };
	read_files(&files, texts, 3);
	files.arms[0].count = 2;
	files.arms[1] = files.arms[2];
	struct gathered *gathered = gather_noted(files.arms, 2, NULL, 0);
	const struct arm_values *arm = &metric_of(gathered, "k")->arms[0];
	ck_assert_uint_eq(arm->n, 3);
	ck_assert(arm->values[0] == 3 && arm->values[1] == 1 && arm->values[2] == 2);
	ck_assert(arm->summary.mean == 2 && arm->summary.median == 2);
	ck_assert_str_eq(arm->name, "a");
	ck_assert_uint_eq(metric_of(gathered, "k")->arms[1].n, 1);
	gathered_free(gathered);
	free_files(&files);
}
END_TEST

START_TEST(what_an_arm_lacks_is_said_once)
{
	static const char *const texts[] = { "k=3 u=1 v=1 w=1 x=1 y=1 z=1\n",
		"k=3 u=1 v=1 w=1 x=1 y=1 z=1\n", "k=2 other=3\n" };
	static const char *const notes[] = { "left out, since a lacks it: other",
		"left out, since b lacks it: u, v, w, x, y and others" };
	struct files files = { 0 };
	read_files(&files, texts, 3);
	files.arms[0].count = 2;
	files.arms[1] = files.arms[2];
	files.arms[1].name = "b";
	struct gathered *gathered = gather_noted(files.arms, 2, notes, 2);
	ck_assert_uint_eq(gathered->count, 1);
	ck_assert_str_eq(gathered->metrics[0].name, "k");
	gathered_free(gathered);
	free_files(&files);
}
END_TEST

START_TEST(the_fittest_metric_comes_first)
{
	static const struct {
		const char *text, *first, *second;
	} cases[] = {
		{ "errors=0 mean=3 throughput=5\n", "throughput", "errors" },
		{ "errors=0 mean=3\n", "mean", "errors" },
		{ "mean=3 other=1\n", "mean", "other" },
		{ "mean=3\nrepeated=1\nrepeated=2\n", "repeated", "mean" },
		{ "mean=3\nrepeated=1\nrepeated=2\nset.throughput=4\n", "set.throughput", "mean" },
		{ "set.throughput=4\nget.throughput=5\nthroughput=9\n", "throughput",
		        "set.throughput" },
		{ "set.throughputs=4\nrepeated=1\nrepeated=2\n", "repeated", "set.throughputs" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *const texts[] = { cases[i].text, cases[i].text };
		struct files files = { 0 };
		read_files(&files, texts, 2);
		struct gathered *gathered = gather_noted(files.arms, 2, NULL, 0);
		ck_assert_str_eq(gathered->metrics[0].name, cases[i].first);
		ck_assert_str_eq(gathered->metrics[1].name, cases[i].second);
		gathered_free(gathered);
		free_files(&files);
	}
}
END_TEST

/* An output of results, each with a metric "rate" of that value. */
static struct output *results_of(const char *const *labels, const double *values, size_t count)
{
	struct output *output = calloc(1, sizeof(*output));
	output->parser = parser_by_name("wrk");
	for (size_t i = 0; i < count; i++) {
		struct result *result = output_add_result(output, labels[i]);
		ck_assert(result_add(result, "rate", values[i], UNIT_RATE, BETTER_MORE, 0));
	}
	return output;
}

START_TEST(results_with_labels_are_never_pooled)
{
	static const char *const labels[] = { "threads=4", "threads=8" };
	static const double first[] = { 1, 2 }, second[] = { 3, 4 };
	struct files files = { { results_of(labels, first, 2), results_of(labels, second, 2) },
		{ { 0 } } };
	for (size_t i = 0; i < 2; i++)
		files.arms[i] = (struct gather_arm){ names[i], &paths[i],
			(const struct output *const *)&files.outputs[i], 1, 0 };
	struct gathered *gathered = gather_noted(files.arms, 2, NULL, 0);
	ck_assert_uint_eq(gathered->count, 2);
	const struct metric_values *metric = metric_of(gathered, "threads=8/rate");
	ck_assert_uint_eq(metric->arms[0].n, 1);
	ck_assert(metric->arms[0].values[0] == 2 && metric->arms[1].values[0] == 4);
	ck_assert(metric->unit == UNIT_RATE && metric->better == BETTER_MORE);
	gathered_free(gathered);
	/* one result of the output alone, against another one of it */
	files.arms[1].outputs = files.arms[0].outputs;
	files.arms[0].result = 1;
	files.arms[1].result = 2;
	gathered = gather_noted(files.arms, 2, NULL, 0);
	ck_assert_uint_eq(gathered->count, 1);
	metric = metric_of(gathered, "rate");
	ck_assert(metric->arms[0].values[0] == 1 && metric->arms[1].values[0] == 2);
	gathered_free(gathered);
	free_files(&files);
}
END_TEST

START_TEST(incomplete_and_invalid_results_are_left_out)
{
	static const char *const labels[] = { "run=1", "run=2", "run=3" };
	static const double values[] = { 1, 2, 3 };
	static const char *const notes[] = { "a.txt: run=1: INCOMPLETE: line 7 stops",
		"a.txt: run=2: invalid: 3 errors",
		"left out, since a lacks it: run=1/rate, run=2/rate" };
	struct files files = { { results_of(labels, values, 3), results_of(labels, values, 3) },
		{ { 0 } } };
	result_set_incomplete(&files.outputs[0]->results[0], "line %d stops", 7);
	result_set_invalid(&files.outputs[0]->results[1], "%d errors", 3);
	for (size_t i = 0; i < 2; i++)
		files.arms[i] = (struct gather_arm){ names[i], &paths[i],
			(const struct output *const *)&files.outputs[i], 1, 0 };
	struct gathered *gathered = gather_noted(files.arms, 2, notes, 3);
	ck_assert_uint_eq(gathered->count, 1);
	ck_assert_ptr_nonnull(metric_of(gathered, "run=3/rate"));
	gathered_free(gathered);
	files.arms[0].result = files.arms[1].result = 1;
	static const char *const nothing[] = { "a.txt: run=1: INCOMPLETE: line 7 stops",
		"left out, since a lacks it: rate" };
	gathered = gather_noted(files.arms, 2, nothing, 2);
	ck_assert_uint_eq(gathered->count, 0);
	gathered_free(gathered);
	free_files(&files);
}
END_TEST

START_TEST(what_is_not_one_thing_is_no_metric)
{
	static const char *const texts[] = { "k=1 t=5\n", "k=2 t=5ms\n", "1\n2\n" };
	static const char *const units[] = { "left out: t has other units in other files" };
	static const char other_tool[] =
	        "c.txt is output of another tool than a.txt: one number a line, as ministat takes "
	        "them, not key=value lines";
	static const char *const tools[] = { other_tool, "left out, since a lacks it: value",
		"left out, since c lacks it: k, t" };
	struct files files = { 0 };
	read_files(&files, texts, 3);
	struct gathered *gathered = gather_noted(files.arms, 2, units, 1);
	ck_assert_uint_eq(gathered->count, 1);
	gathered_free(gathered);
	files.arms[1] = files.arms[2];
	gathered = gather_noted(files.arms, 2, tools, 3);
	ck_assert_uint_eq(gathered->count, 0);
	gathered_free(gathered);
	free_files(&files);
}
END_TEST

START_TEST(summaries_stand_alone)
{
	static const char *const notes[] = {
		"left out: x is a summary, which cannot be pooled with others of its arm"
	};
	struct files files = { 0 };
	for (size_t i = 0; i < 3; i++) {
		struct output *output = calloc(1, sizeof(*output));
		struct summary *summary =
		        result_add_summary(output_add_result(output, ""), "x", 30);
		summary->mean = 100 + (double)i;
		summary->stddev = 2;
		files.outputs[i] = output;
		files.arms[i] = (struct gather_arm){ names[i], &paths[i],
			(const struct output *const *)&files.outputs[i], 1, 0 };
	}
	struct gathered *gathered = gather_noted(files.arms, 3, NULL, 0);
	const struct arm_values *arm = &metric_of(gathered, "x")->arms[2];
	ck_assert(arm->values == NULL && arm->n == 30 && arm->summary.n == 30);
	ck_assert(arm->summary.mean == 102 && arm->summary.stddev == 2);
	ck_assert(isnan(arm->summary.min));
	gathered_free(gathered);
	files.arms[0].count = 2;
	files.arms[1] = files.arms[2];
	gathered = gather_noted(files.arms, 2, notes, 1);
	ck_assert_uint_eq(gathered->count, 0);
	gathered_free(gathered);
	free_files(&files);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gathering");
	TCase *tcase = tcase_create("gathering");
	tcase_add_test(tcase, files_of_an_arm_are_pooled_in_order);
	tcase_add_test(tcase, what_an_arm_lacks_is_said_once);
	tcase_add_test(tcase, the_fittest_metric_comes_first);
	tcase_add_test(tcase, results_with_labels_are_never_pooled);
	tcase_add_test(tcase, incomplete_and_invalid_results_are_left_out);
	tcase_add_test(tcase, what_is_not_one_thing_is_no_metric);
	tcase_add_test(tcase, summaries_stand_alone);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
