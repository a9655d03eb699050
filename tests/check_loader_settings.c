/*
 * What -s KEY=VALUE does to the environment, and where libabshim.so lands in LD_PRELOAD.
 */
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/elf.h"
#include "loader/preload.h"
#include "loader/settings.h"

static struct environment environment;
static char why[WHY_SIZE];

static void start(void)
{
	char *const from[] = { "PATH=/bin", "EMPTY=", "LD_PRELOAD_OTHER=x", NULL };
	ck_assert(environment_copy(&environment, from));
}

static void stop(void)
{
	environment_free(&environment);
}

static const char *get(const char *name)
{
	const char *value = environment_get(&environment, name);
	return value != NULL ? value : "(unset)";
}

static void apply(const char *setting)
{
	ck_assert_msg(setting_apply(&environment, setting, why), "%s", why);
}

START_TEST(own_keys_become_variables)
{
	char directory[PATH_MAX], expected[PATH_MAX + 32];
	ck_assert_ptr_nonnull(getcwd(directory, sizeof(directory)));
	apply("mutex=yield:30");
	apply("stats=off");
	apply("match=my*");
	apply("atomics=llsc");
	ck_assert_str_eq(get("ABSHIM_ATOMICS"), "llsc");
	ck_assert_str_eq(get("ABSHIM_MUTEX"), "yield:30");
	ck_assert_str_eq(get("ABSHIM_STATS"), "off");
	ck_assert_str_eq(get("ABSHIM_MATCH"), "my*");
	apply("ABSHIM_MUTEX=park");
	ck_assert_str_eq(get("ABSHIM_MUTEX"), "park");
	apply("report=none");
	ck_assert_str_eq(get("ABSHIM_REPORT"), "none");
	apply("report=out-%p-%e%%.json");
	snprintf(expected, sizeof(expected), "%s/out-%%p-%%e%%%%.json", directory);
	ck_assert_str_eq(get("ABSHIM_REPORT"), expected);
	apply("report=/tmp/x");
	ck_assert_str_eq(get("ABSHIM_REPORT"), "/tmp/x");
	apply("dir=records");
	snprintf(expected, sizeof(expected), "%s/records", directory);
	ck_assert_str_eq(get("ABSHIM_DIR"), expected);
}
END_TEST

/* A name may stand in several rows, each for other locks. */
static bool takes(unsigned family, const char *name)
{
	for (size_t i = 0; i < setting_strategy_count; i++)
		if ((setting_strategies[i].families & family) != 0 &&
		        strcmp(setting_strategies[i].name, name) == 0)
			return true;
	return false;
}

START_TEST(every_strategy_of_the_table_is_taken)
{
	static const struct {
		unsigned family;
		const char *key;
	} keys[] = { { FOR_MUTEX, "mutex" }, { FOR_RWLOCK, "rwlock" }, { FOR_SPINLOCK, "spinlock" },
		{ FOR_SEM, "sem" }, { FOR_FUTEX, "futex" } };
	char setting[64];
	unsigned taken = 0;
	for (size_t i = 0; i < setting_strategy_count * 5; i++) {
		const struct setting_strategy *strategy = &setting_strategies[i / 5];
		bool right = takes(keys[i % 5].family, strategy->name);
		snprintf(setting, sizeof(setting), "%s=%s", keys[i % 5].key, strategy->name);
		ck_assert_msg(setting_apply(&environment, setting, why) == right, "%s", setting);
		strcat(setting, ":7");
		ck_assert_msg(
		        setting_apply(&environment, setting, why) == (right && strategy->count > 0),
		        "%s", setting);
		taken += (strategy->families & keys[i % 5].family) != 0;
	}
	ck_assert_uint_ge(taken, 7 + 4 + 3 * 3);
}
END_TEST

START_TEST(plain_variables_are_set_joined_and_removed)
{
	apply("HOME=/a=b");
	ck_assert_str_eq(get("HOME"), "/a=b");
	apply("PATH+=/usr/bin");
	ck_assert_str_eq(get("PATH"), "/bin:/usr/bin");
	apply("PATH-=/bin");
	ck_assert_str_eq(get("PATH"), "/usr/bin");
	apply("PATH-=/not/there");
	ck_assert_str_eq(get("PATH"), "/usr/bin");
	apply("PATH-=/usr/bin");
	ck_assert_str_eq(get("PATH"), "(unset)");
	apply("JAVA_TOOL_OPTIONS+=-XX:-UseTLAB");
	apply("JAVA_TOOL_OPTIONS+=-Xmx1g");
	ck_assert_str_eq(get("JAVA_TOOL_OPTIONS"), "-XX:-UseTLAB -Xmx1g");
	apply("CFLAGS=-O2");
	apply("CFLAGS+=-g");
	ck_assert_str_eq(get("CFLAGS"), "-O2 -g");
	apply("ASAN_OPTIONS=a=1");
	apply("ASAN_OPTIONS+=b=2");
	ck_assert_str_eq(get("ASAN_OPTIONS"), "a=1:b=2");
	apply("EMPTY+=x");
	ck_assert_str_eq(get("EMPTY"), "x");
	apply("ASAN_OPTIONS-=");
	ck_assert_str_eq(get("ASAN_OPTIONS"), "(unset)");
	apply("_X=1");
	ck_assert_str_eq(get("_X"), "1");
	ck_assert_str_eq(get("LD_PRELOAD_OTHER"), "x");
	ck_assert_str_eq(get("LD_PRELOAD"), "(unset)");
}
END_TEST

