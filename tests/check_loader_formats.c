/*
 * What a record of known content becomes as folded stacks, as pprof's profile, as CSV and as
 * OpenMetrics: exact values, whatever the names are, and all of the time waited in each.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "loader/profile.pb-c.h"
#include "loader/shares.h"
#include "loader/write.h"
#include "tests/sampled.h"

static void expect_text(
        write_function *write, const struct write_options *options, const char *wanted)
{
	size_t size;
	char *text = written(write, options, &size);
	ck_assert_str_eq(text, wanted);
	free(text);
}

static void expect_line(const char *text, const char *line)
{
	ck_assert_msg(strstr(text, line) != NULL, "\"%s\" is not in:\n%s", line, text);
}

START_TEST(folded_stacks_hold_all_time)
{
	add_waits();
	build();
	expect_text(write_folded, &(struct write_options){ .by_holder = false },
	        "server;0x402000 500\n"
	        "server;0x412000;0x401000 200\n"
	        "server;0x421000;0x411000;0x401000 500\n"
	        "server;[lost] 500\n");
	expect_text(write_folded, &(struct write_options){ .by_holder = true },
	        "server;0x413000;0x402000 225\n"
	        "server;0x414000;0x402000 75\n"
	        "server;[lost] 500\n"
	        "server;[no holder] 800\n"
	        "server;[unknown holder] 100\n");
}
END_TEST

START_TEST(a_name_stays_one_frame)
{
	add_waits();
	strcpy(made.header->executable, "/bin/a;b\nc\xff");
	struct record_module *module = synthetic_add(&made, REGION_MODULES);
	*module = (struct record_module){ .start = 0x402000, .end = 0x403000 };
	strcpy(module->path, "/lib/x;y z.so");
	struct record_site *site = synthetic_entry(&made, REGION_SITES, 2);
	site->module = 1;
	build();
	size_t size;
	char *text = written(write_folded, &(struct write_options){ .by_holder = false }, &size);
	expect_line(text, "a:b\\x0ac\\xff;x:y z.so+0x0 500\n");
	free(text);
}
END_TEST

/* A linear congruential generator: Knuth's MMIX. */
static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 16;
}

static void sum_shares(bool (*make)(struct shares *, const struct model *))
{
	struct shares shares;
	uint64_t waits = 0, wait_ns = 0;
	ck_assert(make(&shares, model));
	for (size_t i = 0; i < shares.count; i++) {
		waits += shares.rows[i].waits;
		wait_ns += shares.rows[i].wait_ns;
	}
	ck_assert_uint_eq(waits, model->counters.mutex.contended);
	ck_assert_uint_eq(wait_ns, model->counters.mutex.wait_ns_total);
	shares_close(&shares);
}

START_TEST(shares_add_up)
{
	uint64_t state = (uint64_t)_i;
	struct record_thread *thread = synthetic_thread(&made, 1, "t");
	synthetic_lock(&made, 0x1000, synthetic_wait(1, 1, 1));
	for (uint32_t site = 0; site < 8; site++) {
		struct wait_totals wait =
		        synthetic_wait(next_random(&state) >> 20, next_random(&state) << 8, 1);
		synthetic_site(&made, 0x401000 + site, 0, wait);
		thread->counters.mutex.contended += wait.waits;
		thread->counters.mutex.wait_ns_total += wait.wait_ns_total;
		synthetic_blame(&made, 0x401000, site, wait.waits / 3, wait.wait_ns_total / 3);
		add_stack((const uint64_t[]){ 0x401000, 0x500000 + site }, 2,
		        (uint32_t)next_random(&state));
		for (uint32_t stack = 0; stack < site; stack++)
			add_sample(site, stack, next_random(&state), next_random(&state));
	}
	build();
	sum_shares(shares_of_waiters);
	sum_shares(shares_of_holders);
}
END_TEST

/* The caller frees it by pprof__profile__free_unpacked(). */
static struct Pprof__Profile *read_profile(const struct write_options *options)
{
	static unsigned char bytes[1 << 16];
	size_t size;
	char *text = written(write_pprof, options, &size);
	z_stream stream = { .next_in = (unsigned char *)text,
		.avail_in = (unsigned)size,
		.next_out = bytes,
		.avail_out = sizeof(bytes) };
	ck_assert_int_eq(inflateInit2(&stream, 15 + 16), Z_OK);
	ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	struct Pprof__Profile *profile = pprof__profile__unpack(NULL, stream.total_out, bytes);
	ck_assert_ptr_nonnull(profile);
	inflateEnd(&stream);
	free(text);
	return profile;
}

