/*
 * The record's file: where it is made and under which name, what happens where none can be made,
 * and that a full file system is an answer and never a fault.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/record_map.h"
#include "probes/threads.h"
#include "shim/start.h"
#include "shim/thread.h"
#include "tests/totals.h"

static struct record_header *own; /* of the test's process */
static struct record_place own_places[REGION_COUNT];
static char directory[128], path[RECORD_PATH_SIZE];

/* Runs in the forked process of a test: what it calls is recorded no more, and the address of its
 * record is free for another. */
static void keep_out(void)
{
	start_counting = false;
	thread_forget();
	own = record_header;
	memcpy(own_places, record_places, sizeof(own_places));
	record_header = NULL;
	snprintf(directory, sizeof(directory), "%s/check.%d", getenv("ABSHIM_DIR"), getpid());
	ck_assert_int_eq(mkdir(directory, 0700), 0);
}

static void clean_up(void)
{
	record_header = own;
	memcpy(record_places, own_places, sizeof(own_places));
	umount2(directory, MNT_DETACH);
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/tool.%d.%d.abshim", directory, getpid(), i);
		unlink(path);
	}
	rmdir(directory);
}

static const char *file_number(int sequence)
{
	snprintf(path, sizeof(path), "%s/tool.%d.%d.abshim", directory, getpid(), sequence);
	return path;
}

static int create(void)
{
	return record_create(directory, "/some/where/tool", true);
}

START_TEST(file_is_named_and_private)
{
	struct stat status;
	umask(0);
	ck_assert_int_eq(create(), 0);
	ck_assert_str_eq(record_header->path, file_number(0));
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
	ck_assert_uint_eq((uint64_t)status.st_size, record_header->file_size);
	ck_assert_str_eq(record_header->magic, RECORD_MAGIC);
	ck_assert_uint_eq(record_header->version, RECORD_VERSION);
	ck_assert_int_eq(record_header->pid, getpid());
	ck_assert_int_eq(record_header->exit_status, -1);
	ck_assert_uint_eq(record_header->flags & RECORD_IN_MEMORY, 0);
	record_unlink();
	ck_assert_int_eq(access(path, F_OK), -1);
	ck_assert_str_eq(record_header->magic, RECORD_MAGIC); /* the mapping stays */
}
END_TEST

START_TEST(regions_follow_each_other)
{
	ck_assert_int_eq(create(), 0);
	uint64_t end = record_header->header_size;
	for (int id = 0; id < REGION_COUNT; id++) {
		const struct record_region *region = &record_header->regions[id];
		ck_assert_uint_ge(region->offset, end);
		ck_assert_uint_eq(region->offset % 4096, 0);
		ck_assert_uint_gt(region->capacity, 0);
		end = region->offset + (uint64_t)region->entry_size * region->capacity;
	}
	ck_assert_uint_le(end, record_header->file_size);
}
END_TEST

/* What is there already is another record's: a file, a link to one, and the last one of its own. */
START_TEST(nothing_is_overwritten)
{
	static const char words[] = "not to be lost";
	char found[sizeof(words)] = "", precious[160];
	snprintf(precious, sizeof(precious), "%s/precious", directory);
	int fd = open(precious, O_RDWR | O_CREAT | O_EXCL, 0600);
	ck_assert_int_eq(write(fd, words, sizeof(words)), sizeof(words));
	ck_assert_int_eq(link(precious, file_number(0)), 0);
	ck_assert_int_eq(symlink(precious, file_number(1)), 0);
	ck_assert_int_eq(create(), 0);
	ck_assert_str_eq(record_header->path, file_number(2));
	record_header->threads_created = 77;
	void *where = record_header;
	ck_assert_int_eq(create(), 0); /* as a forked child does */
	ck_assert_ptr_eq(record_header, where);
	ck_assert_str_eq(record_header->path, file_number(3));
	ck_assert_uint_eq(record_header->threads_created, 0);

	struct record_header old;
	int record = open(file_number(2), O_RDONLY);
	ck_assert_int_eq(read(record, &old, sizeof(old)), sizeof(old));
	ck_assert_uint_eq(old.threads_created, 77);
	ck_assert_int_eq(pread(fd, found, sizeof(found), 0), sizeof(found));
	ck_assert_str_eq(found, words);
	struct stat status;
	ck_assert_int_eq(fstat(fd, &status), 0);
	ck_assert_int_eq(status.st_size, sizeof(words));
	close(record);
	close(fd);
	unlink(precious);
}
END_TEST

