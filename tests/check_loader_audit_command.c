/*
 * What the audit makes of a system's files: its cache of libraries, links below another root, what
 * its loader was built with, and headers that lie.
 */
#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/audit/columns.h"
#include "loader/audit/dynamic.h"
#include "loader/audit/files.h"
#include "loader/audit/resolve.h"
#include "loader/audit/resolve_system.h"

static char directory[] = "/tmp/check_audit.XXXXXX", path[256];

static const char *in_directory(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void write_file(const char *name, const void *bytes, size_t size)
{
	int fd = open(in_directory(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void teardown(void)
{
	char command[300];
	snprintf(command, sizeof(command), "rm -r %s", directory);
	ck_assert_int_eq(system(command), 0);
	strcpy(strrchr(directory, '.') + 1, "XXXXXX");
}

#define CACHE_ROOM  1024
#define FLAGS_X86   0x0303u
#define FLAGS_ARM   0x0a03u
#define NAMED       (1ull << 62)
#define EXTENSION   0xeaa42174u
#define TAG_HWCAPS  1u
#define HEADER_SIZE 48u
#define ENTRY_SIZE  24u

/* A cache in the making: entries first, then strings, then the names of subdirectories. */
struct cache {
	char bytes[CACHE_ROOM];
	size_t start; /* of the new format */
	size_t strings;
	uint32_t entries;
};

static void put(struct cache *cache, size_t offset, const void *from, size_t size)
{
	ck_assert_uint_le(cache->start + offset + size, CACHE_ROOM);
	memcpy(cache->bytes + cache->start + offset, from, size);
}

static void put_word(struct cache *cache, size_t offset, uint32_t word)
{
	put(cache, offset, &word, sizeof(word));
}

static uint32_t put_string(struct cache *cache, const char *text)
{
	uint32_t at = (uint32_t)cache->strings;
	put(cache, at, text, strlen(text) + 1);
	cache->strings += strlen(text) + 1;
	return at;
}

static void begin(struct cache *cache, size_t start)
{
	memset(cache, 0, sizeof(*cache));
	cache->start = start;
	cache->strings = 512;
	put(cache, 0, "glibc-ld.so.cache1.1", 20);
}

static void add(
        struct cache *cache, uint32_t flags, const char *key, const char *value, uint64_t hwcap)
{
	size_t at = HEADER_SIZE + cache->entries++ * ENTRY_SIZE;
	put_word(cache, at, flags);
	put_word(cache, at + 4, put_string(cache, key));
	put_word(cache, at + 8, put_string(cache, value));
	put(cache, at + 16, &hwcap, sizeof(hwcap));
	put_word(cache, 20, cache->entries);
}

/* The extension: names of subdirectories, in the order of their indexes. */
static void add_names(struct cache *cache, const char *const *names, uint32_t count)
{
	const uint32_t at = 400;
	put_word(cache, 32, at);
	put_word(cache, at, EXTENSION);
	put_word(cache, at + 4, 1);
	put_word(cache, at + 8, TAG_HWCAPS);
	put_word(cache, at + 16, at + 24);
	put_word(cache, at + 20, count * 4);
	for (uint32_t i = 0; i < count; i++)
		put_word(cache, at + 24 + i * 4, put_string(cache, names[i]));
}

/* A system of that cache on a CPU of level 3. */
static void make_system(struct system *system, const struct cache *cache, size_t size)
{
	*system = (struct system){ .machine = EM_X86_64, .hwcaps = 2, .legacy_hwcap = 4 };
	ck_assert(texts_add(&system->subdirectories, "glibc-hwcaps/x86-64-v3/"));
	ck_assert(texts_add(&system->subdirectories, "glibc-hwcaps/x86-64-v2/"));
	ck_assert(texts_add(&system->subdirectories, ""));
	system->cache = malloc(size + 1);
	memcpy(system->cache, cache->bytes, size);
	system->cache[size] = '\0';
	system->cache_size = size;
}

static void expect_cached(const struct cache *cache, const char *name, const char *wanted)
{
	struct system system;
	make_system(&system, cache, sizeof(cache->bytes));
	ck_assert_pstr_eq(system_cached(&system, name), wanted);
	system_free(&system);
}

static void make_cache(struct cache *cache, size_t start)
{
	static const char *const names[] = { "x86-64-v2", "x86-64-v3", "x86-64-v4" };
	begin(cache, start);
	add(cache, FLAGS_ARM, "libone.so", "/arm/libone.so", 0);
	add(cache, FLAGS_X86, "libone.so", "/lib/libone.so", 0);
	add(cache, FLAGS_X86, "libtwo.so", "/lib/v4/libtwo.so", NAMED | 2);
	add(cache, FLAGS_X86, "libtwo.so", "/lib/v2/libtwo.so", NAMED | 1ull << 32 | 0);
	add(cache, FLAGS_X86, "libtwo.so", "/lib/v3/libtwo.so", NAMED | 2ull << 32 | 1);
	add(cache, FLAGS_X86, "libtwo.so", "/lib/libtwo.so", 0);
	add(cache, FLAGS_X86, "libold.so", "/lib/8/libold.so", 8);
	add(cache, FLAGS_X86, "libold.so", "/lib/4/libold.so", 4);
	add(cache, FLAGS_X86, "libold.so", "/lib/libold.so", 0);
	add_names(cache, names, 3);
}

START_TEST(test_cache)
{
	struct cache cache;
	make_cache(&cache, 0);
	expect_cached(&cache, "libone.so", "/lib/libone.so");
	expect_cached(&cache, "libtwo.so", "/lib/v3/libtwo.so");
	expect_cached(&cache, "libold.so", "/lib/4/libold.so");
	expect_cached(&cache, "libone.s", NULL);
	expect_cached(&cache, "", NULL);
}
END_TEST

START_TEST(test_cache_behind_old_format)
{
	struct cache cache;
	uint32_t count = 3;
	make_cache(&cache, 56); /* 16 of a header, 3 times 12, rounded up to 8 */
	memcpy(cache.bytes, "ld.so-1.7.0", 11);
	memcpy(cache.bytes + 12, &count, sizeof(count));
	expect_cached(&cache, "libtwo.so", "/lib/v3/libtwo.so");
	count = UINT32_MAX;
	memcpy(cache.bytes + 12, &count, sizeof(count));
	expect_cached(&cache, "libtwo.so", NULL);
}
END_TEST

/* Cut off anywhere, and with any word of it wrong, it is read within its bounds. */
START_TEST(test_damaged_cache)
{
	struct cache cache;
	struct system system;
	make_cache(&cache, 0);
	for (size_t size = 0; size < sizeof(cache.bytes); size++) {
		make_system(&system, &cache, size);
		const char *found = system_cached(&system, "libtwo.so");
		ck_assert(found == NULL || strlen(found) < size);
		system_free(&system);
	}
	for (size_t at = 20; at < 512; at += 4)
		for (uint32_t wrong = 0; wrong < 3; wrong++) {
			struct cache damaged = cache;
			put_word(&damaged, at, wrong == 0 ? UINT32_MAX : wrong == 1 ? 1023 : 0);
			make_system(&system, &damaged, sizeof(damaged.bytes));
			system_cached(&system, "libtwo.so");
			system_free(&system);
		}
}
END_TEST

static void expect_path(const char *in_root, const char *wanted)
{
	char *found = system_path(directory, in_root);
	if (wanted == NULL) {
		ck_assert_ptr_null(found);
		return;
	}
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found + strlen(directory), wanted);
	free(found);
}

static void make_link(const char *name, const char *to)
{
	ck_assert_int_eq(symlink(to, in_directory(name)), 0);
}

START_TEST(test_links_below_root)
{
	ck_assert_int_eq(mkdir(in_directory("usr"), 0700), 0);
	ck_assert_int_eq(mkdir(in_directory("usr/lib"), 0700), 0);
	make_link("lib", "usr/lib");
	make_link("usr/lib/absolute", "/usr/lib/file");
	make_link("usr/lib/out", "../../../../etc/passwd");
	make_link("usr/lib/loop", "loop");
	make_link("usr/lib/up", "..");
	write_file("usr/lib/file", "x", 1);
	expect_path("/lib/file", "/usr/lib/file");
	expect_path("//lib/.//absolute", "/usr/lib/file");
	expect_path("/lib/out", "/etc/passwd");
	expect_path("/../../lib/up/lib/file", "/usr/lib/file");
	expect_path("/lib/loop", NULL);
	expect_path("/none/of/it", "/none/of/it");
	expect_path("/", "");
	char *same = system_path(NULL, "/lib/out");
	ck_assert_str_eq(same, "/lib/out");
	free(same);
	same = system_path(directory, "relative");
	ck_assert_str_eq(same, "relative");
	free(same);
}
END_TEST

static void expect_directories(struct system *system, const char *loader, const char *wanted)
{
	char all[256] = "";
	*system = (struct system){ .root = directory, .machine = EM_AARCH64 };
	ck_assert(system_read(system, loader));
	for (size_t i = 0; i < system->directories.count; i++)
		strcat(strcat(all, i > 0 ? " " : ""), system->directories.items[i]);
	ck_assert_str_eq(all, wanted);
}

/* What is assumed of a foreign machine, or known of this one. */
static bool has_lse(void)
{
#if defined(__aarch64__)
	return (getauxval(AT_HWCAP) & 1u << 8) != 0;
#else
	return true;
#endif
}

START_TEST(test_what_a_loader_says)
{
	static const char new_loader[] = "code\0/proc/\0/x/\0/store/lib/\0/usr/lib64/\0\0"
	                                 "stable release version 2.37.\n\0/store/lib/";
	static const char old_loader[] = "\0/lib64/\0/usr/lib64/\0release version 2.36.";
	struct system system;
	write_file("new", new_loader, sizeof(new_loader));
	write_file("old", old_loader, sizeof(old_loader));
	expect_directories(&system, "/new", "/proc/ /x/ /store/lib/ /usr/lib64/");
	ck_assert(!system.legacy);
	ck_assert_uint_eq(system.subdirectories.count, 1);
	system_free(&system);
	expect_directories(&system, "/old", "/lib64/ /usr/lib64/");
	ck_assert(system.legacy);
	ck_assert_str_eq(system.library_word, "lib64");
	/* All choices of tls, aarch64, and of atomics where there is LSE; the plain directory last.
	 */
	size_t count = has_lse() ? 8 : 4;
	ck_assert_uint_eq(system.subdirectories.count, count);
	ck_assert_str_eq(system.subdirectories.items[0],
	        has_lse() ? "tls/aarch64/atomics/" : "tls/aarch64/");
	ck_assert_str_eq(system.subdirectories.items[count - 1], "");
	system_free(&system);
	expect_directories(&system, "/gone",
	        "/lib/aarch64-linux-gnu/ /usr/lib/aarch64-linux-gnu/ /lib64/ /usr/lib64/ /lib/ "
	        "/usr/lib/");
	system_free(&system);
	expect_directories(&system, "/lib/ld-musl-aarch64.so.1", "/lib/ /usr/local/lib/ /usr/lib/");
	system_free(&system);
	ck_assert_int_eq(mkdir(in_directory("etc"), 0700), 0);
	write_file("etc/ld-musl-aarch64.path", "/a:/b\n/c\n", 9);
	expect_directories(&system, "/lib/ld-musl-aarch64.so.1", "/a/ /b/ /c/");
	system_free(&system);
}
END_TEST

/* What is read of a file must not depend on its being whole, or right. */
static void read_damaged(const unsigned char *bytes, size_t size)
{
	struct dynamic dynamic;
	struct stat status;
	const char *why;
	write_file("damaged", bytes, size);
	int fd = file_open(in_directory("damaged"), &status, &why);
	ck_assert_int_ge(fd, 0);
	if (dynamic_read(fd, &dynamic)) {
		ck_assert_uint_le(dynamic.needed.count, 65536);
		dynamic_free(&dynamic);
	}
	close(fd);
}

static unsigned char *read_self(size_t *size)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat status;
	ck_assert_int_eq(fstat(fd, &status), 0);
	*size = (size_t)status.st_size < 65536 ? (size_t)status.st_size : 65536;
	unsigned char *bytes = dynamic_read_at(fd, 0, *size);
	ck_assert_ptr_nonnull(bytes);
	close(fd);
	return bytes;
}

START_TEST(test_damaged_headers)
{
	size_t size;
	unsigned char *bytes = read_self(&size);
	for (size_t cut = 0; cut < 1024; cut += 7)
		read_damaged(bytes, cut);
	for (size_t at = 16; at < 64 + 56 * 8; at += 2) {
		unsigned char kept[2] = { bytes[at], bytes[at + 1] };
		memset(bytes + at, 0xff, 2);
		read_damaged(bytes, size);
		memset(bytes + at, 0, 2);
		read_damaged(bytes, size);
		memcpy(bytes + at, kept, 2);
	}
	free(bytes);
}
END_TEST

#define NEEDED 60000u

/* A program that asks for the same missing library again and again, in many directories. */
START_TEST(test_too_many_libraries)
{
	enum { INTERPRETER_AT = 512, STRINGS_AT = 1024, DYNAMIC_AT = 8192 };
	size_t size = DYNAMIC_AT + (NEEDED + 4) * sizeof(Elf64_Dyn);
	unsigned char *bytes = calloc(1, size);
	Elf64_Phdr *segments = (Elf64_Phdr *)(bytes + sizeof(Elf64_Ehdr));
	Elf64_Dyn *entries = (Elf64_Dyn *)(bytes + DYNAMIC_AT);
	*(Elf64_Ehdr *)bytes = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
		                                     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_AARCH64,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3 };
	segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_filesz = size };
	segments[1] = (Elf64_Phdr){ .p_type = PT_INTERP, .p_offset = INTERPRETER_AT };
	segments[2] = (Elf64_Phdr){
		.p_type = PT_DYNAMIC, .p_offset = DYNAMIC_AT, .p_filesz = size - DYNAMIC_AT
	};
	strcpy((char *)bytes + INTERPRETER_AT, "/ld.so");
	strcpy((char *)bytes + STRINGS_AT, "libx");
	memset(bytes + STRINGS_AT + 5, ':', 3000);
	for (size_t i = 0; i < NEEDED; i++)
		entries[i] = (Elf64_Dyn){ .d_tag = DT_NEEDED };
	entries[NEEDED] = (Elf64_Dyn){ .d_tag = DT_RPATH, .d_un.d_val = 5 };
	entries[NEEDED + 1] = (Elf64_Dyn){ .d_tag = DT_STRTAB, .d_un.d_ptr = STRINGS_AT };
	entries[NEEDED + 2] = (Elf64_Dyn){ .d_tag = DT_STRSZ, .d_un.d_val = 4096 };
	write_file("needy", bytes, size);
	free(bytes);
	const struct resolve_options options = { .root = directory };
	struct resolution resolution;
	int fd = open(in_directory("needy"), O_RDONLY | O_CLOEXEC);
	char *name = strdup(path);
	ck_assert(resolve_program(&resolution, name, fd, &options));
	ck_assert_uint_eq(resolution.count, 1);
	ck_assert(!resolution.whole);
	ck_assert_str_eq(
	        resolution.notes.items[0], "it needs too many libraries: not all were looked for");
	resolve_free(&resolution);
	free(name);
	close(fd);
}
END_TEST