static const char *label_of(
        const struct Pprof__Profile *profile, const struct Pprof__Sample *sample, const char *key)
{
	for (size_t i = 0; i < sample->n_label; i++)
		if (strcmp(profile->string_table[sample->label[i]->key], key) == 0)
			return profile->string_table[sample->label[i]->str];
	return "";
}

/* The name of the n-th function, the innermost first. */
static const char *function_of(
        const struct Pprof__Profile *profile, const struct Pprof__Sample *sample, size_t n)
{
	const struct Pprof__Location *location = profile->location[sample->location_id[n] - 1];
	uint64_t function = location->line[0]->function_id;
	return profile->string_table[profile->function[function - 1]->name];
}

START_TEST(profile_holds_all_waits)
{
	add_waits();
	((struct record_site *)synthetic_entry(&made, REGION_SITES, 2))->mode = MODE_SHARED;
	build();
	struct Pprof__Profile *profile = read_profile(&(struct write_options){ .top = 1 });
	int64_t waits = 0, wait_ns = 0;
	for (size_t i = 0; i < profile->n_sample; i++) {
		waits += profile->sample[i]->value[0];
		wait_ns += profile->sample[i]->value[1];
		ck_assert_str_eq(label_of(profile, profile->sample[i], "type"), "mutex");
	}
	ck_assert_int_eq(waits, 9);
	ck_assert_int_eq(wait_ns, 1700);
	/* The longest first: the site without a stack, the one of 400 ns, the two of 300, the
	 * lost. */
	ck_assert_uint_eq(profile->n_sample, 5);
	ck_assert_int_eq(profile->sample[0]->value[1], 500);
	ck_assert_uint_eq(profile->sample[0]->n_location_id, 1);
	ck_assert_str_eq(label_of(profile, profile->sample[0], "lock"), "0x2000");
	ck_assert_str_eq(label_of(profile, profile->sample[0], "mode"), "shared");
	ck_assert_uint_eq(profile->sample[1]->n_location_id, 3);
	ck_assert_str_eq(function_of(profile, profile->sample[1], 0), "0x401000");
	ck_assert_str_eq(function_of(profile, profile->sample[1], 2), "0x421000");
	ck_assert_str_eq(label_of(profile, profile->sample[1], "mode"), "");
	ck_assert_int_eq(profile->sample[2]->value[0], 1);
	ck_assert_int_eq(profile->sample[2]->value[1], 100);
	ck_assert_int_eq(profile->sample[3]->value[0], 2);
	ck_assert_int_eq(profile->sample[3]->value[1], 200);
	ck_assert_str_eq(function_of(profile, profile->sample[4], 0), "[lost]");
	ck_assert_int_eq(profile->duration_nanos, 2500000000);
	ck_assert_str_eq(profile->string_table[profile->comment[0]], "/usr/sbin/server, pid 4711");
	pprof__profile__free_unpacked(profile, NULL);
	profile = read_profile(&(struct write_options){ .by_holder = true });
	ck_assert_int_eq(profile->sample[2]->value[1], 400);
	ck_assert_str_eq(function_of(profile, profile->sample[2], 0), "[no holder]");
	ck_assert_str_eq(function_of(profile, profile->sample[3], 1), "0x413000");
	pprof__profile__free_unpacked(profile, NULL);
}
END_TEST

#define CSV_HEADING                                                                                \
	"process,pid,by,family,name,key,members,acquired,waits,wait_ns_total,wait_ns_max,"         \
	"hold_ns_total,hold_ns_max\r\n"

static void measure_holds(void)
{
	struct record_control *control = synthetic_entry(&made, REGION_CONTROL, 0);
	control->stats = STATS_HOLD;
}

START_TEST(csv_rows_add_up)
{
	add_waits();
	measure_holds();
	build();
	expect_text(write_csv, &(struct write_options){ .top = 1 },
	        CSV_HEADING
	        "\"server\",4711,lock,mutex,\"0x2000\",\"0x2000\",1,60,4,900,600,5000,700\r\n"
	        "\"server\",4711,lock,mutex,\"0x1000\",\"0x1000\",1,0,3,300,200,0,0\r\n"
	        "\"server\",4711,lock,,\"(not in the tables)\",\"\",0,40,2,500,,0,\r\n");
}
END_TEST

/* A field is empty where nobody looked: the acquisitions are not lost. */
START_TEST(csv_says_nothing_of_what_was_not_measured)
{
	add_waits();
	build();
	expect_text(write_csv, &(struct write_options){ .top = 1 },
	        CSV_HEADING "\"server\",4711,lock,mutex,\"0x2000\",\"0x2000\",1,,4,900,600,,\r\n"
	                    "\"server\",4711,lock,mutex,\"0x1000\",\"0x1000\",1,,3,300,200,,\r\n"
	                    "\"server\",4711,lock,,\"(not in the tables)\",\"\",0,,2,500,,,\r\n");
}
END_TEST

