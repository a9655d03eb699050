/*
 * Reading records: complete ones exactly, damaged ones with one line, and none with a crash (the
 * sanitizers watch).
 */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/write.h"
#include "tests/synthetic.h"

static struct synthetic made;
static char why[WHY_SIZE];

static void make_record(void)
{
	made = synthetic_new();
	struct record_thread *thread = synthetic_thread(&made, 4711, "main");
	thread->counters.mutex.acquired = 1000;
	thread->counters.mutex.contended = 10;
	thread->counters.mutex.wait_ns_total = 5000;
	synthetic_retired(&made, 3, "worker")->counters.mutex.acquired = 7;
	synthetic_lock(&made, 0x1000, synthetic_wait(10, 5000, 900))->first_site = 1;
	synthetic_site(&made, 0x401000, 0, synthetic_wait(10, 5000, 900))->module = 1;
	synthetic_blame(&made, 0x402000, 0, 10, 5000)->holder_module = 1;
	struct record_module *module = synthetic_add(&made, REGION_MODULES);
	module->start = 0x400000;
	module->end = 0x410000;
	strcpy(module->path, "/nowhere/server");
}

static void free_record(void)
{
	free(made.bytes);
}

/* Reads the record and writes every kind of report of it, whatever it holds. */
static bool survives(size_t size)
{
	struct record *record = synthetic_read(&made, size, why);
	if (record == NULL) {
		ck_assert_str_ne(why, "");
		ck_assert_ptr_null(strchr(why, '\n'));
		return false;
	}
	const struct model_source source = { .record = record, .wait_status = -1 };
	const struct write_options options = { .top = WRITE_DEFAULT_TOP, .by = GROUP_CREATION };
	struct model *model = model_build(&source, 1);
	ck_assert_ptr_nonnull(model);
	struct symbols *symbols = symbols_open(model->mapped);
	ck_assert_ptr_nonnull(symbols);
	const struct write_side sides[2] = { { model, symbols }, { model, symbols } };
	for (size_t i = 0; i < write_format_count; i++) {
		const struct write_format *format = &write_formats[i];
		char *text = NULL;
		size_t length = 0;
		FILE *out = open_memstream(&text, &length);
		ck_assert(format->write(out, model, symbols, &options));
		if (format->write_groups != NULL)
			ck_assert(format->write_groups(out, model, symbols, &options));
		if (format->write_diff != NULL)
			ck_assert(format->write_diff(out, sides, &options));
		fclose(out);
		free(text);
	}
	symbols_close(symbols);
	model_free(model);
	record_free(record);
	return true;
}

static void expect_fault(const char *fault)
{
	ck_assert_ptr_null(synthetic_read(&made, made.size, why));
	ck_assert_msg(strstr(why, fault) != NULL, "\"%s\" does not say \"%s\"", why, fault);
}

START_TEST(complete_record_is_read)
{
	struct record *record = synthetic_read(&made, made.size, why);
	ck_assert_msg(record != NULL, "%s", why);
	struct record_thread thread;
	ck_assert(record_copy(record, REGION_THREADS, 0, &thread, sizeof(thread)));
	ck_assert_uint_eq(thread.counters.mutex.acquired, 1000);
	ck_assert_str_eq(thread.name, "main");
	ck_assert_str_eq(record->control.mutex.name, "yield:30");
	ck_assert(!record_copy(record, REGION_THREADS, 1, &thread, sizeof(thread)));
	ck_assert_uint_eq(thread.tid, 0);
	ck_assert(!model_record_is_empty(record));
	record_free(record);
	ck_assert(survives(made.size));
}
END_TEST

START_TEST(record_comes_through_a_pipe)
{
	int fds[2];
	ck_assert_int_eq(pipe(fds), 0);
	if (fork() == 0) {
		for (size_t at = 0; at < made.size;) {
			ssize_t written = write(fds[1], made.bytes + at, made.size - at);
			if (written < 0)
				_exit(1);
			at += (size_t)written;
		}
		_exit(0);
	}
	close(fds[1]);
	struct record *record = record_read(fds[0], why);
	ck_assert_msg(record != NULL, "%s", why);
	ck_assert_uint_eq(record->entries[REGION_LOCKS], 1);
	record_free(record);
	close(fds[0]);
}
END_TEST