static void count_symbol(void *context, const struct dynamic_symbol *symbol)
{
	unsigned *counts = context;
	counts[0] += !symbol->defined && strcmp(symbol->name, "open_memstream") == 0;
	counts[1] += symbol->defined;
}

/* A program that exports nothing imports all the same. */
START_TEST(test_symbols)
{
	struct dynamic dynamic;
	unsigned counts[2] = { 0, 0 };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ck_assert(dynamic_read(fd, &dynamic));
	ck_assert(dynamic_is_program(&dynamic));
	ck_assert(dynamic_walk(fd, &dynamic, count_symbol, counts));
	ck_assert_uint_eq(counts[0], 1);
	unsigned all[2] = { 0, 0 };
	ck_assert(dynamic_walk_symtab(fd, count_symbol, all));
	ck_assert_uint_gt(all[1], counts[1]);
	dynamic_free(&dynamic);
	close(fd);
}
END_TEST

START_TEST(test_columns)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct columns *columns = columns_new();
	columns_text(columns, "n");
	columns_name(columns, "file", "");
	columns_count(columns, 1234);
	columns_name(columns, "a\x1b[0m", " (in part)");
	columns_count(columns, 7);
	char name[200];
	memset(name, 'x', sizeof(name) - 4);
	strcpy(name + sizeof(name) - 4, "end");
	memcpy(name + 107, "\xc3\xa4", 2); /* its second byte would come first */
	columns_name(columns, name, "");
	columns_print(columns, out);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "    n  file\n1,234  a\\x1b[0m (in part)\n    7  .."));
	const char *cut = strstr(text, "  ..");
	ck_assert_int_eq(cut[4], 'x');
	ck_assert_uint_eq(strlen(cut), 2 + 93); /* one less than fits, and the end of the line */
	ck_assert_ptr_nonnull(strstr(cut, "end\n"));
	free(text);
	columns_print(NULL, stderr);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("audit_command");
	TCase *tests = tcase_create("audit_command");
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_cache);
	tcase_add_test(tests, test_cache_behind_old_format);
	tcase_add_test(tests, test_damaged_cache);
	tcase_add_test(tests, test_links_below_root);
	tcase_add_test(tests, test_what_a_loader_says);
	tcase_add_test(tests, test_damaged_headers);
	tcase_add_test(tests, test_too_many_libraries);
	tcase_add_test(tests, test_symbols);
	tcase_add_test(tests, test_columns);
	suite_add_tcase(suite, tests);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
