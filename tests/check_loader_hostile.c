/*
 * Records that change while they are read: by a writer at work, by one gone mad, by one that cuts
 * the file.
 */
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/command.h"
#include "tests/synthetic.h"

#define ROUNDS 300

static struct synthetic made;
static int fd;
static char path[64];
static bool stop;

/* A record with a few of everything in a file of memory; made.bytes is a mapping of it. */
static void set_up(void)
{
	made = synthetic_new();
	for (uint32_t i = 0; i < 20; i++) {
		struct wait_totals wait = synthetic_wait(3, 3000, 2000);
		synthetic_thread(&made, 10 + i, "worker")->counters.mutex.acquired = 100;
		synthetic_lock(&made, 0x1000 + i * 64, wait);
		synthetic_site(&made, 0x400100 + i, i, wait);
		synthetic_blame(&made, 0x400200, i, 3, 3000);
	}
	fd = memfd_create("record", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ck_assert_int_eq(pwrite(fd, made.bytes, made.size, 0), (ssize_t)made.size);
	free(made.bytes);
	made.bytes = mmap(NULL, made.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(made.bytes, MAP_FAILED);
	made.header = (struct record_header *)made.bytes;
	stop = false;
}

static void clean_up(void)
{
	munmap(made.bytes, made.size);
	close(fd);
}

/* Reports again and again while a thread is at work. Returns how often it was readable. */
static unsigned report_beside(void *(*work)(void *))
{
	static const char *const formats[] = { "--json", "--top=5" };
	unsigned readable = 0;
	pthread_t writer;
	ck_assert_int_eq(pthread_create(&writer, NULL, work, NULL), 0);
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	for (int round = 0; round < ROUNDS; round++) {
		char *arguments[] = { "report", (char *)formats[round % 2], path, NULL };
		optind = 0;
		int status = command_report(3, arguments);
		ck_assert_int_ge(status, 0);
		ck_assert(status == 0 || status == EXIT_UNREADABLE);
		readable += status == 0;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	ck_assert_int_eq(pthread_join(writer, NULL), 0);
	return readable;
}

static bool at_work(void)
{
	return !__atomic_load_n(&stop, __ATOMIC_RELAXED);
}

/* What libabshim.so does, only faster: counts, and claims what is free. */
static void *count_and_claim(void *unused)
{
	(void)unused;
	while (at_work()) {
		for (uint32_t i = 0; i < 20; i++) {
			struct record_thread *thread = synthetic_entry(&made, REGION_THREADS, i);
			__atomic_fetch_add(&thread->counters.mutex.acquired, 1, __ATOMIC_RELAXED);
			struct record_lock *lock = synthetic_entry(&made, REGION_LOCKS, i);
			__atomic_fetch_add(&lock->wait.waits, 1, __ATOMIC_RELAXED);
		}
		struct record_region *locks = &made.header->regions[REGION_LOCKS];
		__atomic_store_n(&locks->used, 20 + (locks->used + 1) % 40, __ATOMIC_RELAXED);
	}
	return NULL;
}

START_TEST(a_writer_at_work)
{
	ck_assert_uint_eq(report_beside(count_and_claim), ROUNDS);
}
END_TEST

static void *scribble(void *unused)
{
	unsigned seed = 20;
	(void)unused;
	while (at_work()) {
		/* Mostly the tables and their description: the first bytes would end every try. */
		size_t from = rand_r(&seed) % 8 == 0 ? 0 : offsetof(struct record_header, regions);
		size_t at = from + ((size_t)rand_r(&seed) << 8) % (made.size - from - 4);
		unsigned char old = made.bytes[at];
		made.bytes[at] = (unsigned char)rand_r(&seed);
		if (at < sizeof(struct record_header))
			made.bytes[at] = old; /* only for a moment */
	}
	return NULL;
}

START_TEST(a_writer_gone_mad)
{
	ck_assert_uint_gt(report_beside(scribble), 0);
}
END_TEST

static void *cut_and_grow(void *unused)
{
	unsigned seed = 20;
	(void)unused;
	while (at_work()) {
		int cut = ftruncate(fd, (off_t)((size_t)rand_r(&seed) % made.size));
		int grown = ftruncate(fd, (off_t)made.size);
		if (cut != 0 || grown != 0)
			abort();
	}
	return NULL;
}

START_TEST(a_file_that_is_cut)
{
	report_beside(cut_and_grow); /* readable or not: it answers */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("changing records");
	TCase *tcase = tcase_create("changing records");
	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, set_up, clean_up);
	tcase_add_test(tcase, a_writer_at_work);
	tcase_add_test(tcase, a_writer_gone_mad);
	tcase_add_test(tcase, a_file_that_is_cut);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
