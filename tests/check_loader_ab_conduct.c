/*
 * The order of runs, repeated runs, and ends of all kinds, with a launcher that makes values up.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loader/ab/experiment.h"
#include "tests/fake_runs.h"

static char *directory;

static void start(void)
{
	directory = fake_directory();
}

static void stop(void)
{
	fake_remove(directory);
}

static void expect_letters(const struct experiment *experiment, const char *wanted)
{
	char *letters = fake_letters(experiment);
	ck_assert_str_eq(letters, wanted);
	free(letters);
}

/* Conducts a whole experiment of good runs. */
static void complete(struct experiment *experiment, struct design design)
{
	struct fake fake = fake_launcher();
	fake_create(experiment, directory, &design);
	ck_assert_int_eq(fake_conduct(experiment, &fake), CONDUCT_COMPLETE);
	ck_assert(conduct_is_complete(experiment));
}

START_TEST(two_arms_run_as_abba)
{
	struct experiment experiment;
	complete(&experiment, fake_design(2, 5));
	expect_letters(&experiment, "ab"
	                            "ab"
	                            "ba"
	                            "ab"
	                            "ba"
	                            "ab");
	ck_assert(experiment.runs[1].warmup && !experiment.runs[2].warmup);
	ck_assert_uint_eq(experiment.runs[1].block, 0);
	ck_assert_uint_eq(experiment.runs[2].block, 1);
	ck_assert_uint_eq(experiment.runs[11].block, 5);
	journal_close(&experiment);
}
END_TEST

START_TEST(a_fixed_order_stays)
{
	struct experiment experiment;
	struct design design = fake_design(3, 2);
	design.order = ORDER_FIXED;
	design.warmups = 0;
	complete(&experiment, design);
	expect_letters(&experiment, "abcabc");
	journal_close(&experiment);
}
END_TEST

START_TEST(a_random_order_is_balanced_and_follows_the_seed)
{
	enum { ARMS = 4, BLOCKS = 4000 };
	unsigned counts[ARMS][ARMS] = { { 0 } }, same = 0;
	for (unsigned block = 0; block < BLOCKS; block++) {
		unsigned seen = 0;
		for (size_t place = 0; place < ARMS; place++) {
			size_t arm = order_arm(ORDER_RANDOM, 42, ARMS, block, place);
			ck_assert_uint_lt(arm, ARMS);
			ck_assert_uint_eq(arm, order_arm(ORDER_RANDOM, 42, ARMS, block, place));
			same += arm == order_arm(ORDER_RANDOM, 43, ARMS, block, place);
			seen |= 1u << arm;
			counts[place][arm]++;
		}
		ck_assert_uint_eq(seen, (1u << ARMS) - 1);
	}
	/* 1000 expected each, standard deviation 27; the seed is fixed, so this cannot vary. */
	for (size_t place = 0; place < ARMS; place++)
		for (size_t arm = 0; arm < ARMS; arm++)
			ck_assert_msg(counts[place][arm] > 860 && counts[place][arm] < 1140,
			        "arm %zu at place %zu: %u", arm, place, counts[place][arm]);
	/* Another seed agrees by chance only: 4000 expected, standard deviation 63. */
	ck_assert_uint_lt(same, 4400);
}
END_TEST

static enum fake_fate second_try(unsigned number)
{
	return number == 3 || number == 4 || number == 7 ? FAKE_INVALID : FAKE_GOOD;
}

START_TEST(invalid_runs_are_kept_and_repeated)
{
	struct experiment experiment;
	char why[WHY_SIZE];
	struct fake fake = fake_launcher();
	struct design design = fake_design(2, 2);
	fake.fate = second_try;
	fake_create(&experiment, directory, &design);
	ck_assert_int_eq(fake_conduct(&experiment, &fake), CONDUCT_COMPLETE);
	ck_assert_uint_eq(experiment.run_count, 9);
	expect_letters(&experiment, "ababba");
	ck_assert(!experiment.runs[2].valid && !experiment.runs[3].valid);
	ck_assert_uint_eq(experiment.runs[4].attempt, 3);
	ck_assert_uint_eq(experiment.runs[4].arm, experiment.runs[2].arm);
	ck_assert_uint_eq(experiment.runs[5].attempt, 1);
	struct experiment_values *values = experiment_load(experiment.path, why);
	ck_assert_msg(values != NULL, "%s", why);
	ck_assert_uint_eq(values->invalid, 3);
	ck_assert_uint_eq(values->warmups, 2);
	ck_assert_uint_eq(values->complete, 2);
	ck_assert_uint_eq(values->metrics[0].arms[0].n, 2);
	ck_assert_str_eq(values->metrics[0].name, "throughput");
	ck_assert_uint_eq(values->metrics[0].arms[0].positions[0], 5);
	ck_assert_uint_eq(values->metrics[0].arms[1].blocks[1], 2);
	ck_assert_msg(strstr(values->notes[0], "run 3 (arm a) is invalid: the client did not end"),
	        "%s", values->notes[0]);
	experiment_values_free(values);
	journal_close(&experiment);
}
END_TEST

