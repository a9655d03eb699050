/*
 * Names for addresses, asked of this very test program: its own functions, lines and variables.
 */
#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/place_text.h"
#include "loader/symbol_names.h"
#include "loader/symbols.h"
#include "tests/synthetic.h"

static struct synthetic made;
static struct record *record;
static struct mapped *mapped;
static struct symbols *symbols;
static pthread_mutex_t known_mutex = PTHREAD_MUTEX_INITIALIZER;
static char self[RECORD_PATH_SIZE];

/* Knows this program's own path from then on. */
static uint32_t add_own_modules(void)
{
	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	return synthetic_own_modules(&made);
}

static void start(void)
{
	made = synthetic_new();
}

static void stop(void)
{
	symbols_close(symbols);
	mapped_free(mapped);
	record_free(record);
	free(made.bytes);
}

static void open_symbols(void)
{
	char why[WHY_SIZE];
	record = synthetic_read(&made, made.size, why);
	ck_assert_msg(record != NULL, "%s", why);
	const struct record *records[] = { record };
	mapped = mapped_new(records, 1);
	ck_assert_ptr_nonnull(mapped);
	symbols = symbols_open(mapped);
	ck_assert_ptr_nonnull(symbols);
}

static __attribute__((noinline)) uint64_t return_address(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static unsigned known_line;

static __attribute__((noinline)) uint64_t known_function(void)
{
	known_line = __LINE__ + 1;
	uint64_t address = return_address();
	__asm__ volatile("" : "+r"(address)); /* keeps the call from being the last thing */
	return address;
}

static bool find_data(uint64_t address, struct place *place)
{
	struct record_lock lock = { .address = address };
	return symbols_find_lock(symbols, 0, &lock, place);
}

START_TEST(call_has_function_and_line)
{
	uint32_t own = add_own_modules();
	uint64_t address = known_function();
	struct place place;
	open_symbols();
	symbols_find_call(symbols, (struct code){ own, address }, &place);
	ck_assert_str_eq(place.name, "known_function");
	ck_assert_str_eq(place.module, self);
	ck_assert_ptr_nonnull(strstr(place.file, "check_loader_symbols.c"));
	ck_assert_uint_eq(place.line, known_line);
	ck_assert_uint_gt(place.name_offset, 0);
	ck_assert_uint_eq(place.address, address);
}
END_TEST

static __attribute__((noinline)) uint64_t wrapping_function(void)
{
	known_line = __LINE__ + 1;
	uint64_t address = synthetic_wrapper(return_address);
	__asm__ volatile("" : "+r"(address));
	return address;
}

START_TEST(frames_have_the_inlined_functions)
{
	uint32_t own = add_own_modules();
	uint64_t address = wrapping_function();
	struct place places[SYMBOL_MAX_INLINED];
	open_symbols();
	ck_assert_uint_eq(symbols_find_frames(symbols, (struct code){ own, address }, places), 2);
	ck_assert_str_eq(places[0].name, "synthetic_wrapper");
	ck_assert_ptr_nonnull(strstr(places[0].file, "synthetic.h"));
	ck_assert_str_eq(places[1].name, "wrapping_function");
	ck_assert_ptr_nonnull(strstr(places[1].file, "check_loader_symbols.c"));
	ck_assert_uint_eq(places[1].line, known_line);
	ck_assert_uint_eq(places[1].address, address);
	address = known_function();
	ck_assert_uint_eq(symbols_find_frames(symbols, (struct code){ own, address }, places), 1);
	ck_assert_str_eq(places[0].name, "known_function");
	ck_assert_uint_eq(
	        symbols_find_frames(symbols, (struct code){ MAPPED_NONE, 0x1234 }, places), 1);
	ck_assert_str_eq(places[0].name, "");
	ck_assert_uint_eq(places[0].address, 0x1234);
}
END_TEST

START_TEST(file_has_a_build_id)
{
	uint32_t own = add_own_modules();
	const unsigned char *id;
	open_symbols();
	ck_assert_uint_ge(symbols_build_id(symbols, own, &id), 8);
}
END_TEST

START_TEST(wrapper_in_a_header_is_skipped)
{
	uint32_t own = add_own_modules();
	uint64_t address = wrapping_function();
	struct place place;
	open_symbols();
	symbols_find_call(symbols, (struct code){ own, address }, &place);
	ck_assert_str_eq(place.name, "wrapping_function");
	ck_assert_ptr_nonnull(strstr(place.file, "check_loader_symbols.c"));
	ck_assert_uint_eq(place.line, known_line);
}
END_TEST

START_TEST(variable_has_a_name)
{
	uint32_t own = add_own_modules();
	struct place place;
	int on_stack;
	open_symbols();
	ck_assert(find_data((uint64_t)(uintptr_t)&known_mutex, &place));
	ck_assert_str_eq(place.name, "known_mutex");
	ck_assert_uint_eq(place.name_offset, 0);
	ck_assert_str_eq(place.module, self);
	ck_assert(find_data((uint64_t)(uintptr_t)&known_mutex + 8, &place));
	ck_assert_uint_eq(place.name_offset, 8);
	ck_assert(!find_data((uint64_t)(uintptr_t)&on_stack, &place));
	ck_assert_str_eq(place.module, "");
	ck_assert_uint_lt(own, record->entries[REGION_MODULES]);
}
END_TEST

START_TEST(changed_file_is_named_and_not_used)
{
	uint32_t own = add_own_modules();
	struct record_module *module = synthetic_entry(&made, REGION_MODULES, own);
	struct place place;
	module->inode++;
	open_symbols();
	uint64_t address = known_function();
	symbols_find_call(symbols, (struct code){ own, address }, &place);
	ck_assert_str_eq(place.name, "");
	ck_assert_uint_eq(place.line, 0);
	ck_assert_uint_eq(place.module_offset, address - module->start + module->file_offset);
	ck_assert_uint_eq(symbols_count_changed(symbols), 1);
	ck_assert_str_eq(symbols_changed_path(symbols, 0), self);
}
END_TEST

START_TEST(what_is_no_program_file_gives_offsets)
{
	static const char *const paths[] = { "/nowhere/lib.so", "/dev/zero", "/proc/self/stat", "/",
		"[vdso]", "relative.so", "" };
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct record_module *module = synthetic_add(&made, REGION_MODULES);
		module->start = 0x10000;
		module->end = 0x20000;
		module->file_offset = 0x400;
		strcpy(module->path, paths[i]);
	}
	open_symbols();
	for (uint32_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct place place;
		symbols_find_call(symbols, (struct code){ i, 0x10010 }, &place);
		ck_assert_str_eq(place.module, paths[i]);
		ck_assert_uint_eq(place.module_offset, 0x410);
		ck_assert_str_eq(place.name, "");
	}
	struct place place;
	symbols_find_call(symbols, (struct code){ MODEL_NONE, 0x10010 }, &place);
	ck_assert_str_eq(place.module, "");
	ck_assert_uint_eq(place.address, 0x10010);
}
END_TEST

