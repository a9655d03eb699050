/*
 * Several records in one model, and what one process did since a copy of its record was made.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "loader/since.h"
#include "loader/sources.h"
#include "tests/sides.h"

#define LIBRARY "/nowhere/libshared.so.1"

static struct side side;
static char why[WHY_SIZE];

static void stop(void)
{
	side_close(&side);
}

static void add_module(struct synthetic *made, uint64_t base)
{
	*(struct record_module *)synthetic_add(made, REGION_MODULES) =
	        (struct record_module){ .start = base,
		        .end = base + 0x10000,
		        .file_offset = 0x2000,
		        .inode = 7,
		        .path = LIBRARY };
}

/*
 * A worker process: the shared library is mapped at base, a call of it waits for a lock in memory,
 * and another waits where a call of it holds the lock. n tells the processes' numbers apart.
 */
static struct synthetic worker(int pid, uint64_t base, uint64_t n)
{
	struct synthetic made = synthetic_new();
	made.header->pid = pid;
	made.header->start_ns += (uint64_t)pid;
	made.header->end_ns += (uint64_t)pid + n * 1000000000;
	add_module(&made, base);
	synthetic_lock(&made, 0x9000, synthetic_wait(3, 300 * n, 200 * n))->first_site = 1;
	synthetic_site(&made, base + 0x100, 0, synthetic_wait(2, 100 * n, 60))->module = 1;
	synthetic_site(&made, base + 0x200, 0, synthetic_wait(1, 200 * n, 200 * n))->module = 1;
	struct record_blame *blame = synthetic_blame(&made, base + 0x100, 1, 1, 200 * n);
	blame->holder_module = 1;
	uint64_t *frames = synthetic_add(&made, REGION_FRAMES);
	frames[0] = base + 0x100;
	*(uint64_t *)synthetic_add(&made, REGION_FRAMES) = base + 0x500;
	*(struct record_stack *)synthetic_add(&made, REGION_STACKS) =
	        (struct record_stack){ .hash = 5, .depth = 2, .holders = 1 };
	*(struct record_sample *)synthetic_add(&made, REGION_SAMPLES) =
	        (struct record_sample){ .waits = 2, .wait_ns_total = 100 * n };
	struct record_thread *thread = synthetic_thread(&made, (uint32_t)pid, "worker");
	thread->counters.mutex = (struct mutex_counters){
		.acquired = 10 * n, .contended = 3, .wait_ns_total = 300 * n, .wait_ns_max = 200 * n
	};
	made.header->lost_waits = n;
	made.header->stacks_due = 3;
	made.header->stacks_taken = 2;
	made.header->stack_ns_total = 4000;
	return made;
}

static void build_workers(void)
{
	struct synthetic first = worker(100, 0x7f0000000000, 1);
	struct synthetic second = worker(101, 0x7e1230000000, 2);
	side_add(&side, &first);
	side_add(&side, &second);
	side_build(&side);
}

START_TEST(totals_are_summed_and_processes_kept)
{
	build_workers();
	const struct model *model = side.model;
	ck_assert_uint_eq(model->process_count, 2);
	ck_assert_int_eq(model->processes[1].record->header.pid, 101);
	ck_assert_uint_eq(model->processes[1].counters.mutex.acquired, 20);
	ck_assert_uint_eq(model->counters.mutex.acquired, 30);
	ck_assert_uint_eq(model->counters.mutex.wait_ns_total, 900);
	ck_assert_uint_eq(model->counters.mutex.wait_ns_max, 400);
	ck_assert_uint_eq(model->gaps.lost_waits, 3);
	ck_assert_uint_eq(model->histograms[FAMILY_mutex][10], 6);
	ck_assert_uint_eq(model->duration_ns, 4500000001);
	ck_assert_uint_eq(model->name_count, 1);
	ck_assert_uint_eq(model->names[0].running, 2);
	ck_assert_uint_eq(model->names[0].process, MODEL_NONE);
	ck_assert_uint_eq(model->thread_count, 2);
}
END_TEST

START_TEST(calls_meet_wherever_their_file_was)
{
	build_workers();
	const struct model *model = side.model;
	ck_assert_uint_eq(model->site_count, 4);
	ck_assert_uint_eq(model->place_count, 2);
	ck_assert_uint_eq(model->places[0].wait.wait_ns_total, 600);
	ck_assert_uint_eq(mapped_offset(model->mapped, model->places[0].code), 0x2200);
	ck_assert_uint_eq(model->places[1].wait.waits, 4);
	ck_assert_uint_eq(model->places[1].locks, 2);
	ck_assert_uint_eq(model->pair_count, 1);
	ck_assert_uint_eq(model->pairs[0].wait_ns_total, 600);
	ck_assert_uint_eq(model->pairs[0].waits, 2);
	ck_assert_uint_eq(model->chain_count, 1);
	ck_assert_uint_eq(model->chains[0].waits, 4);
	ck_assert_uint_eq(model->chains[0].holders, 2);
	ck_assert_uint_eq(mapped_offset(model->mapped, model->chains[0].frames[1]), 0x2500);
}
END_TEST