static enum fake_fate never_again(unsigned number)
{
	return number >= 4 ? FAKE_INVALID : FAKE_GOOD;
}

START_TEST(an_experiment_fails_after_all_attempts)
{
	struct experiment experiment;
	struct fake fake = fake_launcher();
	struct design design = fake_design(2, 2);
	design.retries = 2;
	fake.fate = never_again;
	fake_create(&experiment, directory, &design);
	ck_assert_int_eq(fake_conduct(&experiment, &fake), CONDUCT_INVALID);
	ck_assert_uint_eq(experiment.run_count, 6);
	ck_assert_uint_eq(experiment.runs[5].attempt, 3);
	/* Once the cause is gone it goes on at that place. */
	fake.fate = NULL;
	journal_close(&experiment);
	fake_resume(&experiment, directory);
	ck_assert_int_eq(fake_conduct(&experiment, &fake), CONDUCT_COMPLETE);
	expect_letters(&experiment, "ababba");
	journal_close(&experiment);
}
END_TEST

static enum fake_fate hopeless(unsigned number)
{
	return number == 2 ? FAKE_HOPELESS : FAKE_GOOD;
}

START_TEST(no_attempt_follows_one_without_hope)
{
	struct experiment experiment;
	struct fake fake = fake_launcher();
	struct design design = fake_design(2, 2);
	fake.fate = hopeless;
	fake_create(&experiment, directory, &design);
	ck_assert_int_eq(fake_conduct(&experiment, &fake), CONDUCT_HOPELESS);
	ck_assert_uint_eq(experiment.run_count, 2);
	ck_assert(!experiment.runs[1].valid);
	journal_close(&experiment);
}
END_TEST

START_TEST(an_open_end_stops_when_the_interval_is_narrow)
{
	struct experiment experiment;
	struct design design = fake_design(2, 3);
	design.until = 0.5; /* narrow enough at once */
	complete(&experiment, design);
	ck_assert_uint_eq(journal_filled(&experiment), 2 + 2 * DESIGN_LEAST_BLOCKS);
	journal_close(&experiment);
}
END_TEST

START_TEST(an_open_end_has_an_end)
{
	struct experiment experiment;
	struct design design = fake_design(2, 3);
	design.until = 1e-9;
	design.max_runs = 14;
	complete(&experiment, design);
	ck_assert_uint_eq(journal_filled(&experiment), 2 + 2 * 14);
	journal_close(&experiment);
}
END_TEST

START_TEST(a_directory_is_not_shared_or_overwritten)
{
	char path[256], why[WHY_SIZE];
	struct experiment experiment, other;
	struct design design = fake_design(2, 2), again = fake_design(2, 2);
	snprintf(path, sizeof(path), "%s/x", directory);
	fake_create(&experiment, directory, &design);
	json_t *machine = json_object();
	ck_assert(!journal_create(&other, path, &again, machine, why));
	ck_assert_msg(strstr(why, "exists and is left alone") != NULL, "%s", why);
	json_decref(machine);
	ck_assert(!journal_open(&other, path, JOURNAL_RESUME, why));
	ck_assert_msg(strstr(why, "another abshim is at work") != NULL, "%s", why);
	ck_assert(journal_open(&other, path, JOURNAL_READ, why));
	journal_close(&other);
	journal_close(&experiment);
	ck_assert(!journal_open(&other, directory, JOURNAL_READ, why));
	ck_assert_msg(strstr(why, "no experiment.json") != NULL, "%s", why);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("experiments");
	TCase *tcase = tcase_create("conduct");
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, two_arms_run_as_abba);
	tcase_add_test(tcase, a_fixed_order_stays);
	tcase_add_test(tcase, a_random_order_is_balanced_and_follows_the_seed);
	tcase_add_test(tcase, invalid_runs_are_kept_and_repeated);
	tcase_add_test(tcase, an_experiment_fails_after_all_attempts);
	tcase_add_test(tcase, no_attempt_follows_one_without_hope);
	tcase_add_test(tcase, an_open_end_stops_when_the_interval_is_narrow);
	tcase_add_test(tcase, an_open_end_has_an_end);
	tcase_add_test(tcase, a_directory_is_not_shared_or_overwritten);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
