/*
 * The load of the experiment with MongoDB: its distributions are those of YCSB's generators, and
 * what it prints is read by the parser of YCSB's output.
 */
#include "outputs.h"
#include "scripts/experiments/ycsb/output.h"
#include "scripts/experiments/ycsb/workload.h"

#define DRAWS   1000000
#define RECORDS 1000

/* By adding up, which zeta() does for the first terms alone. */
static double zeta_plainly(uint64_t count, double theta)
{
	double sum = 0;
	for (uint64_t i = 1; i <= count; i++)
		sum += pow((double)i, -theta);
	return sum;
}

/* Chi-squared over its degrees of freedom, which is about 1 for the distribution that is meant. */
static double chi_squared(const unsigned *found, const double *shares, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++) {
		double wanted = shares[i] * DRAWS;
		sum += (found[i] - wanted) * (found[i] - wanted) / wanted;
	}
	return sum / (double)(count - 1);
}

START_TEST(sum_of_the_zipfian_distribution)
{
	static const uint64_t counts[] = { 1, 2, 10, 1000, 1001, 5000, 1000000 };
	for (size_t i = 0; i < COUNT(counts); i++) {
		double wanted = zeta_plainly(counts[i], ZIPFIAN_THETA);
		ck_assert_double_eq_tol(zeta(counts[i], ZIPFIAN_THETA), wanted, wanted * 1e-12);
	}
	/* As YCSB's ScrambledZipfianGenerator has it for its ten thousand million items. */
	ck_assert_double_eq_tol(zeta(10000000000U, 0.99), 26.46902820178302, 1e-8);
}
END_TEST

/* Gray's method gives the first two items their exact shares, and the rest together theirs. */
START_TEST(zipfian_draws)
{
	struct zipfian zipfian;
	uint64_t random = 42;
	unsigned found[3] = { 0 };
	zipfian_init(&zipfian, RECORDS, ZIPFIAN_THETA);
	double first = 1 / zipfian.zeta, second = pow(0.5, ZIPFIAN_THETA) / zipfian.zeta;
	double shares[3] = { first, second, 1 - first - second };
	for (unsigned i = 0; i < DRAWS; i++) {
		uint64_t item = zipfian_draw(&zipfian, &random);
		ck_assert_uint_lt(item, RECORDS);
		found[item < 2 ? item : 2]++;
	}
	ck_assert_double_lt(chi_squared(found, shares, 3), 4);
}
END_TEST

START_TEST(zipfian_grows_as_if_it_had_been_large)
{
	struct zipfian grown, large;
	zipfian_init(&grown, 10, ZIPFIAN_THETA);
	for (uint64_t count = 10; count <= 2000; count += 7)
		zipfian_grow(&grown, count);
	zipfian_init(&large, grown.count, ZIPFIAN_THETA);
	ck_assert_double_eq_tol(grown.zeta, large.zeta, 1e-10);
	ck_assert_double_eq_tol(grown.eta, large.eta, 1e-10);
}
END_TEST

static void draw_all(enum distribution distribution, unsigned *found)
{
	struct chooser chooser;
	uint64_t random = 7;
	chooser_init(&chooser, distribution, RECORDS, 0);
	for (unsigned i = 0; i < DRAWS; i++) {
		uint64_t record = chooser_draw(&chooser, RECORDS, &random);
		ck_assert_uint_lt(record, RECORDS);
		found[record]++;
	}
}

START_TEST(uniform_draws)
{
	unsigned found[RECORDS] = { 0 };
	double shares[RECORDS];
	for (size_t i = 0; i < RECORDS; i++)
		shares[i] = 1.0 / RECORDS;
	draw_all(DISTRIBUTION_UNIFORM, found);
	ck_assert_double_lt(chi_squared(found, shares, RECORDS), 1.2);
}
END_TEST

