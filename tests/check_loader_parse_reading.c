/*
 * What all parsers share: numbers, lines, recognition, refusals, and that a text cut anywhere is
 * INCOMPLETE or says what the whole text says.
 */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/outputs.h"

static const struct {
	const char *text;
	double value; /* NAN: refused */
} numbers[] = {
	{ "0", 0 },
	{ "-1.5", -1.5 },
	{ "+2", 2 },
	{ ".5", 0.5 },
	{ "7.", 7 },
	{ "3.0E7", 3e7 },
	{ "1e-3", 1e-3 },
	{ "9223372036854775807", 9223372036854775807.0 },
	{ "0.12345678901234567890123456789", 0.12345678901234568 },
	{ "1,234", 1234 },
	{ "1,234,567.5", 1234567.5 },
	{ "", NAN },
	{ "-", NAN },
	{ ".", NAN },
	{ "e5", NAN },
	{ "1e", NAN },
	{ "1e999", NAN },
	{ "12,34", NAN },
	{ "1,2345", NAN },
	{ "1234,567", NAN },
	{ ",123", NAN },
	{ "1 2", NAN },
	{ "0x10", NAN },
	{ "inf", NAN },
	{ "12k", NAN },
	{ "1.2.3", NAN },
	{ "--1", NAN },
	{ "999999999999999999999999999999999999999999999999999999999999999999999999999999", NAN },
};

START_TEST(numbers_are_read)
{
	double value = 42;
	bool good = parse_number(numbers[_i].text, &value);
	ck_assert_msg(good == !isnan(numbers[_i].value), "'%s'", numbers[_i].text);
	if (good)
		ck_assert_double_eq(value, numbers[_i].value);
}
END_TEST

START_TEST(no_number_is_a_value_of_its_own)
{
	static const char *const texts[] = { "NaN", "nan", "-nan", "NAN" };
	double value;
	for (size_t i = 0; i < COUNT(texts); i++) {
		ck_assert(parse_number(texts[i], &value));
		ck_assert(isnan(value));
	}
	ck_assert(parse_time("NaN ms", 0, &value));
	ck_assert(isnan(value));
}
END_TEST

START_TEST(suffixes_times_and_sizes_are_read)
{
	double value;
	ck_assert(parse_number_suffixed("67.4k", &value) && is_close(value, 67400));
	ck_assert(parse_number_suffixed("2M", &value) && is_close(value, 2e6));
	ck_assert(parse_number_suffixed("3Gi", &value) && is_close(value, 3221225472.0));
	ck_assert(parse_number_suffixed("5", &value) && is_close(value, 5));
	ck_assert(!parse_number_suffixed("5x", &value));
	ck_assert(!parse_number_suffixed("5ki5", &value));
	ck_assert(parse_time("1.5ms", 0, &value) && is_close(value, 1.5e-3));
	ck_assert(parse_time("12 us", 0, &value) && is_close(value, 12e-6));
	ck_assert(parse_time("12\xc2\xb5s", 0, &value) && is_close(value, 12e-6));
	ck_assert(parse_time("3 seconds", 0, &value) && is_close(value, 3));
	ck_assert(parse_time("250 ns", 0, &value) && is_close(value, 250e-9));
	ck_assert(parse_time("1.00m", 0, &value) && is_close(value, 60));
	ck_assert(parse_time("2h", 0, &value) && is_close(value, 7200));
	ck_assert(parse_time("7", 1e-3, &value) && is_close(value, 7e-3));
	ck_assert(!parse_time("7", 0, &value));
	ck_assert(!parse_time("7 parsecs", 1, &value));
	ck_assert(parse_bytes("1.5MB", 1000, &value) && is_close(value, 1.5e6));
	ck_assert(parse_bytes("1.5MB", 1024, &value) && is_close(value, 1.5 * (1 << 20)));
	ck_assert(parse_bytes("292 MiB", 1000, &value) && is_close(value, 292.0 * (1 << 20)));
	ck_assert(parse_bytes("12 KB", 1000, &value) && is_close(value, 12000));
	ck_assert(!parse_bytes("12", 1000, &value));
	ck_assert(!parse_bytes("12 miles", 1000, &value));
}
END_TEST