START_TEST(other_machine_is_read)
{
	made.header->machine = 183;
	ck_assert(survives(made.size));
}
END_TEST

START_TEST(larger_entries_of_a_later_writer_are_read)
{
	/* Every second lock entry stands for the longer tail of the first. */
	struct record_region *region = &made.header->regions[REGION_LOCKS];
	region->entry_size *= 2;
	region->capacity /= 2;
	ck_assert(survives(made.size));
}
END_TEST

START_TEST(truncation_is_noticed_everywhere)
{
	size_t sizes[REGION_COUNT * 3 + 8], count = 0;
	const size_t first[] = { 0, 1, 7, 8, 11, 24, sizeof(struct record_header) - 1,
		sizeof(struct record_header) };
	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		sizes[count++] = first[i];
	for (int id = 0; id < REGION_COUNT; id++) {
		size_t offset = made.header->regions[id].offset;
		sizes[count++] = offset - 1;
		sizes[count++] = offset;
		sizes[count++] = offset + 1;
	}
	for (size_t i = 0; i < count; i++) {
		ck_assert_msg(!survives(sizes[i]), "%zu bytes were taken for a record", sizes[i]);
		const char *wanted = sizes[i] < 8 ? "not a record" : "truncated";
		ck_assert_msg(strstr(why, wanted) != NULL, "%zu bytes: %s", sizes[i], why);
	}
	ck_assert(!survives(made.size - 1));
}
END_TEST

START_TEST(foreign_and_newer_files_are_named_so)
{
	made.header->version = RECORD_VERSION + 1;
	expect_fault("newer version");
	made.header->version = __builtin_bswap32(RECORD_VERSION);
	expect_fault("byte order");
	made.header->version = 0;
	expect_fault("version is 0");
	made.header->version = RECORD_VERSION;
	made.header->machine = 3;
	expect_fault("neither x86-64 nor AArch64");
	made.header->machine = 62;
	made.header->file_size = UINT64_MAX;
	expect_fault("impossible size");
	made.header->file_size = 16;
	expect_fault("header is too small");
	made.header->magic[0] = 'X';
	expect_fault("not a record of abshim");
}
END_TEST

START_TEST(regions_are_checked_without_overflow)
{
	static const struct {
		struct record_region region;
		const char *fault;
	} cases[] = {
		{ { .offset = UINT64_MAX - 8, .entry_size = 4096, .capacity = 1 }, "outside" },
		{ { .offset = 8192, .entry_size = UINT32_MAX, .capacity = UINT32_MAX }, "outside" },
		{ { .offset = 0, .entry_size = 4096, .capacity = 1 }, "outside" },
		{ { .offset = 8192, .entry_size = 8, .capacity = 1 }, "too small" },
		{ { .offset = 8192, .entry_size = 4096, .capacity = 1, .used = 2 }, "more than" },
	};
	const struct record_region good = made.header->regions[REGION_LOCKS];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		made.header->regions[REGION_LOCKS] = cases[i].region;
		expect_fault(cases[i].fault);
		ck_assert_ptr_nonnull(strstr(why, "region 5"));
	}
	made.header->regions[REGION_LOCKS] = good;
	ck_assert(survives(made.size));
}
END_TEST

START_TEST(references_out_of_range_are_unknown)
{
	((struct record_lock *)synthetic_entry(&made, REGION_LOCKS, 0))->first_site = UINT32_MAX;
	struct record_site *site = synthetic_entry(&made, REGION_SITES, 0);
	site->lock = 99;
	site->module = 99;
	((struct record_blame *)synthetic_entry(&made, REGION_BLAME, 0))->site = 99;
	made.header->end_kind = 77;
	made.header->state = 77;
	struct record_thread *thread = synthetic_entry(&made, REGION_THREADS, 0);
	memset(thread->name, 'x', sizeof(thread->name));
	memset(made.header->executable, 'x', sizeof(made.header->executable));
	memset(made.header->settings, 'x', sizeof(made.header->settings));
	struct record_module *module = synthetic_entry(&made, REGION_MODULES, 0);
	memset(module->path, '/', sizeof(module->path));
	ck_assert(survives(made.size));
}
END_TEST

