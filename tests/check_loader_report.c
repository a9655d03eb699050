/*
 * What a record of known content becomes: exact sums in the model and in JSON, readable and bounded
 * lines in text.
 */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/text.h"
#include "loader/write.h"
#include "tests/synthetic.h"

static struct synthetic made;
static struct record *record;
static struct model *model;
static struct symbols *symbols;

static void start(void)
{
	made = synthetic_new();
}

static void stop(void)
{
	symbols_close(symbols);
	model_free(model);
	record_free(record);
	free(made.bytes);
}

static void build(void)
{
	char why[WHY_SIZE];
	record = synthetic_read(&made, made.size, why);
	ck_assert_msg(record != NULL, "%s", why);
	model = model_build(&(struct model_source){ .record = record, .wait_status = -1 }, 1);
	ck_assert_ptr_nonnull(model);
	symbols = symbols_open(model->mapped);
	ck_assert_ptr_nonnull(symbols);
}

static char *text_report(size_t top)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	const struct write_options options = { .top = top };
	ck_assert(write_text(out, model, symbols, &options));
	fclose(out);
	return text;
}

static json_t *json_report(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	const struct write_options options = { .top = WRITE_DEFAULT_TOP };
	ck_assert(write_json(out, model, symbols, &options));
	fclose(out);
	json_t *report = json_loads(text, 0, NULL);
	ck_assert_msg(report != NULL, "no JSON: %s", text);
	free(text);
	return report;
}

/* The integer at "a/b/0/c". */
static long long number_at(const json_t *value, const char *path)
{
	char copy[128], *rest = copy, *step;
	snprintf(copy, sizeof(copy), "%s", path);
	while ((step = strsep(&rest, "/")) != NULL)
		value = json_is_array(value) ? json_array_get(value, (size_t)atoi(step))
		                             : json_object_get(value, step);
	ck_assert_msg(json_is_integer(value), "%s is no integer", path);
	return json_integer_value(value);
}

static void expect_line(const char *text, const char *line)
{
	ck_assert_msg(strstr(text, line) != NULL, "\"%s\" is not in:\n%s", line, text);
}

static void expect_none(const char *text, const char *line)
{
	ck_assert_msg(strstr(text, line) == NULL, "\"%s\" is in:\n%s", line, text);
}

/* Two running threads of one name, three ended ones of it, and one of another. */
static void add_threads(void)
{
	struct record_thread *first = synthetic_thread(&made, 11, "conn");
	first->counters.mutex.acquired = UINT64_C(9007199254740993); /* more than a double holds */
	first->counters.mutex.contended = 5;
	first->counters.mutex.wait_ns_total = 1000;
	first->counters.mutex.wait_ns_max = 400;
	first->counters.cond.waits = 2;
	first->caused.wait_ns_total = 77;
	struct record_thread *second = synthetic_thread(&made, 12, "conn");
	second->counters.mutex.acquired = 10;
	second->counters.mutex.wait_ns_total = 500;
	second->counters.mutex.wait_ns_max = 500;
	struct record_retired *ended = synthetic_retired(&made, 3, "conn");
	ended->counters.mutex.acquired = 100;
	ended->counters.mutex.wait_ns_max = 100;
	ended->counters.cond.signal_wait_ns_max = 9;
	synthetic_thread(&made, 0, "free slot")->counters.mutex.acquired = 1000000;
	synthetic_retired(&made, 1, "quiet")->counters.mutex.acquired = 1;
}

START_TEST(threads_are_added_up_and_merged_by_name)
{
	add_threads();
	build();
	ck_assert_uint_eq(model->counters.mutex.acquired, UINT64_C(9007199254741104));
	ck_assert_uint_eq(model->counters.mutex.wait_ns_total, 1500);
	ck_assert_uint_eq(model->counters.mutex.wait_ns_max, 500);
	ck_assert_uint_eq(model->counters.cond.waits, 2);
	ck_assert_uint_eq(model->counters.cond.signal_wait_ns_max, 9);
	ck_assert_uint_eq(model->thread_count, 4);
	ck_assert_uint_eq(model->name_count, 2);
	const struct thread_row *conn = &model->names[0];
	ck_assert_str_eq(conn->name, "conn");
	ck_assert_uint_eq(conn->running, 2);
	ck_assert_uint_eq(conn->ended, 3);
	ck_assert_int_eq(conn->tid, 0);
	ck_assert_uint_eq(conn->counters.mutex.wait_ns_total, 1500);
	ck_assert_uint_eq(conn->counters.mutex.wait_ns_max, 500);
	ck_assert_uint_eq(conn->caused.wait_ns_total, 77);
	ck_assert_str_eq(model->names[1].name, "quiet");
}
END_TEST