/* Texts that are refused, by the parser that content finds (as NULL) or that is forced. */
static const struct {
	const char *as, *text, *why;
} refusals[] = {
	{ NULL, "", "text: is empty" },
	{ NULL, "hello, world\n", "text:1: no tool's output" },
	{ NULL, "1\n2\nthree\n", "text:3: 'three' in column 1; a number is needed" },
	{ NULL, "a=1e308k\n", "text:1: a is '1e308k'; a number is needed" },
	{ NULL, "a=1\nb=two\n", "text:2: b is 'two'; a number is needed" },
	{ NULL, "a=1\nnothing\n", "text:2: 'nothing'; key=NUMBER is needed" },
	{ "ycsb", "1\n2\n", "text: no result of YCSB" },
	{ "wrk", "hello\n", "text: no result of wrk" },
	{ NULL, "[OVERALL], RunTime(ms), soon\n", "text:1: runtime is 'soon'; a time is needed" },
	{ NULL, "[OVERALL], Throughput(ops/sec), 5\n[READ], Operations, x\n",
	        "text:2: [READ] Operations is 'x'" },
	{ NULL, "Results:\nOp rate : much op/s\n", "text:2: throughput is 'much op/s'" },
	{ NULL, "Results:\nOp rate : 5\nTotal operation time : 5 s\n",
	        "text:3: Total operation time is '5 s'; hours:minutes:seconds" },
	{ NULL, "sysbench 1.0.20\n  total time:  fast\n", "text:2: runtime is 'fast'" },
	{ NULL, "Query_type num_queries max_time min_time q_per_s\nselect 1 2 3\n",
	        "text:2: a row of 4 columns" },
	{ NULL, "Benchmark\n\tAverage number of seconds to run all queries: ? seconds\n",
	        "text:2: runtime.mean is '? seconds'" },
	{ NULL, "Type Ops/sec Hits/sec KB/sec\nSets 1 2\n",
	        "text:2: a row of 3 columns below a heading of 4" },
	{ NULL, "\"test\",\"rps\"\n\"SET\",\"many\"\n", "text:2: set.throughput is 'many'" },
	{ NULL, "Running 1s test @ http://h\n  Thread Stats\n    Latency 1ms 2ms\n",
	        "text:3: Latency with 2 columns" },
	{ NULL, "Running 1s test @ http://h\nRequests/sec: 1\nTransfer/sec: 1 furlong\n",
	        "text:3: bandwidth is '1 furlong'" },
	{ NULL, "This is ApacheBench\nTime taken for tests: 1 year\n",
	        "text:2: runtime is '1 year'" },
	{ NULL, "transaction type: x\ntps = fast (including)\n",
	        "text:2: connecting.throughput is 'fast (including)'" },
	{ NULL, "j: (groupid=0, jobs=1): err= 0: pid=1\n  read: BW=1MiB/s\n",
	        "text:2: IOPS is ': BW=1MiB/s'" },
	{ NULL, "{\"results\":[{\"command\":\"c\",\"times\":[\"x\"]}]}",
	        "text:1: times[0] of 'c' is no number" },
	{ NULL, "{\"results\":[\n{\"command\" 1}]}", "text:2: " },
	{ NULL, "{\"context\":{\"num_cpus\":1},\"benchmarks\":[]}", "text:1: no benchmarks" },
	{ NULL,
	        "{\"version\":1,\"process\":{\"executable\":\"x\"},\"totals\":{\"mutex\":"
	        "{\"acquired\":\"x\"}}}",
	        "text:1: totals.mutex.acquired is no integer" },
	{ NULL,
	        "    N           Min           Max        Median           Avg        Stddev\n"
	        "x  3  1  2\n",
	        "text:2: a damaged row" },
};

START_TEST(what_is_not_understood_is_refused)
{
	char why[WHY_SIZE] = "";
	const struct parser *as = refusals[_i].as != NULL ? parser_by_name(refusals[_i].as) : NULL;
	const char *text = refusals[_i].text;
	struct output *output = *text != '\0' ? read_text(text, strlen(text), as, why)
	                                      : output_read("/dev/null", as, why);
	ck_assert_msg(output == NULL, "'%s' is taken", text);
	const char *wanted = refusals[_i].why;
	if (*text == '\0')
		wanted = "/dev/null: is empty";
	ck_assert_msg(strncmp(why, wanted, strlen(wanted)) == 0, "'%s', not '%s'", why, wanted);
}
END_TEST