START_TEST(locks_stay_those_of_their_process)
{
	build_workers();
	const struct model *model = side.model;
	ck_assert_uint_eq(model->lock_count, 2);
	ck_assert_uint_eq(model->locks[0].process, 1);
	ck_assert_uint_ne(model->locks[0].id, model->locks[1].id);
	for (size_t i = 0; i < model->site_count; i++) {
		const struct lock_row *lock = model_lock(model, model->sites[i].lock);
		ck_assert_ptr_nonnull(lock);
		ck_assert_uint_eq(lock->process, model->sites[i].process);
	}
	const struct site_row *first = model_site(model, model->locks[0].first_site);
	ck_assert_uint_eq(first->process, 1);
	char *text = side_written(
	        &side, write_text, &(struct write_options){ .top = WRITE_DEFAULT_TOP });
	expect_in(text, "abshim: 2 processes of server within 4.50 s; mutexes wait by yield:30\n");
	expect_in(text, "Processes, in the order of their records\n");
	expect_in(text, "  server                  101  exit(0)                     4.50 s"
	                "             20          3   600 ns\n");
	expect_in(text, " 0x9000 of 101 (normal)\n");
	expect_in(text, "held by libshared.so.1+0x2100\n");
	expect_in(text, "\nStacks, by time waited with them\n"
	                "  stacks of 4 of 6 waits and releases; taking one took 2.00 us\n");
	expect_in(text,
	        "   300 ns  100.0 %           4     75 ns             libshared.so.1+0x2100\n"
	        "                                                     libshared.so.1+0x2500\n");
	expect_width(text);
	free(text);
}
END_TEST

START_TEST(different_settings_are_told_apart)
{
	for (int i = 0; i < 3; i++) {
		struct synthetic made = worker(100 + i, 0x7f0000000000, 1);
		struct record_control *control = synthetic_entry(&made, REGION_CONTROL, 0);
		if (i > 0) {
			strcpy(control->mutex.name, "glibc");
			strcpy(control->rwlock.name, "spin:100");
			control->stats = STATS_HOLD;
			control->stack_depth = 16;
		}
		side_add(&side, &made);
	}
	side_build(&side);
	char *text = side_written(
	        &side, write_text, &(struct write_options){ .top = WRITE_DEFAULT_TOP });
	expect_in(text, "within 3.50 s; their settings differ:\n"
	                "  pid 100 and those like it: mutex=yield:30\n"
	                "  pid 101 and those like it: mutex=glibc rwlock=spin:100 stats=hold "
	                "stacks=16\n\n");
	free(text);
}
END_TEST

/* Code that lies in no file is another one in each process; a file of another inode is another. */
START_TEST(what_only_looks_equal_stays_apart)
{
	for (int i = 0; i < 2; i++) {
		struct synthetic made = worker(100 + i, 0x7f0000000000, 1);
		struct record_module *module = synthetic_entry(&made, REGION_MODULES, 0);
		module->inode = (uint64_t)i + 1;
		synthetic_site(&made, 0x5000, 0, synthetic_wait(1, 7, 7));
		side_add(&side, &made);
	}
	side_build(&side);
	ck_assert_uint_eq(side.model->place_count, 6);
	ck_assert_uint_eq(side.model->pair_count, 2);
	ck_assert_uint_eq(side.model->chain_count, 2);
}
END_TEST