/* Two locks waited for at one call site, one of them at a second site too. */
static void add_waits(void)
{
	synthetic_lock(&made, 0x1000, synthetic_wait(3, 300, 200))->first_site = 1;
	struct record_lock *busy = synthetic_lock(&made, 0x2000, synthetic_wait(4, 900, 600));
	busy->kind = 129;
	busy->destroyed = 1;
	synthetic_lock(&made, 0, synthetic_wait(9, 9, 9)); /* claimed, not valid */
	synthetic_site(&made, 0x401000, 0, synthetic_wait(3, 300, 200));
	synthetic_site(&made, 0x401000, 1, synthetic_wait(1, 400, 400));
	synthetic_site(&made, 0x402000, 1, synthetic_wait(3, 500, 300));
	synthetic_blame(&made, 0x402000, 0, 3, 300);
	synthetic_blame(&made, 0x402000, 1, 1, 400);
	synthetic_blame(&made, RECORD_HOLDER_UNKNOWN, 2, 3, 500);
	synthetic_blame(&made, 0, 2, 50, 5000); /* claimed, not valid */
	synthetic_thread(&made, 11, "conn")->counters.mutex.contended = 7;
}

START_TEST(sites_and_blame_are_merged_over_locks)
{
	add_waits();
	build();
	ck_assert_uint_eq(model->lock_count, 2);
	ck_assert_uint_eq(model->locks[0].lock.address, 0x2000);
	ck_assert_uint_eq(model->wait_ns_total, 1200);
	ck_assert_uint_eq(model->histograms[FAMILY_mutex][10], 7);
	ck_assert_uint_eq(model->site_count, 3);
	ck_assert_uint_eq(model->place_count, 2);
	ck_assert_uint_eq(model->places[0].code.address, 0x401000);
	ck_assert_uint_eq(model->places[0].locks, 2);
	ck_assert_uint_eq(model->places[0].wait.waits, 4);
	ck_assert_uint_eq(model->places[0].wait.wait_ns_total, 700);
	ck_assert_uint_eq(model->places[0].wait.wait_ns_max, 400);
	ck_assert_uint_eq(model->places[0].wait.histogram[10], 4);
	ck_assert_uint_eq(model->blame_count, 3);
	ck_assert_uint_eq(model->pair_count, 2);
	ck_assert_uint_eq(model->pairs[0].wait_ns_total, 700);
	ck_assert_uint_eq(model->pairs[0].holder.address, 0x402000);
	ck_assert_uint_eq(model->pairs[0].waiter.address, 0x401000);
	ck_assert_uint_eq(model->pairs[1].holder.address, 0);
}
END_TEST

START_TEST(pending_waits_are_settled)
{
	struct record_thread *holder = synthetic_thread(&made, 7, "holder");
	struct record_thread *waiter = synthetic_thread(&made, 8, "waiter");
	holder->counters.mutex.acquired = 1;
	waiter->counters.mutex = (struct mutex_counters){ .acquired = 3, .contended = 3 };
	synthetic_lock(&made, 0x1000, synthetic_wait(2, 100, 60));
	synthetic_site(&made, 0x2000, 0, synthetic_wait(2, 100, 60));
	waiter->pending = (struct record_pending){
		.lock = 1, .site = 1, .blame = 9, .holder_tid = 7, .wait_ns = 500
	};
	build();
	ck_assert_uint_eq(model->locks[0].lock.wait.waits, 3);
	ck_assert_uint_eq(model->locks[0].lock.wait.wait_ns_total, 600);
	ck_assert_uint_eq(model->locks[0].lock.wait.wait_ns_max, 500);
	ck_assert_uint_eq(model->locks[0].lock.wait.histogram[8], 1);
	ck_assert_uint_eq(model->sites[0].wait.waits, 3);
	ck_assert_uint_eq(model->blame_count, 0); /* a blame that is not in the record */
	for (size_t i = 0; i < model->thread_count; i++)
		ck_assert_uint_eq(model->threads[i].caused.wait_ns_total,
		        model->threads[i].tid == 7 ? 500 : 0);
}
END_TEST