START_TEST(files_that_cannot_be_read_are_refused)
{
	char why[WHY_SIZE];
	ck_assert_ptr_null(output_read("/nowhere/file", NULL, why));
	ck_assert_str_eq(why, "/nowhere/file: cannot be opened: No such file or directory");
	ck_assert_ptr_null(output_read("/", NULL, why));
	ck_assert_str_eq(why, "/: cannot be read: Is a directory");
	ck_assert_ptr_null(parser_by_name("nonsense"));
}
END_TEST

START_TEST(names_of_parsers_are_their_own)
{
	ck_assert_uint_ge(parser_count, 18);
	for (size_t i = 0; i < parser_count; i++) {
		ck_assert_ptr_eq(parser_by_name(parsers[i]->name), parsers[i]);
		ck_assert_int_ne(parsers[i]->title[0], '\0');
	}
}
END_TEST

/* A terminal's file: \r\n, and a line that was written over and over. */
START_TEST(carriage_returns_end_or_replace_lines)
{
	struct output *output = read_as("redis-benchmark",
	        "SET: rps=0.0 (overall: nan)\rSET: rps=5 (overall: 5)\rSET: 250.50 requests per "
	        "second, p50=0.5 msec\r\n\r\nGET: 12 requests per second, p50=1 msec\r\n");
	expect(output, "", "set.throughput", 250.5);
	expect(output, "", "get.median", 1e-3);
	ck_assert(!output->results[0].incomplete);
	output_free(output);
}
END_TEST

static char *filled(size_t size, char byte, const char *tail)
{
	char *text = malloc(size + strlen(tail) + 1);
	ck_assert_ptr_nonnull(text);
	memset(text, byte, size);
	strcpy(text + size, tail);
	return text;
}

START_TEST(a_line_too_long_to_hold_is_refused)
{
	char why[WHY_SIZE] = "", *text = filled(300000, 'x', "\na=1\n");
	memcpy(text, "a=1\n", 4);
	ck_assert_ptr_null(read_text(text, strlen(text), NULL, why));
	ck_assert_str_eq(
	        why, "text:2: a line of more than 262144 bytes; results are lines of text");
	free(text);
	text = filled(300000, 'x', "\ra=2\n");
	memcpy(text, "a=1\n", 4);
	text[200000] = '\r';
	struct output *output = read_text(text, strlen(text), NULL, why);
	ck_assert_msg(output != NULL, "%s", why);
	ck_assert_uint_eq(output->results[0].series[0].count, 2);
	output_free(output);
	free(text);
}
END_TEST

START_TEST(lines_across_the_buffers_end_are_whole)
{
	size_t size = 3 << 20;
	char why[WHY_SIZE], *text = malloc(size + 64);
	size_t used = 0, lines = 0;
	ck_assert_ptr_nonnull(text);
	for (; used < size; lines++)
		used += (size_t)sprintf(text + used, "%zu # %*d\n", lines, (int)(lines % 29), 1);
	struct output *output = read_text(text, used, NULL, why);
	ck_assert_msg(output != NULL, "%s", why);
	const struct series *series = &output->results[0].series[0];
	ck_assert_uint_eq(series->count, lines);
	for (size_t i = 0; i < lines; i++)
		ck_assert_double_eq(series->values[i], (double)i);
	output_free(output);
	free(text);
}
END_TEST

START_TEST(keys_that_come_again_are_series)
{
	struct output *output = read_as("key-value",
	        "# of a program\nruns=3 p99=1.5ms\nrate=1,000\nrate=2k # and so on\nrate=3e3");
	const struct result *result = &output->results[0];
	expect(output, "", "runs", 3);
	expect(output, "", "p99", 1.5e-3);
	ck_assert_ptr_null(result_metric(result, "rate"));
	ck_assert_uint_eq(result->series_count, 1);
	ck_assert_uint_eq(result->series[0].count, 3);
	ck_assert_double_eq(result->series[0].values[1], 2000);
	ck_assert(!result->incomplete);
	output_free(output);
}
END_TEST

