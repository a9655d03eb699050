/*
 * Experiments that are ended at any point and gone on with: nothing is run twice or lost.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "tests/fake_runs.h"

#define WANTED "ababbaab" /* warm-ups, then three blocks */
#define NONE   77         /* this kernel has no ptrace() */

static char *directory;
static char log_path[256], runs_path[256];

static void start(void)
{
	directory = fake_directory();
	snprintf(log_path, sizeof(log_path), "%s/log", directory);
	snprintf(runs_path, sizeof(runs_path), "%s/x/runs.jsonl", directory);
}

static void stop(void)
{
	fake_remove(directory);
}

/* Some runs are invalid, so that their repetition is ended too. */
static enum fake_fate some_invalid(unsigned number)
{
	return number % 4 == 2 ? FAKE_INVALID : FAKE_GOOD;
}

static struct fake logging(void)
{
	struct fake fake = fake_launcher();
	fake.fate = some_invalid;
	fake.log = log_path;
	return fake;
}

/* A file's content with a NUL; the caller's to free. Empty when there is none. */
static char *content(const char *path, size_t *size)
{
	char *text = calloc(1, 65536);
	FILE *in = fopen(path, "re");
	*size = in != NULL ? fread(text, 1, 65535, in) : 0;
	if (in != NULL)
		fclose(in);
	return text;
}

static unsigned lines_of(const char *text)
{
	unsigned lines = 0;
	for (; *text != '\0'; text++)
		lines += *text == '\n';
	return lines;
}

/* The numbers in the log behind `from` bytes, checked: they begin at `first` and go up. */
static void expect_log_from(size_t from, unsigned first)
{
	size_t size;
	char *text = content(log_path, &size), *at = text + from;
	for (unsigned number = first; *at != '\0'; number++) {
		ck_assert_uint_eq(strtoul(at, &at, 10), number);
		at++;
	}
	free(text);
}

/* Goes on after whatever happened, and looks at everything. */
static void resume_and_check(void)
{
	size_t before_size, log_size, after_size;
	struct experiment experiment;
	struct fake fake = logging();
	char *before = content(runs_path, &before_size), *log = content(log_path, &log_size);
	unsigned lines = lines_of(before);
	const char *torn = strrchr(before, '\n');
	size_t whole = torn != NULL ? (size_t)(torn - before) + 1 : 0;
	/* At most one run had begun and has no line. */
	ck_assert_uint_le(lines_of(log), lines + 1);
	fake_resume(&experiment, directory);
	ck_assert_uint_eq(experiment.run_count, lines);
	ck_assert_int_eq(fake_conduct(&experiment, &fake), CONDUCT_COMPLETE);
	char *letters = fake_letters(&experiment);
	ck_assert_str_eq(letters, WANTED);
	for (size_t i = 0; i < experiment.run_count; i++)
		ck_assert_uint_eq(experiment.runs[i].number, i + 1);
	journal_close(&experiment);
	char *after = content(runs_path, &after_size);
	ck_assert_mem_eq(before, after, whole);
	expect_log_from(log_size, lines + 1);
	free(letters);
	free(before);
	free(after);
	free(log);
}

static void conduct_all(void)
{
	struct experiment experiment;
	struct fake fake = logging();
	struct design design = fake_design(2, 3);
	fake_create(&experiment, directory, &design);
	ck_assert_int_eq(fake_conduct(&experiment, &fake), CONDUCT_COMPLETE);
	journal_close(&experiment);
}

static unsigned interrupt_at;

static enum fake_fate interrupted(unsigned number)
{
	return number == interrupt_at ? FAKE_INTERRUPTED : some_invalid(number);
}

START_TEST(after_an_interruption_of_any_run)
{
	struct experiment experiment;
	struct fake fake = logging();
	struct design design = fake_design(2, 3);
	fake.fate = interrupted;
	interrupt_at = (unsigned)_i;
	fake_create(&experiment, directory, &design);
	ck_assert_int_eq(fake_conduct(&experiment, &fake), CONDUCT_INTERRUPTED);
	ck_assert_uint_eq(experiment.run_count, interrupt_at - 1);
	journal_close(&experiment);
	resume_and_check();
}
END_TEST