/* Damaged ELF files must not crash the reader: cut ones, and ones with flipped bits. */
START_TEST(damaged_program_files_never_crash)
{
	char path[] = "/tmp/check_loader.XXXXXX";
	int from = open("/proc/self/exe", O_RDONLY), to = mkstemp(path);
	static unsigned char bytes[65536];
	ck_assert_int_ge(from, 0);
	ck_assert_int_ge(to, 0);
	ssize_t size = read(from, bytes, sizeof(bytes));
	ck_assert_int_gt(size, 4096);
	struct stat status;
	ck_assert_int_eq(fstat(to, &status), 0);
	struct record_module *module = synthetic_add(&made, REGION_MODULES);
	*module =
	        (struct record_module){ .start = 0x10000, .end = 0x90000, .inode = status.st_ino };
	strcpy(module->path, path);
	srandom(3);
	for (int round = 0; round < 200; round++) {
		unsigned char flipped[sizeof(bytes)];
		memcpy(flipped, bytes, (size_t)size);
		for (int flip = 0; flip < 8; flip++)
			flipped[random() % 1024] ^= (unsigned char)(1 << random() % 8);
		size_t length = round % 2 ? (size_t)size : (size_t)random() % (size_t)size;
		memcpy(flipped, "\177ELF", 4);
		ck_assert_int_eq(ftruncate(to, 0), 0);
		ck_assert_int_eq(pwrite(to, flipped, length, 0), (ssize_t)length);
		struct place place;
		open_symbols();
		symbols_find_call(symbols, (struct code){ 0, 0x10100 }, &place);
		find_data(0x10200, &place);
		symbols_close(symbols);
		mapped_free(mapped);
		record_free(record);
	}
	symbols = NULL;
	mapped = NULL;
	record = NULL;
	unlink(path);
}
END_TEST

START_TEST(names_are_demangled)
{
	static const struct {
		const char *mangled, *plain;
	} cases[] = {
		{ "main", "main" },
		{ "_ZN3THD4lockEv", "THD::lock()" },
		{ "_ZNSt3mapIiiSt4lessIiESaISt4pairIKiiEEE6insertEv",
		        "std::map<int, int, std::less<int>, std::allocator<std::pair<int const, "
		        "int> > >::insert()" },
		{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
		{ "_ZBroken", "_ZBroken" },
		{ "fork@@GLIBC_2.2.5", "fork" },
		{ "_ZN3THD4lockEv@VERSION", "THD::lock()" },
	};
	char name[SYMBOL_NAME_SIZE];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		symbol_demangle(cases[i].mangled, name);
		ck_assert_str_eq(name, cases[i].plain);
	}
}
END_TEST