START_TEST(directions_are_known)
{
	struct output *output = read_as("key-value",
	        "throughput=1 errors=1 get.tps=1 latency.mean=1ms depth=1 read.stddev=1 x=1s\n");
	static const enum metric_better wanted[] = { BETTER_MORE, BETTER_LESS, BETTER_MORE,
		BETTER_LESS, BETTER_UNKNOWN, BETTER_LESS, BETTER_LESS };
	for (size_t i = 0; i < COUNT(wanted); i++)
		ck_assert_int_eq(output->results[0].metrics[i].better, wanted[i]);
	output_free(output);
}
END_TEST

START_TEST(a_report_of_abshim_gives_its_totals)
{
	struct output *output = read_as("abshim",
	        "{\"version\":1,\"process\":{\"name\":\"server\",\"executable\":\"/bin/server\","
	        "\"duration_ns\":2500000000},\"totals\":{\"mutex\":{\"acquired\":100,"
	        "\"contended\":7,\"wait_ns_total\":5000,\"wait_ns_max\":900,"
	        "\"histogram\":[1,2]},\"cond\":{\"parked\":3}}}");
	expect(output, "", "runtime", 2.5);
	expect(output, "", "mutex.acquired", 100);
	expect(output, "", "mutex.wait_total", 5e-6);
	expect(output, "", "mutex.wait_max", 9e-7);
	expect(output, "", "cond.parked", 3);
	ck_assert_int_eq(
	        result_metric(&output->results[0], "mutex.contended")->better, BETTER_LESS);
	output_free(output);
}
END_TEST

/* A result that claims to be whole says nothing that the whole text does not say. */
static void compare_cut(
        const struct output *whole, const struct output *cut, const char *name, size_t size)
{
	for (size_t i = 0; i < cut->result_count; i++) {
		const struct result *result = &cut->results[i];
		if (result->incomplete || result->invalid)
			continue;
		ck_assert_uint_lt(i, whole->result_count);
		for (size_t k = 0; k < result->metric_count; k++) {
			const struct metric *metric = &result->metrics[k],
			                    *other =
			                            result_metric(&whole->results[i], metric->name);
			ck_assert_msg(other != NULL && other->value == metric->value,
			        "%s: %zu bytes: %s is %.17g", name, size, metric->name,
			        metric->value);
		}
	}
}

static void cut_everywhere(const char *name)
{
	char path[512], text[8192], why[WHY_SIZE];
	snprintf(path, sizeof(path), "tests/data/outputs/%s", name);
	FILE *in = fopen(path, "r");
	ck_assert_ptr_nonnull(in);
	size_t size = fread(text, 1, sizeof(text), in);
	fclose(in);
	ck_assert_uint_lt(size, sizeof(text));
	struct output *whole = read_text(text, size, NULL, why);
	for (size_t end = 1; whole != NULL && end < size; end++) {
		struct output *cut = read_text(text, end, whole->parser, why);
		if (cut != NULL)
			compare_cut(whole, cut, name, end);
		output_free(cut);
	}
	output_free(whole);
}

START_TEST(nothing_is_made_up_of_a_cut_text)
{
	DIR *folder = opendir("tests/data/outputs");
	unsigned files = 0;
	ck_assert_ptr_nonnull(folder);
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		if (entry->d_name[0] == '.')
			continue;
		cut_everywhere(entry->d_name);
		files++;
	}
	closedir(folder);
	ck_assert_uint_ge(files, 30);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reading outputs");
	TCase *tcase = tcase_create("what parsers share");
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, numbers_are_read, 0, COUNT(numbers));
	tcase_add_test(tcase, no_number_is_a_value_of_its_own);
	tcase_add_test(tcase, suffixes_times_and_sizes_are_read);
	tcase_add_loop_test(tcase, what_is_not_understood_is_refused, 0, COUNT(refusals));
	tcase_add_test(tcase, files_that_cannot_be_read_are_refused);
	tcase_add_test(tcase, names_of_parsers_are_their_own);
	tcase_add_test(tcase, carriage_returns_end_or_replace_lines);
	tcase_add_test(tcase, a_line_too_long_to_hold_is_refused);
	tcase_add_test(tcase, lines_across_the_buffers_end_are_whole);
	tcase_add_test(tcase, keys_that_come_again_are_series);
	tcase_add_test(tcase, directions_are_known);
	tcase_add_test(tcase, a_report_of_abshim_gives_its_totals);
	tcase_add_test(tcase, nothing_is_made_up_of_a_cut_text);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