START_TEST(damaged_stacks_are_left_out)
{
	struct synthetic made = worker(100, 0x7f0000000000, 1);
	const struct record_stack bad[] = {
		{ .hash = 1, .first_frame = 1, .depth = 2 },
		{ .hash = 1, .first_frame = UINT32_MAX, .depth = 2 },
		{ .hash = 1, .first_frame = 0, .depth = RECORD_MAX_STACK + 1 },
		{ .hash = 1, .first_frame = 0, .depth = 0 },
		{ .hash = 0, .first_frame = 0, .depth = 1 },
	};
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		*(struct record_stack *)synthetic_add(&made, REGION_STACKS) = bad[i];
		*(struct record_sample *)synthetic_add(&made, REGION_SAMPLES) =
		        (struct record_sample){ .waits = 1, .stack = i + 1 };
	}
	*(struct record_sample *)synthetic_add(&made, REGION_SAMPLES) =
	        (struct record_sample){ .waits = 1, .stack = UINT32_MAX };
	*(struct record_sample *)synthetic_add(&made, REGION_SAMPLES) =
	        (struct record_sample){ .waits = 5, .wait_ns_total = 9, .site = UINT32_MAX };
	side_add(&side, &made);
	side_build(&side);
	ck_assert_uint_eq(side.model->stack_count, 1);
	ck_assert_uint_eq(side.model->sample_count, 2);
	ck_assert_uint_eq(side.model->chains[0].waits, 7);
	ck_assert_uint_eq(side.model->samples[1].site, MODEL_NONE);
	ck_assert_ptr_null(model_stack(side.model, MODEL_NONE));
	ck_assert_ptr_null(model_site(side.model, 77));
}
END_TEST

/* Writes it to a file of the directory. */
static void save(const char *directory, const char *name, const struct synthetic *made, size_t size)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, made->bytes, size), (ssize_t)size);
	close(fd);
}

