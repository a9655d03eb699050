/*
 * Bytes out of the command, and programs started by it: complete, never over another file, ended
 * as the program ended.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/launch.h"
#include "loader/output.h"
#include "loader/process.h"

static char directory[] = "/tmp/check_loader.XXXXXX", path[256];

static void start(void)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void stop(void)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

/* Opens the name for a report; expects the name it really gets. */
static void expect_name(const char *name, const char *real_name)
{
	struct output_file file;
	char expected[256];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	snprintf(expected, sizeof(expected), "%s/%s", directory, real_name);
	ck_assert_int_eq(output_open(path, &file), 0);
	ck_assert_str_eq(file.path, expected);
	ck_assert(file.created);
	ck_assert_int_eq(output_close(&file), 0);
}

START_TEST(existing_reports_are_kept)
{
	expect_name("out.json", "out.json");
	expect_name("out.json", "out.1.json");
	expect_name("out.json", "out.2.json");
	expect_name("out.1.json", "out.1.1.json");
	expect_name("plain", "plain");
	expect_name("plain", "plain.1");
	expect_name(".hidden", ".hidden");
	expect_name(".hidden", ".hidden.1");
	char target[300];
	snprintf(path, sizeof(path), "%s/link.txt", directory);
	snprintf(target, sizeof(target), "%s/nowhere", directory);
	ck_assert_int_eq(symlink(target, path), 0);
	expect_name("link.txt", "link.1.txt");
}
END_TEST

START_TEST(devices_and_pipes_are_written_to)
{
	struct output_file file;
	ck_assert_int_eq(output_open("/dev/full", &file), 0);
	ck_assert(!file.created);
	ck_assert_int_eq(output_write(file.fd, "x", 1, OUTPUT_FOREVER), ENOSPC);
	output_close(&file);
	snprintf(path, sizeof(path), "%s/fifo", directory);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(output_open(path, &file), ENXIO); /* nobody reads it */
	int reader = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_eq(output_open(path, &file), 0);
	ck_assert_int_eq(output_write(file.fd, "line", 4, OUTPUT_FOREVER), 0);
	char line[8];
	ck_assert_int_eq(read(reader, line, sizeof(line)), 4);
	output_close(&file);
	close(reader);
	ck_assert_int_eq(output_open("/nowhere/out", &file), ENOENT);
	ck_assert_int_eq(output_open(directory, &file), EISDIR); /* and no numbered neighbour */
}
END_TEST

START_TEST(full_pipe_is_given_up)
{
	int fds[2];
	static char bytes[1 << 20];
	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(output_write(fds[1], bytes, 4096, 10), 0);
	ck_assert_int_eq(output_write(fds[1], bytes, sizeof(bytes), 10), ETIMEDOUT);
	ck_assert_int_eq(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(output_write(fds[1], bytes, sizeof(bytes), 10), ETIMEDOUT);
	signal(SIGPIPE, SIG_IGN);
	close(fds[0]);
	ck_assert_int_eq(output_write(fds[1], bytes, 1, 10), EPIPE);
}
END_TEST

START_TEST(closed_standard_descriptors_are_not_reused)
{
	int saved = dup(STDERR_FILENO);
	close(STDIN_FILENO);
	close(STDERR_FILENO);
	output_guard_standard_descriptors();
	int fd = open("/dev/null", O_WRONLY);
	bool in_order = fd > 2 && write(STDERR_FILENO, "x", 1) < 0 && errno == EBADF &&
	                fcntl(STDERR_FILENO, F_GETFD) == FD_CLOEXEC;
	dup2(saved, STDERR_FILENO);
	ck_assert(in_order);
}
END_TEST

/* Starts `sh -c script`. */
static struct launch start_shell(const char *script)
{
	static char *arguments[] = { "sh", "-c", NULL, NULL };
	static char *environment[] = { "PATH=/bin:/usr/bin", NULL };
	arguments[2] = (char *)(uintptr_t)script;
	struct launch launch = {
		.path = "/bin/sh", .arguments = arguments, .environment = environment
	};
	ck_assert_int_eq(launch_start(&launch), 0);
	return launch;
}

START_TEST(status_of_the_program_is_seen)
{
	struct launch launch = start_shell("exit 7");
	int status = launch_wait(&launch);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 7);
	launch = start_shell("kill -9 $$");
	ck_assert_uint_gt(launch.start_ticks, 0);
	status = launch_wait(&launch);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}
END_TEST

START_TEST(failed_exec_is_an_error_number)
{
	char *arguments[] = { "x", NULL }, *environment[] = { NULL };
	struct launch launch = {
		.path = "/nowhere/x", .arguments = arguments, .environment = environment
	};
	ck_assert_int_eq(launch_start(&launch), ENOENT);
	launch.path = "/tmp";
	ck_assert_int_eq(launch_start(&launch), EACCES);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left behind */
}
END_TEST

START_TEST(ignored_sigchld_loses_no_status)
{
	static char *arguments[] = { "grep", "-q", "SigIgn:.*[1-9a-f][0-9a-f]\\{4\\}$",
		"/proc/self/status", NULL };
	static char *environment[] = { NULL };
	struct launch launch = {
		.path = "/bin/grep", .arguments = arguments, .environment = environment
	};
	signal(SIGCHLD, SIG_IGN); /* bit 16: the program still finds it ignored */
	ck_assert_int_eq(launch_start(&launch), 0);
	int status = launch_wait(&launch);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	struct sigaction action;
	ck_assert_int_eq(sigaction(SIGCHLD, NULL, &action), 0);
	ck_assert(action.sa_handler == SIG_IGN);
}
END_TEST