START_TEST(what_is_wrong_is_said)
{
	static const struct {
		const char *setting, *reason;
	} cases[] = {
		{ "mutex", "must be KEY=VALUE" },
		{ "=x", "must be KEY=VALUE" },
		{ "+=x", "must be KEY=VALUE" },
		{ "9X=x", "must be KEY=VALUE" },
		{ "A B=x", "must be KEY=VALUE" },
		{ "", "must be KEY=VALUE" },
		{ "mutexes=park", "unknown key" },
		{ "rwlocks=spin", "unknown key" },
		{ "rwlock=park", "unknown strategy; right are glibc, spin[:N], yield[:N]" },
		{ "spinlock=park", "right are glibc, spin[:N], yield[:N], backoff[:N]" },
		{ "sem=kernel", "unknown strategy; right are glibc, spin[:N], yield[:N]" },
		{ "futex=glibc", "unknown strategy; right are kernel, spin[:N], yield[:N]" },
		{ "futex=kernel:1", "takes no number" },
		{ "sem=yield:0", "from 1 to 1000000" },
		{ "pause=none", "right are default, pause, isb, yield, sb, nop" },
		{ "atomics=LSE", "atomics=LSE: right are native, lse and llsc" },
		{ "atomics=", "right are native, lse and llsc" },
		{ "atomics+=lse", "holds one value" },
		{ "stacks=65", "from 0 to 64" },
		{ "stacks=", "from 0 to 64" },
		{ "ABSHIM_RUN_PID=1", "unknown key" },
		{ "ABSHIM_MUTEXES=1", "unknown key" },
		{ "mutex+=park", "holds one value" },
		{ "ABSHIM_STATS-=on", "holds one value" },
		{ "mutex=", "unknown strategy; right are glibc, park, spin[:N]" },
		{ "mutex=Park", "unknown strategy" },
		{ "mutex=park:3", "takes no number" },
		{ "mutex=yield:", "from 1 to 1000000" },
		{ "mutex=yield:0", "from 1 to 1000000" },
		{ "mutex=yield:1000001", "from 1 to 1000000" },
		{ "mutex=yield:18446744073709551617", "from 1 to 1000000" },
		{ "mutex=yield:+5", "from 1 to 1000000" },
		{ "mutex=yield:5x", "from 1 to 1000000" },
		{ "stats=ON", "right are on, off, hold and alloc" },
		{ "alloc=TLAB", "right are libc, shared and tlab" },
		{ "alloc=", "right are libc, shared and tlab" },
		{ "report=", "right are stderr, none or a path" },
		{ "report=/tmp/%x", "after % comes p" },
		{ "report=/tmp/%", "after % comes p" },
		{ "dir=", "must be a directory" },
		{ "match=", "must be a glob" },
	};
	size_t count = environment.count;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		why[0] = '\0';
		ck_assert_msg(!setting_apply(&environment, cases[i].setting, why), "%s was taken",
		        cases[i].setting);
		ck_assert_msg(
		        strstr(why, cases[i].reason) != NULL, "%s: %s", cases[i].setting, why);
	}
	ck_assert_uint_eq(environment.count, count);
}
END_TEST

static void expect_preload(const char *old, const char *sanitizer, const char *expected)
{
	if (old != NULL)
		ck_assert(environment_set(&environment, "LD_PRELOAD", old));
	else
		environment_unset(&environment, "LD_PRELOAD");
	ck_assert(preload_set(&environment, "/x/libabshim.so", sanitizer));
	ck_assert_str_eq(get("LD_PRELOAD"), expected);
}

START_TEST(sanitizers_come_before_us_and_others_after)
{
	expect_preload(NULL, "", "/x/libabshim.so");
	expect_preload("", "", "/x/libabshim.so");
	expect_preload("libjemalloc.so.2", "", "/x/libabshim.so:libjemalloc.so.2");
	expect_preload("a.so b.so:c.so", "", "/x/libabshim.so:a.so:b.so:c.so");
	expect_preload("a.so:/l/libasan.so.8", "", "/l/libasan.so.8:/x/libabshim.so:a.so");
	expect_preload("a.so", "libtsan.so.2", "libtsan.so.2:/x/libabshim.so:a.so");
	expect_preload("/l/libasan.so.8", "libasan.so.8", "/l/libasan.so.8:/x/libabshim.so");
	expect_preload("/old/libabshim.so:a.so", "", "/x/libabshim.so:a.so");
	expect_preload("::", "", "/x/libabshim.so");
}
END_TEST

START_TEST(sanitizer_runtimes_are_known_by_name)
{
	ck_assert(elf_is_sanitizer("libasan.so.8"));
	ck_assert(elf_is_sanitizer("/usr/lib/llvm/libclang_rt.asan-x86_64.so"));
	ck_assert(elf_is_sanitizer("libubsan.so.1"));
	ck_assert(!elf_is_sanitizer("libasanity.so"));
	ck_assert(!elf_is_sanitizer("libc.so.6"));
	ck_assert(!elf_is_sanitizer("libasan"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("settings");
	TCase *tcase = tcase_create("environment");
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, own_keys_become_variables);
	tcase_add_test(tcase, every_strategy_of_the_table_is_taken);
	tcase_add_test(tcase, plain_variables_are_set_joined_and_removed);
	tcase_add_test(tcase, what_is_wrong_is_said);
	tcase_add_test(tcase, sanitizers_come_before_us_and_others_after);
	tcase_add_test(tcase, sanitizer_runtimes_are_known_by_name);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
