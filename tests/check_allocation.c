/*
 * GLIBC_TUNABLES as the arms of ABSHIM_ALLOC change it, the table of blocks' owners, and the
 * reading of tunables in this process.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/allocation.h"
#include "shim/alloc/tunables.h"
#include "shim/alloc_count/owners.h"

#define SHARED "glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0"
#define TLAB                                                                                       \
	"glibc.malloc.arena_max=65536:glibc.malloc.arena_test=65536:"                              \
	"glibc.malloc.tcache_count=65535:glibc.malloc.tcache_max=1032"

/* What owners.c has; that file is none of libabshim.so's. */
uint64_t owners_table[OWNERS];
__thread uint32_t owners_thread __attribute__((tls_model("initial-exec")));

uint32_t owners_new_thread(void)
{
	static uint32_t last;
	return owners_thread = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

START_TEST(arms_are_added)
{
	static const struct {
		enum record_alloc_choice arm;
		const char *before, *after;
		enum allocation_result result;
	} cases[] = {
		{ ALLOC_SHARED, NULL, SHARED, ALLOCATION_ADDED },
		{ ALLOC_SHARED, "", SHARED, ALLOCATION_ADDED },
		{ ALLOC_TLAB, NULL, TLAB, ALLOCATION_ADDED },
		{ ALLOC_LIBC, NULL, "", ALLOCATION_THERE },
		{ ALLOC_SHARED, SHARED, SHARED, ALLOCATION_THERE },
		{ ALLOC_TLAB, "a.b=c:" TLAB, "a.b=c:" TLAB, ALLOCATION_THERE },
		{ ALLOC_SHARED, "a.b=c", "a.b=c:" SHARED, ALLOCATION_ADDED },
		{ ALLOC_SHARED, "glibc.malloc.arena_max=01",
		        "glibc.malloc.arena_max=01:glibc.malloc.tcache_count=0", ALLOCATION_ADDED },
		{ ALLOC_SHARED, "glibc.malloc.arena_maximum=7",
		        "glibc.malloc.arena_maximum=7:" SHARED, ALLOCATION_ADDED },
		{ ALLOC_SHARED, "glibc.malloc.arena_test=7", "glibc.malloc.arena_test=7:" SHARED,
		        ALLOCATION_ADDED },
		{ ALLOC_SHARED, "glibc.malloc.arena_max=2:glibc.malloc.arena_max=1",
		        "glibc.malloc.arena_max=2:glibc.malloc.arena_max=1:"
		        "glibc.malloc.tcache_count=0",
		        ALLOCATION_ADDED },
	};
	char text[ALLOCATION_TEXT_SIZE];
	const char *name;
	ck_assert_int_eq(
	        allocation_add(cases[_i].arm, cases[_i].before, text, &name), cases[_i].result);
	ck_assert_str_eq(text, cases[_i].after);
}
END_TEST

START_TEST(conflicts_are_named)
{
	static const struct {
		enum record_alloc_choice arm;
		const char *before, *name;
	} cases[] = {
		{ ALLOC_SHARED, "glibc.malloc.arena_max=2", "arena_max" },
		{ ALLOC_SHARED, "glibc.malloc.arena_max=", "arena_max" },
		{ ALLOC_SHARED, "glibc.malloc.arena_max=1x", "arena_max" },
		{ ALLOC_SHARED, "x=y:glibc.malloc.tcache_count=7:z=0", "tcache_count" },
		{ ALLOC_TLAB, SHARED, "arena_max" },
		{ ALLOC_TLAB, "glibc.malloc.tcache_max=0x409", "tcache_max" },
	};
	char text[ALLOCATION_TEXT_SIZE];
	const char *name = "";
	ck_assert_int_eq(
	        allocation_add(cases[_i].arm, cases[_i].before, text, &name), ALLOCATION_CONFLICT);
	ck_assert_str_eq(name, cases[_i].name);
}
END_TEST

START_TEST(too_much_is_left_alone)
{
	char text[ALLOCATION_TEXT_SIZE], before[2 * ALLOCATION_TEXT_SIZE];
	const char *name;
	for (size_t length = ALLOCATION_TEXT_SIZE - 60; length < sizeof(before); length += 7) {
		memset(before, 'x', length);
		before[length] = '\0';
		enum allocation_result result = allocation_add(ALLOC_SHARED, before, text, &name);
		bool fits = length + 1 + strlen(SHARED) < ALLOCATION_TEXT_SIZE;
		ck_assert_int_eq(result, fits ? ALLOCATION_ADDED : ALLOCATION_TOO_LONG);
	}
}
END_TEST

START_TEST(what_was_added_can_be_taken_away)
{
	static const struct {
		enum record_alloc_choice arm;
		const char *before, *after; /* after NULL: nothing is taken */
	} cases[] = {
		{ ALLOC_SHARED, SHARED, "" },
		{ ALLOC_TLAB, "a=b:" TLAB, "a=b" },
		{ ALLOC_TLAB, "a=b" TLAB, NULL },
		{ ALLOC_TLAB, SHARED, NULL },
		{ ALLOC_SHARED, SHARED ":a=b", NULL },
		{ ALLOC_SHARED, "glibc.malloc.arena_max=1", NULL },
		{ ALLOC_SHARED, NULL, NULL },
		{ ALLOC_LIBC, "", NULL },
	};
	char text[ALLOCATION_TEXT_SIZE] = "untouched";
	bool taken = allocation_take_away(cases[_i].arm, cases[_i].before, text);
	ck_assert_int_eq(taken, cases[_i].after != NULL);
	if (taken)
		ck_assert_str_eq(text, cases[_i].after);
}
END_TEST

START_TEST(numbers_are_read_as_glibc_does)
{
	static const struct {
		const char *text;
		bool is;
		uint64_t value;
	} cases[] = {
		{ "0", true, 0 },
		{ "1032", true, 1032 },
		{ "0x1F", true, 31 },
		{ "017", true, 15 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "", false, 0 },
		{ "0x", false, 0 },
		{ "08", false, 0 },
		{ "-1", false, 0 },
		{ "1 ", false, 0 },
		{ "ten", false, 0 },
	};
	uint64_t value;
	bool is = allocation_number(cases[_i].text, strlen(cases[_i].text), &value);
	ck_assert_int_eq(is, cases[_i].is);
	if (is)
		ck_assert_uint_eq(value, cases[_i].value);
}
END_TEST

/* This process was started without any, or with those of a value that 0 is not. */
START_TEST(tunables_can_be_read)
{
	uint64_t values[TUNABLE_COUNT];
	tunables_read(values);
	for (int i = 0; i < TUNABLE_COUNT; i++) {
		uint64_t wanted = 0;
		allocation_find(getenv("GLIBC_TUNABLES"), (enum record_tunable)i, &wanted);
		ck_assert_msg(values[i] == wanted, "%s: %lu",
		        allocation_name((enum record_tunable)i), (unsigned long)values[i]);
	}
}
END_TEST

/* An address of the sample, the numberth. */
static void *sampled(unsigned number)
{
	uintptr_t address = 0x7f0000000000;
	for (;; address += 1u << BLOCK_SHIFT)
		if (owners_sampled(owners_hash((void *)address)) && number-- == 0)
			return (void *)address;
}

static void *find_from_elsewhere(void *block)
{
	uint64_t entry;
	return (void *)(uintptr_t)owners_find(block, &entry);
}

START_TEST(owners_are_known)
{
	uint64_t entry;
	pthread_t thread;
	void *block = sampled(3), *found;
	ck_assert_int_eq(owners_find(block, &entry), OWNER_UNKNOWN);
	owners_put(block);
	ck_assert_int_eq(owners_find(block, &entry), OWNER_CALLER);
	ck_assert_int_eq(pthread_create(&thread, NULL, find_from_elsewhere, block), 0);
	pthread_join(thread, &found);
	ck_assert_int_eq((int)(uintptr_t)found, OWNER_OTHER);
	owners_drop(block, entry);
	ck_assert_int_eq(owners_find(block, &entry), OWNER_UNKNOWN);
}
END_TEST

START_TEST(a_newer_owner_is_not_forgotten)
{
	uint64_t old, entry;
	void *block = sampled(5);
	owners_put(block);
	ck_assert_int_eq(owners_find(block, &old), OWNER_CALLER);
	owners_thread = 77; /* the block is got by another thread before it is dropped here */
	owners_put(block);
	owners_drop(block, old);
	ck_assert_int_eq(owners_find(block, &entry), OWNER_CALLER);
}
END_TEST

START_TEST(a_sixteenth_of_addresses_is_sampled)
{
	unsigned count = 0, addresses = 1u << 16;
	for (uintptr_t i = 0; i < addresses; i++)
		count += owners_sampled(owners_hash((void *)(0x555500000000 + i * 32)));
	ck_assert_uint_gt(count, addresses / ALLOCATION_SAMPLE * 9 / 10);
	ck_assert_uint_lt(count, addresses / ALLOCATION_SAMPLE * 11 / 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("allocation");
	TCase *texts = tcase_create("tunables"), *owners = tcase_create("owners");
	tcase_add_loop_test(texts, arms_are_added, 0, 11);
	tcase_add_loop_test(texts, conflicts_are_named, 0, 6);
	tcase_add_test(texts, too_much_is_left_alone);
	tcase_add_loop_test(texts, what_was_added_can_be_taken_away, 0, 8);
	tcase_add_loop_test(texts, numbers_are_read_as_glibc_does, 0, 12);
	tcase_add_test(texts, tunables_can_be_read);
	tcase_add_test(owners, owners_are_known);
	tcase_add_test(owners, a_newer_owner_is_not_forgotten);
	tcase_add_test(owners, a_sixteenth_of_addresses_is_sampled);
	suite_add_tcase(suite, texts);
	suite_add_tcase(suite, owners);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