START_TEST(readers_and_writers_hold)
{
	struct record_lock *lock = synthetic_lock(&made, 0x1000, synthetic_wait(2, 100, 60));
	lock->family = FAMILY_rwlock;
	lock->hold = (struct hold_totals){ 30, 5000, 700 };
	lock->read_hold = (struct hold_totals){ 10, 40, 800 };
	synthetic_thread(&made, 1, "t")->counters.rwlock =
	        (struct rwlock_counters){ .read_acquired = 10,
		        .write_acquired = 30,
		        .read_contended = 1,
		        .write_contended = 1,
		        .read_wait_ns_total = 60,
		        .write_wait_ns_total = 40,
		        .read_hold_ns_total = 40,
		        .write_hold_ns_total = 5000 };
	build();
	expect_text(write_csv, &(struct write_options){ .by = GROUP_TYPE },
	        CSV_HEADING
	        "\"server\",4711,type,rwlock,\"rwlock\",\"rwlock\",1,40,2,100,60,5040,800\r\n"
	        "\"server\",4711,type,,\"(not in the tables)\",\"\",0,0,0,0,,0,\r\n");
	size_t size;
	char *text = written(write_text, &(struct write_options){ .top = 1 }, &size);
	expect_line(text, "  5.04 us  <0.01 %          40    126 ns    800 ns   0x1000");
	free(text);
}
END_TEST

START_TEST(csv_fields_hold_any_name)
{
	strcpy(made.header->executable, "/bin/say \"a\", b");
	synthetic_thread(&made, 11, "x\"\",\r\n\xff")->counters.mutex.acquired = 1;
	build();
	expect_text(write_csv, &(struct write_options){ .by = GROUP_THREAD },
	        CSV_HEADING
	        "\"say \"\"a\"\", b\",4711,thread,,\"x\"\"\"\",\r\n\xef\xbf\xbd\","
	        "\"x\"\"\"\",\r\n\xef\xbf\xbd\",1,1,0,0,0,,\r\n"
	        "\"say \"\"a\"\", b\",4711,thread,,\"(not in the tables)\",\"\",0,0,0,0,,,\r\n");
}
END_TEST

START_TEST(openmetrics_are_exact)
{
	static const char *const lines[] = {
		"# TYPE abshim_mutex_wait_seconds counter\n"
		"# UNIT abshim_mutex_wait_seconds seconds\n"
		"# HELP abshim_mutex_wait_seconds mutexes: time spent waiting\n"
		"abshim_mutex_wait_seconds_total{process=\"server\",pid=\"4711\",thread=\"conn\"} "
		"0.000001700\n",
		"abshim_mutex_wait_max_seconds{process=\"server\",pid=\"4711\",thread=\"conn\"} "
		"0.000000600\n",
		"abshim_mutex_contended_total{process=\"server\",pid=\"4711\",thread=\"conn\"} 9\n",
		"abshim_duration_seconds{process=\"server\",pid=\"4711\"} 2.500000000\n",
		"abshim_setting{process=\"server\",pid=\"4711\",setting=\"mutex\","
		"value=\"yield:30\"} 1\n",
		"abshim_wait_duration_seconds_bucket{process=\"server\",pid=\"4711\","
		"family=\"mutex\",le=\"1.023e-06\"} 0\n",
		"abshim_wait_duration_seconds_bucket{process=\"server\",pid=\"4711\","
		"family=\"mutex\",le=\"2.047e-06\"} 7\n",
		"abshim_wait_duration_seconds_bucket{process=\"server\",pid=\"4711\","
		"family=\"mutex\",le=\"+Inf\"} 7\n",
		"abshim_wait_duration_seconds_sum{process=\"server\",pid=\"4711\","
		"family=\"mutex\"} 0.000001200\n",
		"abshim_lock_waits_total{process=\"server\",pid=\"4711\",family=\"mutex\","
		"lock=\"0x2000\"} 4\n"
		"abshim_lock_waits_total{process=\"server\",pid=\"4711\",family=\"\","
		"lock=\"(others)\"} 3\n"
		"abshim_lock_waits_total{process=\"server\",pid=\"4711\",family=\"\","
		"lock=\"(not in the tables)\"} 2\n",
		"abshim_lock_hold_seconds_total{process=\"server\",pid=\"4711\",family=\"mutex\","
		"lock=\"0x2000\"} 0.000005000\n",
		"abshim_site_waits_total{process=\"server\",pid=\"4711\",family=\"mutex\","
		"site=\"0x401000\"} 4\n",
	};
	add_waits();
	measure_holds();
	build();
	size_t size;
	char *text = written(write_openmetrics, &(struct write_options){ .top = 1 }, &size);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		expect_line(text, lines[i]);
	ck_assert_str_eq(text + size - 7, "\n# EOF\n");
	ck_assert_ptr_null(strstr(text, "abshim_rwlock_spun_total{"));
	free(text);
}
END_TEST