static void expect_in_memory(const char *where)
{
	ck_assert_int_eq(record_create(where, "/some/where/tool", false), 0);
	ck_assert_uint_ne(record_header->flags & RECORD_IN_MEMORY, 0);
	ck_assert_str_eq(record_header->path, "");
	uint32_t last = record_header->regions[REGION_BLAME].capacity - 1;
	ck_assert(record_reserve(REGION_BLAME, last));
	memset(record_entry(REGION_BLAME, last), 1, sizeof(struct record_blame));
	ck_assert(!record_reserve(REGION_BLAME, last + 1));
	record_unlink(); /* of nothing */
}

/* A process that has begun goes on with a record elsewhere, and says so. */
static void expect_elsewhere(const char *where)
{
	record_header = NULL;
	ck_assert_int_eq(record_create(where, "/some/where/tool", false), 0);
	ck_assert_uint_eq(record_header->flags & RECORD_ELSEWHERE, RECORD_ELSEWHERE);
	ck_assert_ptr_nonnull(strstr(record_header->path, "/abshim"));
	ck_assert_ptr_null(strstr(record_header->path, where));
	record_unlink();
	record_header = NULL;
}

START_TEST(no_directory)
{
	char nowhere[RECORD_PATH_SIZE + 1];
	snprintf(nowhere, sizeof(nowhere), "%s/nowhere", directory);
	ck_assert_int_eq(record_create(nowhere, "/some/where/tool", true), -ENOENT);
	ck_assert_ptr_null(record_header);
	expect_elsewhere(nowhere);
	memset(nowhere, 'x', RECORD_PATH_SIZE);
	nowhere[RECORD_PATH_SIZE] = '\0';
	ck_assert_int_lt(record_create(nowhere, "/some/where/tool", true), 0);
	expect_elsewhere(nowhere);
}
END_TEST

static int create_in(const char *where)
{
	record_header = NULL;
	int result = record_create(where, "/some/where/tool", true);
	if (result == 0) {
		ck_assert_uint_eq(record_header->flags & RECORD_ELSEWHERE, 0);
		record_unlink();
	}
	return result;
}

START_TEST(directories_that_others_may_change)
{
	char link_to[160];
	static const mode_t bad[] = { 0777, 01777, 0702 };
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_int_eq(chmod(directory, bad[i]), 0);
		ck_assert_int_eq(create_in(directory), -EPERM);
	}
	static const mode_t good[] = { 0755, 0770, 0700 };
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ck_assert_int_eq(chmod(directory, good[i]), 0);
		ck_assert_int_eq(create_in(directory), 0);
	}
	snprintf(link_to, sizeof(link_to), "%s/link", directory);
	ck_assert_int_eq(symlink(directory, link_to), 0);
	ck_assert_int_eq(create_in(link_to), -ENOTDIR);
	ck_assert_int_eq(unlink(link_to), 0);
	ck_assert_int_eq(close(creat(link_to, 0600)), 0);
	ck_assert_int_eq(create_in(link_to), -ENOTDIR);
	ck_assert_int_eq(unlink(link_to), 0);
}
END_TEST

