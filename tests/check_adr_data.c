/*
 * What addresses made by ADR reach: words that are data, and code that must not be taken for it.
 */
#include <check.h>
#include <stdlib.h>

#include "probes/adr_data.h"

#define BASE UINT64_C(0x10000)
#define RET  0xd65f03c0u
#define LOAD 0xb8607820u /* ldr w0, [x1, x0, lsl #2] */
#define DATA 0xb8200020u

static uint32_t adr(unsigned reg, unsigned words)
{
	return 0x10000000u | words << 5 | reg;
}

static bool find(const uint32_t *words, size_t count, size_t at, struct adr_data *data)
{
	return adr_data_find(&(struct adr_code){ words, count, BASE }, at, data);
}

static void expect_words(const struct adr_data *data, size_t from, size_t to)
{
	ck_assert_uint_eq(data->start, BASE + from * 4);
	ck_assert_uint_eq(data->end, BASE + to * 4);
}

START_TEST(table_without_bound_ends_with_the_code)
{
	static const uint32_t words[] = { 0x10000061, LOAD, RET, DATA, DATA, DATA };
	struct adr_data data;
	ck_assert_uint_eq(words[0], adr(1, 3));
	ck_assert(find(words, 6, 0, &data));
	expect_words(&data, 3, 6);
}
END_TEST

START_TEST(table_ends_where_a_branch_goes)
{
	/* cbz w0, +6; adr x1, +3 */
	static const uint32_t words[] = { 0x340000c0, 0x10000061, LOAD, RET, DATA, DATA, RET, RET };
	struct adr_data data;
	ck_assert(find(words, 8, 1, &data));
	expect_words(&data, 4, 6);
}
END_TEST

START_TEST(table_ends_by_its_compare)
{
	/* cmp w0, #1; b.hi +6 */
	static const uint32_t words[] = { 0x7100041f, 0x540000c8, 0x10000061, LOAD, RET, DATA, DATA,
		DATA };
	struct adr_data data;
	ck_assert(find(words, 8, 2, &data));
	expect_words(&data, 5, 7);
	/* of another register */
	static const uint32_t other[] = { 0x7100045f, 0x540000e8, 0x10000061, LOAD, RET, DATA, DATA,
		DATA };
	ck_assert(find(other, 8, 2, &data));
	expect_words(&data, 5, 8);
}
END_TEST

START_TEST(literal_is_as_long_as_its_load)
{
	/* ldr x0, [x1, #8] */
	static const uint32_t words[] = { 0x10000061, 0xf9400420, RET, DATA, DATA, DATA, DATA,
		DATA };
	struct adr_data data;
	ck_assert(find(words, 8, 0, &data));
	expect_words(&data, 5, 7);
}
END_TEST

START_TEST(labels_of_jumps_are_code)
{
	/* add x1, x1, x0; br x1 */
	static const uint32_t words[] = { 0x10000061, 0x8b000021, 0xd61f0020, DATA, RET };
	struct adr_data data;
	ck_assert(!find(words, 5, 0, &data));
	ck_assert(!find(words, 5, 1, &data));
}
END_TEST

START_TEST(what_escapes_is_data_unless_it_is_reached)
{
	/* adr x0, +2; ret */
	static const uint32_t words[] = { 0x10000040, RET, DATA, DATA };
	struct adr_data data;
	ck_assert(find(words, 4, 0, &data));
	expect_words(&data, 2, 4);
	/* adr x0, +2; b +1 */
	static const uint32_t reached[] = { 0x10000040, 0x14000001, DATA, RET };
	ck_assert(!find(reached, 4, 0, &data));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ADR's data");
	TCase *tcase = tcase_create("ADR's data");
	tcase_add_test(tcase, table_without_bound_ends_with_the_code);
	tcase_add_test(tcase, table_ends_where_a_branch_goes);
	tcase_add_test(tcase, table_ends_by_its_compare);
	tcase_add_test(tcase, literal_is_as_long_as_its_load);
	tcase_add_test(tcase, labels_of_jumps_are_code);
	tcase_add_test(tcase, what_escapes_is_data_unless_it_is_reached);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