START_TEST(json_is_exact)
{
	add_threads();
	add_waits();
	build();
	json_t *report = json_report();
	ck_assert_int_eq(number_at(report, "version"), 1);
	ck_assert_int_eq(number_at(report, "process/pid"), 4711);
	ck_assert_int_eq(number_at(report, "process/exit_status"), 0);
	ck_assert_int_eq(number_at(report, "process/duration_ns"), 2500000000);
	ck_assert_int_eq(number_at(report, "totals/mutex/acquired"), 9007199254741104);
	ck_assert_int_eq(number_at(report, "totals/mutex/contended"), 12);
	ck_assert_int_eq(number_at(report, "totals/mutex/histogram/10"), 7);
	ck_assert_int_eq(number_at(report, "totals/cond/waits"), 2);
	ck_assert_uint_eq(json_array_size(json_object_get(report, "threads")), 5);
	ck_assert_int_eq(number_at(report, "threads/0/tid"), 11);
	ck_assert_int_eq(number_at(report, "threads/0/mutex/acquired"), 9007199254740993);
	ck_assert_int_eq(number_at(report, "locks/0/id"), 1);
	ck_assert_int_eq(number_at(report, "locks/1/first_site"), 0);
	ck_assert_int_eq(number_at(report, "sites/0/lock"), 1);
	ck_assert_int_eq(number_at(report, "sites/0/wait_ns_total"), 500);
	ck_assert_int_eq(number_at(report, "blame/0/site"), 2);
	ck_assert_int_eq(number_at(report, "trust/passed_through"), 0);
	const json_t *lock = json_array_get(json_object_get(report, "locks"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(lock, "address")), "0x2000");
	ck_assert_str_eq(json_string_value(json_object_get(lock, "kind")), "recursive");
	ck_assert(json_is_true(json_object_get(lock, "shared")));
	ck_assert(json_is_true(json_object_get(lock, "destroyed")));
	ck_assert(json_is_null(json_object_get(lock, "first_site")));
	const json_t *settings = json_object_get(report, "settings");
	ck_assert_str_eq(json_string_value(json_object_get(settings, "mutex")), "yield:30");
	const json_t *environment = json_object_get(settings, "environment");
	ck_assert_str_eq(json_string_value(json_object_get(environment, "ABSHIM_REPORT")), "none");
	json_decref(report);
}
END_TEST

START_TEST(text_is_for_people)
{
	add_threads();
	add_waits();
	build();
	char *text = text_report(WRITE_DEFAULT_TOP);
	ck_assert_int_eq(strncmp(text, "abshim: server, pid 4711, exit(0) after 2.50 s; ", 48), 0);
	expect_line(text, "mutexes wait by yield:30\n");
	expect_line(text,
	        "900 ns   75.0 %           4    225 ns    600 ns   0x2000 (recursive, shared, "
	        "destroyed)\n");
	expect_line(text, "700 ns   58.3 %           4    175 ns    400 ns   0x401000 (2 locks)\n");
	expect_line(text, "held by a holder that was just changing\n");
	expect_line(text, "  conn                   6");
	expect_none(text, "free slot");
	expect_none(text, "--top");
	free(text);
	text = text_report(1);
	expect_line(text, "Locks, by time waited for them (1 of 2; --top N shows more)\n");
	expect_none(text, "0x1000 ");
	free(text);
}
END_TEST

