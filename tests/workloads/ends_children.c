/*
 * Has children, or turns into another program, in the way its argument names, after 1000 mutex
 * acquisitions. Usage: ends_children WAY; ends_children lock TIMES STATUS locks and exits;
 * ends_children exec FORM and exec-failing FORM try one form of exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ends.h"

#define CHILD_LOCKS      50
#define GRANDCHILD_LOCKS 60
#define LATER_LOCKS      7

/* In glibc since 2.34. */
__attribute__((weak)) pid_t _Fork(void);

extern char **environ;

static char self[4096];

static void say_status(pid_t pid)
{
	int status = -1;
	require(waitpid(pid, &status, 0) == pid, "waitpid");
	say("child ended: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static int child_of(pid_t pid)
{
	require(pid >= 0, "fork");
	if (pid == 0) {
		lock_times(CHILD_LOCKS);
		exit(5);
	}
	say_status(pid);
	lock_times(LATER_LOCKS);
	return 3;
}

static int with_fork(void)
{
	return child_of(fork());
}

static int with__Fork(void)
{
	return child_of(_Fork != NULL ? _Fork() : fork());
}

static int with_clone_call(void)
{
	return child_of((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static void *forks(void *unused)
{
	with_fork();
	return unused;
}

static int with_fork_in_thread(void)
{
	pthread_join(start_thread(forks), NULL);
	return 3;
}

static int with_idle_fork(void)
{
	pid_t pid = fork();
	if (pid == 0)
		exit(6);
	say_status(pid);
	return 3;
}

/* The child is killed before it sees its end. */
static int with_killed_fork(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		lock_times(CHILD_LOCKS);
		raise(SIGKILL);
	}
	say_status(pid);
	return 3;
}

static int with_two_forks(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		lock_times(CHILD_LOCKS);
		setsid();
		if (fork() != 0)
			_exit(0);
		lock_times(GRANDCHILD_LOCKS);
		exit(4);
	}
	say_status(pid);
	return 3;
}

static int with_vfork_exit(void)
{
	pid_t pid = vfork();
	if (pid == 0)
		_exit(7);
	say_status(pid);
	lock_times(LATER_LOCKS);
	return 3;
}

static int with_vfork_exec(void)
{
	pid_t pid = vfork();
	if (pid == 0) {
		execl(self, self, "lock", "50", "5", (char *)NULL);
		_exit(127);
	}
	say_status(pid);
	lock_times(LATER_LOCKS);
	return 3;
}

static int with_vfork_failing_exec(void)
{
	pid_t pid = vfork();
	if (pid == 0) {
		execl("/nowhere/program", "program", (char *)NULL);
		_exit(127);
	}
	say_status(pid);
	lock_times(LATER_LOCKS);
	return 3;
}

static int with_spawn(void)
{
	pid_t pid = -1;
	char *const argv[] = { self, (char *)"lock", (char *)"50", (char *)"5", NULL };
	require(posix_spawn(&pid, self, NULL, NULL, argv, environ) == 0, "posix_spawn");
	say_status(pid);
	return 3;
}

static int with_system(void)
{
	char command[5000];
	snprintf(command, sizeof(command), "exec '%s' lock 50 5", self);
	say("system: %d\n", WEXITSTATUS(system(command)));
	return 3;
}

static int with_popen(void)
{
	char command[5000], line[64] = "";
	snprintf(command, sizeof(command), "exec '%s' lock 50 5", self);
	FILE *pipe = popen(command, "r");
	require(pipe != NULL && fgets(line, sizeof(line), pipe) != NULL, "popen");
	say("popen: %s", line);
	say("pclose: %d\n", WEXITSTATUS(pclose(pipe)));
	return 3;
}

static int with_daemon(void)
{
	require(daemon(0, 1) == 0, "daemon");
	lock_times(CHILD_LOCKS);
	say("daemon runs\n");
	return 4;
}

static int with_detached_daemon(void)
{
	int out = dup(1);
	char directory[16];
	require(daemon(0, 0) == 0, "daemon");
	lock_times(CHILD_LOCKS);
	require(dup2(out, 1) == 1 && getcwd(directory, sizeof(directory)) != NULL, "dup2");
	say("daemon runs in %s; input %d\n", directory, (int)read(0, directory, 1));
	return 4;
}

static const struct ending endings[] = {
	{ "fork", with_fork },
	{ "_Fork", with__Fork },
	{ "clone-call", with_clone_call },
	{ "fork-in-thread", with_fork_in_thread },
	{ "idle-fork", with_idle_fork },
	{ "killed-fork", with_killed_fork },
	{ "two-forks", with_two_forks },
	{ "vfork-exit", with_vfork_exit },
	{ "vfork-exec", with_vfork_exec },
	{ "vfork-failing-exec", with_vfork_failing_exec },
	{ "spawn", with_spawn },
	{ "system", with_system },
	{ "popen", with_popen },
	{ "daemon", with_daemon },
	{ "detached-daemon", with_detached_daemon },
};

/* Returns only when the exec has failed. */
static void exec_as(const char *form, char *program, char *const argv[])
{
	if (strcmp(form, "execve") == 0)
		execve(program, argv, environ);
	else if (strcmp(form, "execv") == 0)
		execv(program, argv);
	else if (strcmp(form, "execvp") == 0)
		execvp(program, argv);
	else if (strcmp(form, "execvpe") == 0)
		execvpe(program, argv, environ);
	else if (strcmp(form, "execl") == 0)
		execl(program, program, "lock", "50", "5", (char *)NULL);
	else if (strcmp(form, "execle") == 0)
		execle(program, program, "lock", "50", "5", (char *)NULL, environ);
	else if (strcmp(form, "execlp") == 0)
		execlp(program, program, "lock", "50", "5", (char *)NULL);
	else if (strcmp(form, "fexecve") == 0)
		fexecve(open(program, O_RDONLY | O_CLOEXEC), argv, environ);
	else if (strcmp(form, "execveat") == 0)
		execveat(AT_FDCWD, program, argv, environ, 0);
	else if (strcmp(form, "syscall") == 0)
		syscall(SYS_execve, program, argv, environ);
	else
		require(0, "form of exec");
}

static int run_exec(const char *form, char *program)
{
	char *const argv[] = { program, (char *)"lock", (char *)"50", (char *)"5", NULL };
	errno = 0;
	exec_as(form, program, argv);
	say("%s: %s\n", form, strerror(errno));
	lock_times(LATER_LOCKS);
	return 8;
}

int main(int argc, char **argv)
{
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	require(argc > 1 && length > 0, "usage: ends_children WAY");
	if (argc == 4 && strcmp(argv[1], "lock") == 0) {
		lock_times(atoi(argv[2]));
		say("locked\n");
		return atoi(argv[3]);
	}
	if (argc == 3 && strcmp(argv[1], "exec-idle") == 0)
		return run_exec(argv[2], self);
	if (argc == 3 && strcmp(argv[1], "exec-idle-failing") == 0)
		return run_exec(argv[2], (char *)"/nowhere/program");
	work();
	if (argc == 3 && strcmp(argv[1], "exec") == 0)
		return run_exec(argv[2], self);
	if (argc == 3 && strcmp(argv[1], "exec-failing") == 0)
		return run_exec(argv[2], (char *)"/nowhere/program");
	return run_ending(endings, sizeof(endings) / sizeof(*endings), argv[1]);
}