/* A lock for which nobody waited, and that was held longest of all, is one of the top ones. */
static void hold_without_waits(void)
{
	for (uint32_t i = 0; i < 3; i++)
		synthetic_lock(&made, 0x1000 * (i + 1), synthetic_wait(1, 100, 100))->hold =
		        (struct hold_totals){ 1, 10, 10 };
	synthetic_lock(&made, 0x9000, synthetic_wait(0, 0, 0))->hold =
	        (struct hold_totals){ 2, 7000, 6000 };
	synthetic_thread(&made, 11, "conn")->counters.mutex = (struct mutex_counters){
		.acquired = 5, .contended = 3, .wait_ns_total = 300, .hold_ns_total = 7030
	};
	measure_holds();
	build();
}

START_TEST(the_longest_held_is_among_the_top)
{
	size_t size;
	hold_without_waits();
	char *text = written(write_openmetrics, &(struct write_options){ .top = 1 }, &size);
	expect_line(text, "family=\"mutex\",lock=\"0x1000\"} 0.000000010\n");
	expect_line(text, "family=\"mutex\",lock=\"0x9000\"} 0.000007000\n");
	expect_line(text, "family=\"\",lock=\"(others)\"} 0.000000020\n");
	free(text);
	text = written(
	        write_groups_text, &(struct write_options){ .top = 1, .by = GROUP_LOCK }, &size);
	expect_line(text, "Locks, by time held (1 of 4; --top N shows more)\n");
	expect_line(text, "  7.00 us  <0.01 %           2   3.50 us   6.00 us           0x9000\n");
	expect_line(text,
	        "    30 ns  <0.01 %           3     10 ns     10 ns           (the rows not "
	        "shown)\n");
	free(text);
}
END_TEST

START_TEST(openmetrics_are_silent_of_what_was_not_measured)
{
	size_t size;
	add_waits();
	build();
	char *text = written(write_openmetrics, &(struct write_options){ .top = 1 }, &size);
	ck_assert_ptr_null(strstr(text, "abshim_lock_held"));
	expect_line(text, "# HELP abshim_stacks_due waits and releases of which");
	free(text);
}
END_TEST

START_TEST(openmetrics_escape_labels)
{
	synthetic_thread(&made, 11, "a\"b\\c\n\xff")->counters.mutex.acquired = 1;
	build();
	size_t size;
	char *text = written(write_openmetrics, &(struct write_options){ .top = 1 }, &size);
	expect_line(text, ",thread=\"a\\\"b\\\\c\\n\xef\xbf\xbd\"} 1\n");
	free(text);
}
END_TEST

/* Locks that had one address one after the other have the same labels. */
START_TEST(openmetrics_samples_are_unique)
{
	for (int i = 0; i < 3; i++)
		synthetic_lock(&made, 0x1000, synthetic_wait(2, 100, 60))->destroyed = 1;
	synthetic_thread(&made, 11, "conn")->counters.mutex =
	        (struct mutex_counters){ .contended = 6, .wait_ns_total = 300 };
	build();
	size_t size;
	char *text = written(write_openmetrics, &(struct write_options){ .top = 10 }, &size);
	expect_line(text, ",lock=\"0x1000\"} 2\n");
	expect_line(text, ",lock=\"0x1000#2\"} 2\n");
	expect_line(text, ",lock=\"0x1000#3\"} 0.000000100\n");
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("formats");
	TCase *tcase = tcase_create("known content");
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, folded_stacks_hold_all_time);
	tcase_add_test(tcase, a_name_stays_one_frame);
	tcase_add_loop_test(tcase, shares_add_up, 0, 50);
	tcase_add_test(tcase, profile_holds_all_waits);
	tcase_add_test(tcase, csv_rows_add_up);
	tcase_add_test(tcase, csv_says_nothing_of_what_was_not_measured);
	tcase_add_test(tcase, readers_and_writers_hold);
	tcase_add_test(tcase, csv_fields_hold_any_name);
	tcase_add_test(tcase, openmetrics_are_exact);
	tcase_add_test(tcase, openmetrics_escape_labels);
	tcase_add_test(tcase, the_longest_held_is_among_the_top);
	tcase_add_test(tcase, openmetrics_are_silent_of_what_was_not_measured);
	tcase_add_test(tcase, openmetrics_samples_are_unique);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