START_TEST(doubts_come_first)
{
	add_threads();
	add_waits();
	struct record_thread *thread = synthetic_entry(&made, REGION_THREADS, 0);
	thread->counters.mutex.passed_through = 3000;
	made.header->lost_waits = 4;
	made.header->lost_ns = 5000;
	made.header->threads_lost = 6;
	thread->counters.rwlock.hold_lost = 12;
	made.header->created_lost = 7;
	made.header->regions[REGION_SAMPLES].lost = 1;
	made.header->state = RECORD_RUNNING;
	made.header->end_ns = 0;
	made.header->flags = RECORD_IN_MEMORY | RECORD_NOT_TMPFS | RECORD_SECCOMP | RECORD_FORKED |
	                     RECORD_ELISION;
	struct record_control *control = synthetic_entry(&made, REGION_CONTROL, 0);
	strcpy(control->mutex.name, "glibc");
	build();
	char *text = text_report(WRITE_DEFAULT_TOP);
	const char *end = strstr(text, "\nMutexes");
	ck_assert_ptr_nonnull(end);
	static const char *const lines[] = {
		"  - the end was not seen",
		"  - a forked child",
		"  - no record file could be made",
		"  - the record lies on a file system that writes to a disk",
		"  - a seccomp filter was installed",
		"  - 3,000 calls passed through to libc",
		"  - lock elision is on",
		"  - no room in the record: 6 threads, whose",
		"  - only in the totals and with the threads",
		"  - missing from the locks' times held: 12 acquisitions",
		"  - no room for where locks were initialised: 7 locks",
		"  - more stacks than room",
		"  - the glibc strategy waits inside libc",
		"  - the relock inside a condition wait",
		"  - blame goes to who held the lock when the wait began",
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		expect_line(text, lines[i]);
		ck_assert(strstr(text, lines[i]) < end);
	}
	expect_line(text, "Waits by length, without the 4 that found no room in the tables\n");
	expect_line(text, "abshim: server, pid 4711, ended unseen; mutexes wait by glibc\n");
	free(text);
}
END_TEST

START_TEST(names_cannot_steer_a_terminal)
{
	static const char bad[] = "\x1b[2J\xff\n\xe2\x80\xae";
	synthetic_thread(&made, 11, bad)->counters.mutex.acquired = 1;
	strcpy(made.header->executable, "/bin/");
	strcat(made.header->executable, bad);
	build();
	char *text = text_report(WRITE_DEFAULT_TOP);
	expect_line(text, "\\x1b[2J\\xff\\x0a\\xe2\\x80\\xae");
	ck_assert_ptr_null(strchr(text, '\x1b'));
	ck_assert_ptr_null(strstr(text, "\xff"));
	ck_assert_ptr_null(strstr(text, "\xe2\x80\xae"));
	free(text);
	json_t *report = json_report();
	const json_t *thread = json_array_get(json_object_get(report, "threads"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(thread, "name")),
	        "\x1b[2J\xef\xbf\xbd\n\xe2\x80\xae");
	json_decref(report);
}
END_TEST

/* The most that a record can make it say, with the default number of rows. */
START_TEST(text_fits_an_empty_pipe)
{
	char name[RECORD_NAME_SIZE];
	for (uint32_t i = 0; i < SYNTHETIC_CAPACITY; i++) {
		snprintf(name, sizeof(name), "%02u", i);
		memset(name + 2, 1, sizeof(name) - 3);
		name[sizeof(name) - 1] = '\0';
		struct record_thread *thread = synthetic_thread(&made, i + 1, name);
		memset(&thread->counters, 0x0f, sizeof(thread->counters));
		struct record_module *module = synthetic_add(&made, REGION_MODULES);
		*module = (struct record_module){
			.start = 0x1000 * (i + 1), .end = 0x1000 * (i + 2), .inode = 1
		};
		memset(module->path, 2, sizeof(module->path) - 1);
		snprintf(module->path, sizeof(module->path), "/proc/self/exe");
		struct record_lock *lock =
		        synthetic_lock(&made, UINT64_MAX - i, synthetic_wait(1, 1, 1));
		memset(&lock->wait, 0x0f, sizeof(lock->wait));
		memset(&lock->hold, 0x0f, sizeof(lock->hold));
		lock->created_address = UINT64_MAX - i * 16;
		struct record_site *site =
		        synthetic_site(&made, 0x1000 * (i + 1) + 0xfff, i, synthetic_wait(1, 1, 1));
		site->module = i + 1;
		memset(&site->wait, 0x0f, sizeof(site->wait));
		synthetic_blame(&made, 0x1000 * (i + 1), i, UINT64_MAX, UINT64_MAX)->holder_module =
		        i + 1;
		memset(synthetic_add(&made, REGION_FRAMES), 0xe0 + (int)i % 16, sizeof(uint64_t));
		struct record_stack *stack = synthetic_add(&made, REGION_STACKS);
		*stack = (struct record_stack){ .hash = 1, .first_frame = i % 4 * 16, .depth = 16 };
		struct record_sample *sample = synthetic_add(&made, REGION_SAMPLES);
		*sample = (struct record_sample){ UINT64_MAX / 64, UINT64_MAX / 64, i, i % 4 };
	}
	struct record_control *control = synthetic_entry(&made, REGION_CONTROL, 0);
	memset(control, 1, sizeof(*control));
	made.header->flags = UINT32_MAX;
	made.header->threads_lost = made.header->lost_waits = made.header->lost_ns = UINT64_MAX;
	made.header->retired_rest = 1;
	memset(made.header->executable, 1, sizeof(made.header->executable));
	for (int id = 0; id < REGION_COUNT; id++)
		made.header->regions[id].lost = 1;
	build();
	char *text = text_report(WRITE_DEFAULT_TOP);
	ck_assert_uint_gt(strlen(text), 4000);
	ck_assert_uint_lt(strlen(text), 16384);
	free(text);
}
END_TEST