/* Bits are flipped in the header and the first entries of each table, where they do most harm. */
START_TEST(flipped_bits_never_crash)
{
	unsigned char *good = malloc(made.size);
	ck_assert_ptr_nonnull(good);
	memcpy(good, made.bytes, made.size);
	unsigned read = 0;
	srandom(20);
	for (int round = 0; round < 1500; round++) {
		memcpy(made.bytes, good, made.size);
		int flips = 1 + (int)(random() % 4);
		while (flips-- > 0) {
			size_t at = (size_t)random() % sizeof(struct record_header);
			if (random() % 2) {
				long id = random() % REGION_COUNT;
				const struct record_header *header = (void *)good;
				at = header->regions[id].offset +
				     (size_t)random() % (header->regions[id].entry_size + 1);
			} else if (random() % 2) {
				at = offsetof(struct record_header, regions) +
				     (size_t)random() % sizeof(made.header->regions);
			}
			made.bytes[at] ^= (unsigned char)(1 << random() % 8);
		}
		read += survives(made.size);
	}
	free(good);
	/* Most flips hit names and figures, many hit what is checked. */
	ck_assert_uint_gt(read, 100);
	ck_assert_uint_lt(read, 1400);
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
	ck_assert_ptr_null(record_read_path("/", why));
	ck_assert_str_eq(why, "/: is a directory, not a record");
	ck_assert_ptr_null(record_read_path("/nowhere/at/all", why));
	ck_assert_str_eq(why, "/nowhere/at/all: No such file or directory");
	ck_assert_ptr_null(record_read_found("/dev/null", why));
	ck_assert_str_eq(why, "/dev/null: is no regular file, so no record of abshim");
	ck_assert_ptr_null(record_read_path("/dev/null", why));
	ck_assert_str_eq(why, "/dev/null: not a record of abshim");
	ck_assert_ptr_null(record_read_path("/dev/zero", why));
	ck_assert_str_eq(why, "/dev/zero: not a record of abshim");
}
END_TEST

/* A process maps a record; it is found and read from outside, also after its file is gone. */
START_TEST(record_of_a_process_is_found)
{
	char path[] = "/tmp/check_loader.XXXXXX.abshim", line[8];
	int fd = mkostemps(path, (int)strlen(RECORD_SUFFIX), O_CLOEXEC);
	int ready[2];
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, made.bytes, made.size), (ssize_t)made.size);
	ck_assert_int_eq(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		void *mapping = mmap(NULL, made.size, PROT_READ, MAP_SHARED, fd, 0);
		if (mapping == MAP_FAILED || write(ready[1], "mapped", 6) != 6)
			_exit(1);
		pause();
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], line, 6), 6);
	for (int unlinked = 0; unlinked <= 1; unlinked++) {
		struct record *record = record_read_process(child, why);
		ck_assert_msg(record != NULL, "%s", why);
		ck_assert_int_eq(record->header.pid, 4711);
		ck_assert_uint_eq(record->entries[REGION_SITES], 1);
		record_free(record);
		unlink(path);
	}
	kill(child, SIGKILL);
	close(fd);
}
END_TEST

START_TEST(process_without_a_record_is_refused)
{
	ck_assert_ptr_null(record_read_process(getpid(), why));
	ck_assert_ptr_nonnull(strstr(why, "runs without libabshim.so"));
	ck_assert_ptr_null(record_read_process(0x7ffffff0, why));
	ck_assert_ptr_nonnull(strstr(why, "no such process"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("records");
	TCase *tcase = tcase_create("read");
	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, make_record, free_record);
	tcase_add_test(tcase, complete_record_is_read);
	tcase_add_test(tcase, record_comes_through_a_pipe);
	tcase_add_test(tcase, other_machine_is_read);
	tcase_add_test(tcase, larger_entries_of_a_later_writer_are_read);
	tcase_add_test(tcase, truncation_is_noticed_everywhere);
	tcase_add_test(tcase, foreign_and_newer_files_are_named_so);
	tcase_add_test(tcase, regions_are_checked_without_overflow);
	tcase_add_test(tcase, references_out_of_range_are_unknown);
	tcase_add_test(tcase, flipped_bits_never_crash);
	tcase_add_test(tcase, what_is_no_file_is_refused);
	tcase_add_test(tcase, record_of_a_process_is_found);
	tcase_add_test(tcase, process_without_a_record_is_refused);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