/* The most popular one of all items, 0, lies where its hash says, with more than its own share. */
START_TEST(zipfian_is_scattered)
{
	unsigned found[RECORDS] = { 0 };
	size_t most = 0;
	draw_all(DISTRIBUTION_ZIPFIAN, found);
	for (size_t i = 1; i < RECORDS; i++)
		if (found[i] > found[most])
			most = i;
	ck_assert_uint_eq(most, fnv_hash(0) % RECORDS);
	ck_assert_uint_gt(found[most], DRAWS / 26.47 * 0.98);
	ck_assert_uint_gt(found[fnv_hash(1) % RECORDS], DRAWS / 26.47 / 2);
	ck_assert_uint_lt(found[most], DRAWS / 10);
}
END_TEST

START_TEST(latest_are_popular)
{
	unsigned found[RECORDS] = { 0 };
	double first = 1 / zeta(RECORDS, ZIPFIAN_THETA);
	draw_all(DISTRIBUTION_LATEST, found);
	ck_assert_double_eq_tol(found[RECORDS - 1], first * DRAWS, first * DRAWS * 0.02);
	ck_assert_uint_gt(found[RECORDS - 1], found[RECORDS - 2]);
	ck_assert_uint_gt(found[RECORDS - 2], found[RECORDS - 10]);
	ck_assert_uint_gt(found[RECORDS - 10], found[0]);
}
END_TEST

/* What is not there yet is never asked for, and what comes is. */
START_TEST(inserted_records_are_chosen)
{
	static const enum distribution all[] = { DISTRIBUTION_UNIFORM, DISTRIBUTION_ZIPFIAN,
		DISTRIBUTION_LATEST };
	for (size_t i = 0; i < COUNT(all); i++) {
		struct chooser chooser;
		uint64_t random = 3, new = 0;
		chooser_init(&chooser, all[i], 100, 100);
		for (uint64_t records = 100; records <= 200; records++) {
			for (unsigned k = 0; k < 100; k++) {
				uint64_t record = chooser_draw(&chooser, records, &random);
				ck_assert_uint_lt(record, records);
				new += record >= 100;
			}
		}
		ck_assert_uint_gt(new, 100);
	}
}
END_TEST

/* "user" and the 64-bit FNV-1a hash of the eight bytes, as YCSB makes its keys. */
START_TEST(keys)
{
	char key[KEY_SIZE];
	workload_key(0, key);
	ck_assert_str_eq(key, "user6284781860667377211");
	workload_key(1, key);
	ck_assert_str_eq(key, "user8517097267634966620");
}
END_TEST

START_TEST(proportions_of_operations)
{
	struct workload workload;
	char why[200];
	unsigned found[OPERATIONS] = { 0 };
	double shares[OPERATIONS] = { 0.2, 0.3, 0, 0.3, 0.2 };
	uint64_t random = 5;
	workload_init(&workload);
	ck_assert_msg(workload_read(&workload, "scripts/experiments/ycsb/workloads/published", why),
	        "%s", why);
	for (unsigned i = 0; i < DRAWS; i++)
		found[workload_draw(&workload, &random)]++;
	ck_assert_uint_eq(found[OPERATION_INSERT], 0);
	shares[OPERATION_INSERT] = 1e-9;
	ck_assert_double_lt(chi_squared(found, shares, OPERATIONS), 3);
}
END_TEST

START_TEST(properties_that_are_refused)
{
	static const char *const bad[] = { "recordcount", "recordcount=", "recordcount=0",
		"recordcount=1x", "readproportion=1.5", "readproportion=nan",
		"requestdistribution=hotspot", "writeallfields=yes", "workload=other",
		"readallfields=false", "unknown=1" };
	struct workload workload;
	char why[200];
	workload_init(&workload);
	for (size_t i = 0; i < COUNT(bad); i++) {
		*why = '\0';
		ck_assert_msg(!workload_set(&workload, bad[i], why), "%s", bad[i]);
		ck_assert_msg(*why != '\0', "%s", bad[i]);
	}
	ck_assert(!workload_read(&workload, "/nowhere", why));
	ck_assert(workload_set(&workload, "minscanlength=2000", why));
	ck_assert(!workload_check(&workload, why));
}
END_TEST