START_TEST(lines_keep_to_the_width)
{
	struct record_module *module = synthetic_add(&made, REGION_MODULES);
	module->start = 0x500000;
	module->end = 0x600000;
	module->file_offset = UINT64_C(0x7000000000000000);
	strcpy(module->path, "/usr/lib/libverylongnamedlibrary.so.16.14.0");
	for (uint32_t lock = 0; lock < 3; lock++)
		synthetic_site(&made, 0x501000, lock, synthetic_wait(100000000, 10000000000000, 1))
		        ->module = 1;
	add_threads();
	add_waits();
	made.header->flags = UINT32_MAX;
	made.header->lost_waits = 123456789;
	build();
	char *text = text_report(WRITE_DEFAULT_TOP);
	for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
		ck_assert_msg(strcspn(line, "\n") <= 100, "%.*s", (int)strcspn(line, "\n"), line);
	free(text);
}
END_TEST

START_TEST(empty_record_is_empty)
{
	synthetic_thread(&made, 11, "idle")->caused.waits = 0;
	build();
	ck_assert(model->counted_nothing);
	ck_assert(model_record_is_empty(record));
}
END_TEST

START_TEST(durations_have_three_digits)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 1234, "1.23 us" },
		{ 9994, "9.99 us" },
		{ 9995, "10.0 us" },
		{ 99949, "99.9 us" },
		{ 99950, "100 us" },
		{ 999499, "999 us" },
		{ 999500, "1.00 ms" },
		{ 999499999, "999 ms" },
		{ 999500000, "1.00 s" },
		{ 12345678901, "12.3 s" },
		{ 12345678901234, "12,346 s" },
		{ UINT64_MAX, "18,446,744,074 s" },
	};
	char buffer[TEXT_NUMBER_SIZE];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ck_assert_str_eq(text_duration(buffer, cases[i].ns), cases[i].text);
	ck_assert_str_eq(text_count(buffer, 0), "0");
	ck_assert_str_eq(text_count(buffer, 999), "999");
	ck_assert_str_eq(text_count(buffer, 1000), "1,000");
	ck_assert_str_eq(text_count(buffer, 999999999999), "999,999,999,999");
	ck_assert_str_eq(text_count(buffer, UINT64_MAX), "1.845e+19");
	ck_assert_str_eq(text_percent(buffer, 1, 0), "-");
	ck_assert_str_eq(text_percent(buffer, 0, 3), "0.00 %");
	ck_assert_str_eq(text_percent(buffer, 1, 1000000), "<0.01 %");
	ck_assert_str_eq(text_percent(buffer, 1, 3), "33.3 %");
	ck_assert_str_eq(text_percent(buffer, 3, 3), "100.0 %");
	ck_assert_str_eq(text_percent(buffer, UINT64_MAX, 3), ">999 %");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reports");
	TCase *tcase = tcase_create("known content");
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, threads_are_added_up_and_merged_by_name);
	tcase_add_test(tcase, sites_and_blame_are_merged_over_locks);
	tcase_add_test(tcase, pending_waits_are_settled);
	tcase_add_test(tcase, json_is_exact);
	tcase_add_test(tcase, text_is_for_people);
	tcase_add_test(tcase, doubts_come_first);
	tcase_add_test(tcase, names_cannot_steer_a_terminal);
	tcase_add_test(tcase, text_fits_an_empty_pipe);
	tcase_add_test(tcase, lines_keep_to_the_width);
	tcase_add_test(tcase, empty_record_is_empty);
	suite_add_tcase(suite, tcase);
	TCase *numbers = tcase_create("numbers");
	tcase_add_test(numbers, durations_have_three_digits);
	suite_add_tcase(suite, numbers);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