START_TEST(a_directory_stands_for_its_records)
{
	char directory[] = "/tmp/check_loader.XXXXXX", file[256], command[256];
	struct sources sources = { .count = 0 };
	ck_assert_ptr_nonnull(mkdtemp(directory));
	sources_add(&sources, directory);
	ck_assert(sources.fault); /* without records */
	ck_assert_uint_eq(sources.count, 0);
	sources_close(&sources);
	for (int i = 0; i < 3; i++) {
		struct synthetic made = worker(100 + i, 0x7f0000000000, 1);
		snprintf(file, sizeof(file), "server.%d.0%s", 100 + i,
		        i == 2 ? ".old" : RECORD_SUFFIX);
		save(directory, file, &made, made.size);
		if (i == 0)
			save(directory, "server.99.0.abshim", &made, 100);
		free(made.bytes);
	}
	sources_add(&sources, directory);
	ck_assert_uint_eq(sources.count, 2);
	ck_assert(!sources.fault); /* a damaged file in a directory is named, no more */
	snprintf(file, sizeof(file), "%s/server.101.0.abshim", directory);
	sources_add(&sources, file); /* it is there already */
	ck_assert_uint_eq(sources.count, 2);
	ck_assert(!sources.fault);
	snprintf(file, sizeof(file), "%s/server.99.0.abshim", directory);
	sources_add(&sources, file);
	ck_assert_uint_eq(sources.count, 2);
	ck_assert(sources.fault); /* a damaged file that was asked for */
	sources_close(&sources);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

/* The worker when two of its waits, and another thread, had not been yet. */
static struct synthetic earlier_worker(void)
{
	struct synthetic made = worker(100, 0x7f0000000000, 1);
	struct record_thread *thread = synthetic_entry(&made, REGION_THREADS, 0);
	thread->counters.mutex.acquired = 4;
	thread->counters.mutex.contended = 1;
	thread->counters.mutex.wait_ns_total = 200;
	struct record_lock *lock = synthetic_entry(&made, REGION_LOCKS, 0);
	lock->wait = synthetic_wait(1, 200, 200);
	struct record_site *site = synthetic_entry(&made, REGION_SITES, 0);
	site->wait = synthetic_wait(0, 0, 0);
	made.header->lost_waits = 0;
	struct record_thread *ends = synthetic_thread(&made, 300, "starts");
	ends->counters.mutex.acquired = 5;
	ends->counters.mutex.try_failed = 2;
	return made;
}

/* What it does later: that thread has changed its name and has ended. */
static void add_ended(struct synthetic *made)
{
	struct record_retired *other = synthetic_retired(made, 1, "other");
	other->counters.mutex.acquired = 1000;
	struct record_retired *ended = synthetic_retired(made, 1, "ends");
	ended->counters.mutex.acquired = 50;
	ended->counters.mutex.try_failed = 3;
	synthetic_thread(made, 0, "");
}

START_TEST(since_a_copy_only_the_rest_counts)
{
	struct synthetic now = worker(100, 0x7f0000000000, 1), then = earlier_worker();
	struct record_lock *lock_now = synthetic_entry(&now, REGION_LOCKS, 0);
	struct record_lock *lock_then = synthetic_entry(&then, REGION_LOCKS, 0);
	lock_now->read_hold = (struct hold_totals){ 5, 70, 20 };
	lock_then->read_hold = (struct hold_totals){ 2, 30, 20 };
	add_ended(&now);
	struct record *record = side_add(&side, &now);
	struct record *earlier = synthetic_read(&then, then.size, why);
	ck_assert_msg(since_subtract(record, earlier, why), "%s", why);
	record_free(earlier);
	free(then.bytes);
	side.sources[0].since = true;
	side_build(&side);
	const struct model *model = side.model;
	ck_assert_uint_eq(model->counters.mutex.acquired, 6 + 1000 + 45);
	ck_assert_uint_eq(model->counters.mutex.contended, 2);
	ck_assert_uint_eq(model->counters.mutex.try_failed, 1);
	ck_assert_uint_eq(model->counters.mutex.wait_ns_total, 100);
	ck_assert_uint_eq(model->counters.mutex.wait_ns_max, 200); /* of the whole */
	ck_assert_uint_eq(model->locks[0].lock.wait.waits, 2);
	ck_assert_uint_eq(model->locks[0].lock.wait.histogram[10], 2);
	ck_assert_uint_eq(model->locks[0].lock.read_hold.acquired, 3);
	ck_assert_uint_eq(model->locks[0].lock.read_hold.hold_ns_total, 40);
	ck_assert_uint_eq(model->site_count, 1); /* nobody waited at the other one */
	ck_assert_uint_eq(model->sites[0].wait.wait_ns_total, 100);
	ck_assert_uint_eq(model->blame_count, 0);
	ck_assert_uint_eq(model->gaps.lost_waits, 1);
	ck_assert_uint_eq(model->duration_ns, 0); /* the record does not know it */
	char *text = side_written(
	        &side, write_text, &(struct write_options){ .top = WRITE_DEFAULT_TOP });
	expect_in(text, "  - only what happened after the earlier copy was made");
	free(text);
}
END_TEST

/* The thread ended while the copy was made, which has met it twice: running, and ended. */
START_TEST(since_a_torn_copy_counts_nothing_twice)
{
	struct synthetic now = worker(100, 0x7f0000000000, 1), then = earlier_worker();
	add_ended(&now);
	synthetic_retired(&then, 1, "other");
	struct record_retired *ended = synthetic_retired(&then, 1, "ends");
	ended->counters.mutex.acquired = 5;
	ended->counters.mutex.try_failed = 2;
	struct record *record = side_add(&side, &now);
	struct record *earlier = synthetic_read(&then, then.size, why);
	ck_assert_msg(since_subtract(record, earlier, why), "%s", why);
	record_free(earlier);
	free(then.bytes);
	side.sources[0].since = true;
	side_build(&side);
	ck_assert_uint_eq(side.model->counters.mutex.acquired, 6 + 1000 + 45);
	ck_assert_uint_eq(side.model->counters.mutex.try_failed, 1);
}
END_TEST

/* The other way round, or with the record of another process, there is nothing to subtract. */
START_TEST(since_refuses_what_is_no_earlier_copy)
{
	struct synthetic now = worker(100, 0x7f0000000000, 1), then = earlier_worker();
	struct synthetic foreign = worker(101, 0x7f0000000000, 1);
	add_ended(&now);
	struct record *record = synthetic_read(&now, now.size, why);
	struct record *earlier = synthetic_read(&then, then.size, why);
	struct record *other = synthetic_read(&foreign, foreign.size, why);
	ck_assert(!since_subtract(earlier, record, why));
	ck_assert_str_eq(why,
	        "counts more than the record (mutex acquired): it is the later one of the two");
	ck_assert(!since_subtract(record, other, why));
	ck_assert_str_eq(why,
	        "is of another process (pid 101, not pid 100): give an earlier copy of "
	        "the same record");
	record_free(record);
	record_free(earlier);
	record_free(other);
	free(now.bytes);
	free(then.bytes);
	free(foreign.bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("several records");
	TCase *tcase = tcase_create("processes");
	tcase_add_checked_fixture(tcase, NULL, stop);
	tcase_add_test(tcase, totals_are_summed_and_processes_kept);
	tcase_add_test(tcase, calls_meet_wherever_their_file_was);
	tcase_add_test(tcase, locks_stay_those_of_their_process);
	tcase_add_test(tcase, different_settings_are_told_apart);
	tcase_add_test(tcase, what_only_looks_equal_stays_apart);
	tcase_add_test(tcase, damaged_stacks_are_left_out);
	tcase_add_test(tcase, a_directory_stands_for_its_records);
	tcase_add_test(tcase, since_a_copy_only_the_rest_counts);
	tcase_add_test(tcase, since_a_torn_copy_counts_nothing_twice);
	tcase_add_test(tcase, since_refuses_what_is_no_earlier_copy);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
