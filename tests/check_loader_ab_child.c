/*
 * Programs under limits: late ones, deaf ones, their groups and orphans, and what a signal to the
 * command does meanwhile.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/ab/child.h"
#include "loader/process.h"

#define LONG 60.0 /* seconds: never waited for where all is well */

static char directory[] = "/tmp/abshim-child-XXXXXX";
static char out[64];

static void start(void)
{
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(out, sizeof(out), "%s/out", directory);
	children_begin();
}

static void stop(void)
{
	children_end_strays(NULL);
	children_finish();
	unlink(out);
	rmdir(directory);
}

static struct child shell(const char *command)
{
	struct child child;
	char *const arguments[] = { "sh", "-c", (char *)command, NULL };
	const struct child_program program = { "/bin/sh", arguments, environ, out, NULL };
	ck_assert_int_eq(child_start(&child, &program), 0);
	return child;
}

/* The numbers that the children wrote, once there are so many. */
static void await_numbers(unsigned count, int *numbers)
{
	unsigned got = 0;
	for (int tries = 0; tries < 6000 && got < count; tries++) {
		FILE *in = fopen(out, "re");
		ck_assert_ptr_nonnull(in);
		for (got = 0; got < count && fscanf(in, "%d", &numbers[got]) == 1; got++)
			continue;
		fclose(in);
		usleep(10000);
	}
	ck_assert_uint_eq(got, count);
}

START_TEST(an_end_is_seen)
{
	struct child child = shell("exit 7");
	ck_assert_int_eq(child_wait(&child, LONG), CHILD_ENDED);
	ck_assert(WIFEXITED(child.status) && WEXITSTATUS(child.status) == 7);
	child_end(&child, SIGTERM, true, LONG);
	ck_assert_int_eq(WEXITSTATUS(child.status), 7);
}
END_TEST

START_TEST(what_cannot_be_started_is_said)
{
	struct child child;
	char *const arguments[] = { "nothing", NULL };
	const struct child_program program = { "/not/there", arguments, environ, out, NULL };
	ck_assert_int_eq(child_start(&child, &program), ENOENT);
}
END_TEST

START_TEST(a_late_child_is_ended)
{
	struct child child = shell("exec sleep 60");
	ck_assert_int_eq(child_wait(&child, 0.01), CHILD_LATE);
	child_end(&child, SIGTERM, true, LONG);
	ck_assert(child.ended && WIFSIGNALED(child.status));
	ck_assert_int_eq(WTERMSIG(child.status), SIGTERM);
}
END_TEST

START_TEST(a_deaf_child_is_killed)
{
	int pid;
	struct child child = shell("trap '' TERM; echo $$; while :; do sleep 0.05; done");
	await_numbers(1, &pid);
	child_end(&child, SIGTERM, false, 0.05);
	ck_assert(WIFSIGNALED(child.status));
	ck_assert_int_eq(WTERMSIG(child.status), SIGKILL);
}
END_TEST

START_TEST(nothing_of_its_group_stays)
{
	int pids[2];
	struct child child = shell("sleep 60 & echo $! $$; exec sleep 60");
	await_numbers(2, pids);
	ck_assert_int_eq(pids[1], child.pid);
	child_end(&child, SIGTERM, false, LONG);
	children_end_strays(NULL);
	ck_assert(process_has_ended(pids[0]));
	ck_assert(process_has_ended(pids[1]));
}
END_TEST

START_TEST(orphans_of_other_groups_are_ended)
{
	int pids[1];
	struct child keep = shell("exec sleep 60");
	struct child child = shell("setsid sh -c 'echo $$; sleep 60; :' & sleep 0.01");
	await_numbers(1, pids);
	ck_assert_int_eq(child_wait(&child, LONG), CHILD_ENDED);
	children_end_strays(&keep);
	ck_assert(process_has_ended(pids[0]));
	ck_assert(!process_has_ended(keep.pid));
	child_end(&keep, SIGTERM, true, LONG);
}
END_TEST

START_TEST(a_signal_interrupts_the_wait)
{
	struct child child = shell("exec sleep 60");
	raise(SIGINT);
	ck_assert_int_eq(child_wait(&child, LONG), CHILD_INTERRUPTED);
	ck_assert_int_eq(children_interrupted(), SIGINT);
	ck_assert(!child.ended);
	child_end(&child, SIGTERM, true, LONG);
	ck_assert_int_eq(WTERMSIG(child.status), SIGTERM);
	/* It is still known afterwards. */
	ck_assert_int_eq(children_interrupted(), SIGINT);
}
END_TEST

START_TEST(a_stop_by_the_terminal_is_ignored)
{
	raise(SIGTSTP);
	struct child child = shell("exit 0");
	ck_assert_int_eq(child_wait(&child, LONG), CHILD_ENDED);
	ck_assert_int_eq(children_interrupted(), 0);
}
END_TEST

/* The fixture ends what watches signals: this process must not stop then. */
START_TEST(a_stop_that_nobody_waited_for_is_ignored)
{
	raise(SIGTSTP);
}
END_TEST

START_TEST(a_second_signal_kills)
{
	int pid;
	struct child child =
	        shell("trap 'kill -INT $PPID' TERM; echo $$; while :; do sleep 0.05; done");
	await_numbers(1, &pid);
	raise(SIGTERM);
	ck_assert_int_eq(child_wait(&child, LONG), CHILD_INTERRUPTED);
	child_end(&child, SIGTERM, false, LONG);
	ck_assert_int_eq(WTERMSIG(child.status), SIGKILL);
}
END_TEST

START_TEST(input_is_empty_and_signals_are_as_before)
{
	struct child child = shell("cat; trap 'exit 3' INT; kill -INT $$; exit 4");
	ck_assert_int_eq(child_wait(&child, LONG), CHILD_ENDED);
	ck_assert_int_eq(WEXITSTATUS(child.status), 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("children");
	TCase *tcase = tcase_create("children");
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, an_end_is_seen);
	tcase_add_test(tcase, what_cannot_be_started_is_said);
	tcase_add_test(tcase, a_late_child_is_ended);
	tcase_add_test(tcase, a_deaf_child_is_killed);
	tcase_add_test(tcase, nothing_of_its_group_stays);
	/* Emulators do not pass this on, and so orphans to nobody. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 0) == 0)
		tcase_add_test(tcase, orphans_of_other_groups_are_ended);
	else
		puts("orphans are left out: this machine hands them to its first process");
	tcase_add_test(tcase, a_signal_interrupts_the_wait);
	tcase_add_test(tcase, a_stop_by_the_terminal_is_ignored);
	tcase_add_test(tcase, a_stop_that_nobody_waited_for_is_ignored);
	tcase_add_test(tcase, a_second_signal_kills);
	tcase_add_test(tcase, input_is_empty_and_signals_are_as_before);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