START_TEST(percentiles)
{
	static struct histogram one, other;
	ck_assert_uint_eq(histogram_percentile(&one, 0.99), 0);
	for (uint64_t us = 1; us <= 100000; us++)
		histogram_add(us % 2 ? &one : &other, us);
	histogram_join(&one, &other);
	ck_assert_uint_eq(one.count, 100000);
	ck_assert_uint_eq(one.min, 1);
	ck_assert_uint_eq(one.max, 100000);
	for (double share = 0.01; share < 1; share += 0.01) {
		double found = (double)histogram_percentile(&one, share), wanted = share * 1e5;
		ck_assert_double_ge(found, wanted - 1);
		ck_assert_double_le(found, wanted * (1 + 1.0 / 128) + 1);
	}
	ck_assert_uint_eq(histogram_percentile(&one, 1), 100000);
	histogram_add(&other, UINT64_MAX);
	ck_assert_uint_eq(histogram_percentile(&other, 1), UINT64_MAX);
}
END_TEST

static double metric_of(const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->metric_count; i++)
		if (strcmp(result->metrics[i].name, name) == 0)
			return result->metrics[i].value;
	ck_abort_msg("no metric %s", name);
	return 0;
}

START_TEST(output_is_read)
{
	static struct measured measured;
	char *text;
	size_t size;
	measured.operations = 300;
	measured.runtime_ms = 1500;
	for (unsigned i = 1; i <= 100; i++) {
		histogram_add(&measured.good[OPERATION_READ], i);
		histogram_add(&measured.good[OPERATION_READ_MODIFY_WRITE], 2 * i);
	}
	histogram_add(&measured.good[SECTION_CLEANUP], 9);
	histogram_add(&measured.failed[OPERATION_READ], 5000);
	measured.outcomes[OPERATION_READ][OUTCOME_OK] = 100;
	measured.outcomes[OPERATION_READ][OUTCOME_NOT_FOUND] = 1;
	FILE *file = open_memstream(&text, &size);
	output_summary(file, &measured);
	fclose(file);
	struct output *output = read_as("ycsb", text);
	const struct result *result = &output->results[0];
	ck_assert_uint_eq(output->result_count, 1);
	ck_assert_msg(!result->incomplete, "%s", result->why);
	ck_assert_uint_eq(result->errors, 1);
	ck_assert(is_close(metric_of(result, "throughput"), 200));
	ck_assert(is_close(metric_of(result, "runtime"), 1.5));
	ck_assert(is_close(metric_of(result, "read.operations"), 100));
	ck_assert(is_close(metric_of(result, "read.mean"), 50.5e-6));
	ck_assert(is_close(metric_of(result, "read.p95"), 95e-6));
	ck_assert(is_close(metric_of(result, "read.max"), 100e-6));
	ck_assert(is_close(metric_of(result, "read-modify-write.mean"), 101e-6));
	output_free(output);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("the load of YCSB's kind");
	TCase *tcase = tcase_create("parts");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, sum_of_the_zipfian_distribution);
	tcase_add_test(tcase, zipfian_draws);
	tcase_add_test(tcase, zipfian_grows_as_if_it_had_been_large);
	tcase_add_test(tcase, uniform_draws);
	tcase_add_test(tcase, zipfian_is_scattered);
	tcase_add_test(tcase, latest_are_popular);
	tcase_add_test(tcase, inserted_records_are_chosen);
	tcase_add_test(tcase, keys);
	tcase_add_test(tcase, proportions_of_operations);
	tcase_add_test(tcase, properties_that_are_refused);
	tcase_add_test(tcase, percentiles);
	tcase_add_test(tcase, output_is_read);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