/* They pile up, and the names for them run out. */
static void remove_cut_runs(void)
{
	char command[256];
	snprintf(command, sizeof(command), "rm -rf '%s'/x/runs/*.cut*", directory);
	ck_assert_int_eq(system(command), 0);
}

/* Cuts the file of runs at every byte, as a machine that loses power may. */
START_TEST(after_a_line_was_cut_anywhere)
{
	size_t size;
	conduct_all();
	char *text = content(runs_path, &size);
	for (size_t cut = 0; cut < size; cut++) {
		FILE *out = fopen(runs_path, "we");
		ck_assert_uint_eq(fwrite(text, 1, cut, out), cut);
		fclose(out);
		unsigned lines = 0;
		for (size_t i = 0; i < cut; i++)
			lines += text[i] == '\n';
		struct experiment experiment;
		fake_resume(&experiment, directory);
		ck_assert_uint_eq(experiment.run_count, lines);
		struct fake fake = fake_launcher();
		fake.fate = some_invalid;
		ck_assert_int_eq(fake_conduct(&experiment, &fake), CONDUCT_COMPLETE);
		char *letters = fake_letters(&experiment);
		ck_assert_str_eq(letters, WANTED);
		free(letters);
		journal_close(&experiment);
		remove_cut_runs();
	}
	free(text);
}
END_TEST

START_TEST(a_damaged_line_is_named)
{
	size_t size;
	char why[WHY_SIZE], path[256];
	struct experiment experiment;
	conduct_all();
	char *text = content(runs_path, &size), *second = strchr(text, '\n') + 1;
	second[5] = '\0';
	FILE *out = fopen(runs_path, "we");
	fwrite(text, 1, size, out);
	fclose(out);
	free(text);
	snprintf(path, sizeof(path), "%s/x", directory);
	ck_assert(!journal_open(&experiment, path, JOURNAL_RESUME, why));
	ck_assert_msg(strstr(why, "runs.jsonl:2: ") != NULL, "%s", why);
}
END_TEST

/* In a child: stops at each system call until it is killed. */
static _Noreturn void be_traced(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(NONE);
	raise(SIGSTOP);
	conduct_all();
	_exit(0);
}

/* Kills an experiment at its stop'th begin or end of a system call. Returns the child's status:
 * whether it had ended before. */
static int kill_at(unsigned stop_number)
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		be_traced();
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	for (unsigned i = 0; WIFSTOPPED(status); i++) {
		if (i == stop_number)
			kill(pid, SIGKILL);
		if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0 && errno != ESRCH)
			ck_abort_msg("ptrace: %s", strerror(errno));
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	}
	return status;
}

START_TEST(after_a_kill_at_any_system_call)
{
	unsigned kills = 0, resumed = 0;
	for (;; kills++) {
		char path[300];
		int status = kill_at(kills);
		if (WIFEXITED(status) && WEXITSTATUS(status) == NONE)
			return;
		if (WIFEXITED(status))
			break;
		ck_assert_int_eq(WTERMSIG(status), SIGKILL);
		snprintf(path, sizeof(path), "%s/x/experiment.json", directory);
		if (access(path, F_OK) == 0) {
			resume_and_check();
			resumed++;
		} else {
			/* Nothing had run yet. */
			ck_assert(access(log_path, F_OK) != 0);
		}
		stop();
		start();
	}
	ck_assert_uint_gt(resumed, 100);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("resumed experiments");
	TCase *tcase = tcase_create("resume");
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, after_an_interruption_of_any_run, 1, 10);
	tcase_add_test(tcase, after_a_line_was_cut_anywhere);
	tcase_add_test(tcase, a_damaged_line_is_named);
	tcase_add_test(tcase, after_a_kill_at_any_system_call);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