START_TEST(names_are_shortened_from_the_least_telling)
{
	static const struct {
		const char *name;
		unsigned width;
		const char *shorter;
	} cases[] = {
		{ "THD::lock(int, char const*) const", 40, "THD::lock" },
		{ "void table::add<long>(long)", 40, "table::add<long>" },
		{ "std::map<int, int>::insert()", 40, "std::map<int, int>::insert" },
		{ "std::map<int, int>::insert()", 20, "std::map<>::insert" },
		{ "std::map<int, int>::insert()", 16, "map<>::insert" },
		{ "(anonymous namespace)::run(int)", 40, "(anonymous namespace)::run" },
		{ "a::operator()(int) const", 40, "a::operator()" },
		{ "bool a::operator<(a const&)", 40, "a::operator<" },
		{ "a::operator bool() const", 40, "a::operator bool" },
		{ "b::c::work(int) [clone .isra.0]", 40, "b::c::work" },
		{ "a_very_long_c_function_name", 12, "...tion_name" },
		{ "", 12, "" },
		{ "f(", 5, "f" },
		{ "f<", 2, "f<" },
	};
	char name[SYMBOL_NAME_SIZE];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		symbol_shorten(cases[i].name, cases[i].width, name);
		ck_assert_str_eq(name, cases[i].shorter);
	}
}
END_TEST

/* Lines, offsets and addresses are never cut; whatever is leaves dots. */
START_TEST(places_are_fitted_into_columns)
{
	static const struct {
		const struct place place;
		unsigned width;
		const char *text;
	} cases[] = {
		{ { .address = 0x55b24a8512a0 }, 47, "0x55b24a8512a0" },
		{ { .address = 0x55b24a8512a0 }, 8, "0x55b24a8512a0" },
		{ { .name = "runtime", .name_offset = 0xc8, .module = "/a/st2" }, 47,
		        "runtime+0xc8 in st2" },
		{ { .name = "runtime", .name_offset = 0xc8, .module = "/a/st2" }, 15,
		        "runtime+0xc8" },
		{ { .name = "runtime_of_all", .name_offset = 0xc8, .module = "/a/libruntime.so.1" },
		        26, "...me_of_all+0xc8 in l..so" },
		{ { .name = "runtime", .module = "/a/libruntime.so.1" }, 22,
		        "runtime in libr..me.so" },
		{ { .module = "/a/a_library_of_a_long_name.so.12.34", .module_offset = 0x1234 }, 22,
		        "a_libr..name.so+0x1234" },
		{ { .name = "work", .line = 1234, .file = "a/storage_engine_handler.cc" }, 30,
		        "work at storage..ndler.cc:1234" },
		{ { .line = 12, .file = "a/b.c" }, 30, "b.c:12" },
		{ { .line = 0 }, 30, "unknown" },
	};
	char text[PLACE_TEXT_WIDTH + 1];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		place_text(&cases[i].place, cases[i].width, text);
		ck_assert_str_eq(text, cases[i].text);
	}
}
END_TEST

START_TEST(headers_are_told_from_sources)
{
	ck_assert(symbol_is_header("/usr/include/c++/12/mutex"));
	ck_assert(symbol_is_header("/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h"));
	ck_assert(symbol_is_header("include/mysql/psi/mysql_thread.h"));
	ck_assert(!symbol_is_header("sql/sql_base.cc"));
	ck_assert(!symbol_is_header("Makefile"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbols");
	TCase *tcase = tcase_create("files");
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, call_has_function_and_line);
	tcase_add_test(tcase, wrapper_in_a_header_is_skipped);
	tcase_add_test(tcase, frames_have_the_inlined_functions);
	tcase_add_test(tcase, file_has_a_build_id);
	tcase_add_test(tcase, variable_has_a_name);
	tcase_add_test(tcase, changed_file_is_named_and_not_used);
	tcase_add_test(tcase, what_is_no_program_file_gives_offsets);
	tcase_add_test(tcase, damaged_program_files_never_crash);
	suite_add_tcase(suite, tcase);
	TCase *names = tcase_create("names");
	tcase_add_test(names, names_are_demangled);
	tcase_add_test(names, names_are_shortened_from_the_least_telling);
	tcase_add_test(names, places_are_fitted_into_columns);
	tcase_add_test(names, headers_are_told_from_sources);
	suite_add_tcase(suite, names);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