START_TEST(directories_of_others)
{
	if (geteuid() != 0)
		return; /* nobody else gives a directory away */
	ck_assert_int_eq(chown(directory, 4711, (gid_t)-1), 0);
	ck_assert_int_eq(create_in(directory), -EPERM);
	expect_elsewhere(directory);
	ck_assert_int_eq(chown(directory, 0, (gid_t)-1), 0);
	/* A server that root started, now another user: root's directory is no fault of its. */
	ck_assert_int_eq(seteuid(4711), 0);
	record_header = NULL;
	ck_assert_int_eq(record_create(directory, "/some/where/tool", true), 0);
	ck_assert_uint_eq(record_header->flags & RECORD_ELSEWHERE, RECORD_ELSEWHERE);
	ck_assert_ptr_nonnull(strstr(record_header->path, "/abshim-4711/tool."));
	record_unlink();
	char *file = strrchr(record_header->path, '/');
	*file = '\0';
	rmdir(record_header->path);
	ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

/* A file above the limit would end the process by SIGXFSZ. */
START_TEST(limit_on_file_sizes)
{
	struct rlimit limit;
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 100000;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(create(), -EFBIG);
	ck_assert_int_eq(access(file_number(0), F_OK), -1);
	expect_in_memory(directory);
}
END_TEST

START_TEST(entries_beyond_the_region)
{
	ck_assert_int_eq(create(), 0);
	uint32_t capacity = record_header->regions[REGION_RETIRED].capacity;
	ck_assert(!record_reserve(REGION_RETIRED, capacity));
	for (uint32_t i = 0; i < capacity; i++)
		ck_assert_uint_eq(record_claim(REGION_RETIRED), i);
	ck_assert_uint_eq(record_claim(REGION_RETIRED), RECORD_NONE);
	ck_assert_uint_eq(record_header->regions[REGION_RETIRED].lost, 1);
	ck_assert_uint_eq(record_header->regions[REGION_RETIRED].used, capacity);
}
END_TEST

START_TEST(numbers_and_paths)
{
	char text[24], cut[8];
	ck_assert_uint_eq(record_decimal(text, 0), 1);
	ck_assert_str_eq(text, "0");
	ck_assert_uint_eq(record_decimal(text, UINT64_MAX), 20);
	ck_assert_str_eq(text, "18446744073709551615");
	record_copy_path(cut, sizeof(cut), "/abcdef");
	ck_assert_str_eq(cut, "/abcdef");
	record_copy_path(cut, sizeof(cut), "/abcdefg");
	ck_assert_str_eq(cut, "...defg");
}
END_TEST

/* Mounts of this process are nobody else's. */
static bool mounts_are_private(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static void mount_tmpfs(const char *where, const char *options)
{
	ck_assert_int_eq(mount("tmpfs", where, "tmpfs", 0, options), 0);
}

START_TEST(full_file_system)
{
	static const enum record_region_id tables[] = { REGION_THREADS, REGION_LOCKS,
		REGION_SITES };
	ck_assert(mounts_are_private());
	mount_tmpfs(directory, "size=256k,mode=700");
	int result = create();
	if (result != 0) { /* where pages cannot be had one by one, the whole file has no room */
		ck_assert_int_eq(result, -ENOSPC);
		ck_assert_int_eq(access(file_number(0), F_OK), -1);
		expect_in_memory(directory);
		return;
	}
	ck_assert_uint_eq(record_header->flags & RECORD_NOT_TMPFS, 0);
	uint32_t lost = 0;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct record_region *region = &record_header->regions[tables[i]];
		for (uint32_t entry; (entry = record_claim(tables[i])) != RECORD_NONE;)
			memset(record_entry(tables[i], entry), 0, region->entry_size);
		ck_assert_uint_lt(region->used, region->capacity);
		lost += region->lost;
	}
	ck_assert_uint_eq(lost, 3);
	ck_assert(!record_reserve(REGION_BLAME_INDEX, 16383));
	ck_assert_uint_ne(record_header->flags & RECORD_NO_ROOM, 0);
	/* What has room goes on. */
	ck_assert(record_reserve(REGION_THREADS, 0));
	record_header->threads_created++;
}
END_TEST

/* Threads of a hundred names end, one after the other: all that they counted is somewhere. */
START_TEST(totals_in_a_full_file_system)
{
	ck_assert(mounts_are_private());
	mount_tmpfs(directory, "size=48k,mode=700");
	int result = create();
	if (result != 0) { /* as above */
		ck_assert_int_eq(result, -ENOSPC);
		return;
	}
	for (uint32_t i = 0; i < 100; i++) {
		struct record_thread *thread = record_thread_claim(UINT32_C(0x40000000) + i);
		ck_assert_ptr_nonnull(thread);
		snprintf(thread->name, sizeof(thread->name), "number %u", i);
		thread->counters.mutex.acquired = 3;
		record_thread_retire(thread);
	}
	ck_assert_uint_eq(totals_read().counters.mutex.acquired, 300);
	ck_assert_uint_eq(totals_read().threads_ended, 100);
	ck_assert_uint_eq(record_header->threads_lost, 0);
	ck_assert_uint_eq(record_header->retired_rest, 1);
	ck_assert_uint_ne(record_header->flags & RECORD_NO_ROOM, 0);
}
END_TEST

START_TEST(file_system_without_any_room)
{
	ck_assert(mounts_are_private());
	mount_tmpfs(directory, _i == 0 ? "size=4k,mode=700" : "size=32k,mode=700");
	ck_assert_int_eq(create(), -ENOSPC);
	ck_assert_int_eq(access(file_number(0), F_OK), -1);
	expect_in_memory(directory);
}
END_TEST

/* Where the record went when no directory was asked for; an empty string for memory. */
static const char *default_place(void)
{
	static char found[RECORD_PATH_SIZE];
	record_header = NULL;
	ck_assert_int_eq(record_create(NULL, "/some/where/tool", true), 0);
	strcpy(found, record_header->path);
	record_unlink();
	munmap(record_header, record_header->file_size);
	char *file = strrchr(found, '/');
	if (file != NULL)
		*file = '\0';
	return found;
}

START_TEST(default_directories)
{
	char in_shm[64], in_tmp[64], elsewhere[64];
	struct stat status;
	snprintf(in_shm, sizeof(in_shm), "/dev/shm/abshim-%d", geteuid());
	snprintf(in_tmp, sizeof(in_tmp), "/tmp/abshim-%d", geteuid());
	snprintf(elsewhere, sizeof(elsewhere), "/tmp/elsewhere");
	ck_assert(mounts_are_private());
	mount_tmpfs("/run", "size=1m"); /* no /run/user there */
	mount_tmpfs("/tmp", "size=16m");
	mount_tmpfs("/dev/shm", "size=16m");
	umask(0);
	ck_assert_str_eq(default_place(), in_shm);
	ck_assert_int_eq(lstat(in_shm, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0700);
	ck_assert_str_eq(default_place(), in_shm);

	ck_assert_int_eq(chmod(in_shm, 0750), 0); /* others could look in */
	ck_assert_str_eq(default_place(), in_tmp);
	ck_assert_int_eq(chmod(in_shm, 0700), 0);
	ck_assert_int_eq(chown(in_shm, 4711, (gid_t)-1), 0); /* another's */
	ck_assert_str_eq(default_place(), in_tmp);
	ck_assert_int_eq(rmdir(in_shm), 0);
	ck_assert_int_eq(mkdir(elsewhere, 0700), 0);
	ck_assert_int_eq(symlink(elsewhere, in_shm), 0);
	ck_assert_str_eq(default_place(), in_tmp);
	ck_assert_int_eq(chmod(in_tmp, 0777), 0);
	ck_assert_str_eq(default_place(), "");
	ck_assert_int_eq(rmdir(elsewhere), 0); /* nothing went in */
}
END_TEST

static bool may_mount(void)
{
	int status = -1;
	pid_t child = fork();
	if (child == 0)
		_exit(!(mounts_are_private() &&
		        mount("tmpfs", "/tmp", "tmpfs", 0, "size=64k") == 0));
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(void)
{
	Suite *suite = suite_create("record file");
	TCase *tcase = tcase_create("record file");
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, keep_out, clean_up);
	tcase_add_test(tcase, file_is_named_and_private);
	tcase_add_test(tcase, regions_follow_each_other);
	tcase_add_test(tcase, nothing_is_overwritten);
	tcase_add_test(tcase, no_directory);
	tcase_add_test(tcase, directories_that_others_may_change);
	tcase_add_test(tcase, directories_of_others);
	tcase_add_test(tcase, limit_on_file_sizes);
	tcase_add_test(tcase, entries_beyond_the_region);
	tcase_add_test(tcase, numbers_and_paths);
	if (may_mount()) {
		tcase_add_test(tcase, full_file_system);
		tcase_add_test(tcase, totals_in_a_full_file_system);
		tcase_add_loop_test(tcase, file_system_without_any_room, 0, 2);
		tcase_add_test(tcase, default_directories);
	} else {
		puts("full file systems are left out: this process may not mount any");
	}
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