START_TEST(signals_are_passed_on)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct launch launch =
		        start_shell("trap 'exit 9' TERM INT HUP QUIT USR1 USR2; kill -STOP $$; "
		                    "while :; do sleep 0.01; done");
		/* Only once its traps are set does it stop; then the signal waits for us. */
		ck_assert_int_eq(waitpid(launch.pid, NULL, WUNTRACED), launch.pid);
		kill(getpid(), signals[i]);
		kill(launch.pid, SIGCONT);
		int status = launch_wait(&launch);
		ck_assert(WIFEXITED(status));
		ck_assert_int_eq(WEXITSTATUS(status), 9);
	}
}
END_TEST

static int wait_for(pid_t pid)
{
	int status = 0;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

START_TEST(we_end_as_the_program_ended)
{
	static const char *const scripts[] = { "exit 0", "exit 78", "kill -TERM $$",
		"kill -SEGV $$", "kill -KILL $$" };
	static const int signals[] = { 0, 0, SIGTERM, SIGSEGV, SIGKILL };
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		pid_t pid = fork();
		if (pid == 0) {
			struct launch launch = start_shell(scripts[i]);
			int status = launch_wait(&launch);
			if (!WIFSIGNALED(status))
				_exit(WEXITSTATUS(status));
			launch_end_like(status);
		}
		int status = wait_for(pid);
		if (signals[i] == 0)
			ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == (i == 0 ? 0 : 78));
		else
			ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == signals[i] &&
			          !WCOREDUMP(status));
	}
}
END_TEST

START_TEST(process_facts_are_read)
{
	char name[RECORD_NAME_SIZE] = "old";
	ck_assert_uint_gt(process_start_ticks(getpid()), 0);
	ck_assert_uint_eq(process_start_ticks(getpid()), process_start_ticks(getpid()));
	ck_assert_uint_eq(process_start_ticks(0x7ffffff0), 0);
	process_thread_name(0x7ffffff0, 1, name);
	ck_assert_str_eq(name, "old");
	process_thread_name(getpid(), getpid(), name);
	ck_assert_str_ne(name, "old");
	ck_assert_str_ne(name, "");
}
END_TEST

static char mapped[] = "/tmp/check_loader.XXXXXX" RECORD_SUFFIX;

/* Nothing of the first thread's stack is left for it: a sanitizer may take that away at the end of
 * the thread. */
static void *map_and_stay(void *unused)
{
	(void)unused;
	int fd = open(mapped, O_RDONLY);
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		_exit(1);
	for (;;)
		pause();
}

/* The state of a process's first thread, as in /proc/PID/stat. */
static char state_of(pid_t pid)
{
	char file[64], state = '?';
	snprintf(file, sizeof(file), "/proc/%d/stat", (int)pid);
	FILE *stat = fopen(file, "r");
	ck_assert_ptr_nonnull(stat);
	ck_assert_int_eq(fscanf(stat, "%*d %*s %c", &state), 1);
	fclose(stat);
	return state;
}

static void await_zombie(pid_t pid)
{
	while (state_of(pid) != 'Z')
		usleep(1000);
}

/* Fails with the status of a child that should go on. */
static void expect_alive(pid_t pid)
{
	int status = 0;
	pid_t ended = waitpid(pid, &status, WNOHANG);
	ck_assert_msg(ended == 0, "it has ended with status %#x", (unsigned)status);
}

/* It goes on while one of its threads does, and has ended once it waits to be waited for. */
START_TEST(process_outlives_its_first_thread)
{
	char why[WHY_SIZE];
	struct process_mapping mapping = { .fd = -1 };
	int fd = mkstemps(mapped, (int)strlen(RECORD_SUFFIX));
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	pid_t pid = fork();
	if (pid == 0) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, map_and_stay, NULL) != 0)
			_exit(1);
		pthread_exit(NULL);
	}
	await_zombie(pid);
	expect_alive(pid);
	ck_assert(!process_has_ended(pid));
	while (!process_find_record(pid, &mapping, why)) {
		expect_alive(pid);
		usleep(1000);
	}
	ck_assert_int_ge(mapping.fd, 0);
	ck_assert_int_ne(mapping.thread, pid);
	close(mapping.fd);
	kill(pid, SIGKILL);
	while (!process_has_ended(pid))
		usleep(1000);
	ck_assert(WIFSIGNALED(wait_for(pid)));
	ck_assert(process_has_ended(pid));
	unlink(mapped);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("output and processes");
	TCase *output = tcase_create("output");
	tcase_add_checked_fixture(output, start, stop);
	tcase_add_test(output, existing_reports_are_kept);
	tcase_add_test(output, devices_and_pipes_are_written_to);
	tcase_add_test(output, full_pipe_is_given_up);
	tcase_add_test(output, closed_standard_descriptors_are_not_reused);
	suite_add_tcase(suite, output);
	TCase *programs = tcase_create("programs");
	tcase_set_timeout(programs, 60);
	tcase_add_test(programs, status_of_the_program_is_seen);
	tcase_add_test(programs, failed_exec_is_an_error_number);
	tcase_add_test(programs, ignored_sigchld_loses_no_status);
	tcase_add_test(programs, signals_are_passed_on);
	tcase_add_test(programs, we_end_as_the_program_ended);
	tcase_add_test(programs, process_facts_are_read);
	tcase_add_test(programs, process_outlives_its_first_thread);
	suite_add_tcase(suite, programs);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
