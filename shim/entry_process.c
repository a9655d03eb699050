/*
 * The ways in which a process ends, turns into another program, or leaves a child behind: its
 * record is closed first. exit() and quick_exit() call handlers, see exit.c; vfork() and
 * posix_spawn() concern a child only, which has no record until it executes a program.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "exit.h"
#include "export.h"
#include "probes/record_map.h"
#include "probes/sys.h"
#include "real.h"
#include "signals.h"
#include "start.h"

EXPORT pid_t _Fork(void)
{
	if (REAL(_Fork) == NULL) {
		errno = ENOSYS;
		return -1;
	}
	pid_t pid = REAL(_Fork)();
	if (pid == 0)
		start_forked();
	return pid;
}

static int fail(int error)
{
	errno = error;
	return -1;
}

/* Lets descriptors 0 to 2 lead nowhere. */
static int detach_standard_descriptors(void)
{
	struct stat status;
	int fd = sys_open("/dev/null", O_RDWR, 0);
	if (fd < 0)
		return fail(-fd);
	bool is_null = !sys_failed(sys_call3(SYS_fstat, fd, SYS_ARG(&status), 0)) &&
	               S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
	for (int standard = 0; is_null && standard <= 2; standard++)
		dup2(fd, standard);
	if (fd > 2 || !is_null)
		sys_close(fd);
	return is_null ? 0 : fail(ENODEV);
}

/* libc's own leaves the parent without a call that we could see. */
EXPORT int daemon(int nochdir, int noclose)
{
	pid_t pid = fork();
	if (pid == -1)
		return -1;
	if (pid != 0) {
		exit_report(END_DAEMON, 0);
		REAL(_exit)(0);
	}
	if (setsid() == -1)
		return -1;
	if (!nochdir)
		sys_call3(SYS_chdir, SYS_ARG("/"), 0, 0);
	return noclose ? 0 : detach_standard_descriptors();
}

/* Undoes what was done before an exec that has failed. */
static int failed(int result)
{
	int error = errno;
	exit_after_failed_exec();
	errno = error;
	return result;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	exit_before_exec();
	return failed(REAL(execve)(path, argv, envp));
}

EXPORT int execv(const char *path, char *const argv[])
{
	exit_before_exec();
	return failed(REAL(execv)(path, argv));
}

EXPORT int execvp(const char *file, char *const argv[])
{
	exit_before_exec();
	return failed(REAL(execvp)(file, argv));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	exit_before_exec();
	return failed(REAL(execvpe)(file, argv, envp));
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	exit_before_exec();
	return failed(REAL(fexecve)(fd, argv, envp));
}

EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	if (REAL(execveat) == NULL)
		return fail(ENOSYS);
	exit_before_exec();
	return failed(REAL(execveat)(fd, path, argv, envp, flags));
}

/* How many arguments there are, with the NULL that ends them. */
static size_t count_arguments(const char *first, va_list list)
{
	size_t count = 1;
	for (const char *argument = first; argument != NULL; argument = va_arg(list, const char *))
		count++;
	return count;
}

/* Leaves the list after the NULL. */
static void fill_arguments(char **argv, size_t count, const char *first, va_list *list)
{
	argv[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; i < count; i++)
		argv[i] = va_arg(*list, char *);
}

EXPORT int execl(const char *path, const char *first, ...)
{
	va_list list;
	va_start(list, first);
	size_t count = count_arguments(first, list);
	va_end(list);
	char *argv[count];
	va_start(list, first);
	fill_arguments(argv, count, first, &list);
	va_end(list);
	exit_before_exec();
	return failed(REAL(execv)(path, argv));
}

EXPORT int execle(const char *path, const char *first, ...)
{
	va_list list;
	va_start(list, first);
	size_t count = count_arguments(first, list);
	va_end(list);
	char *argv[count];
	va_start(list, first);
	fill_arguments(argv, count, first, &list);
	char *const *envp = va_arg(list, char *const *);
	va_end(list);
	exit_before_exec();
	return failed(REAL(execve)(path, argv, envp));
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list list;
	va_start(list, first);
	size_t count = count_arguments(first, list);
	va_end(list);
	char *argv[count];
	va_start(list, first);
	fill_arguments(argv, count, first, &list);
	va_end(list);
	exit_before_exec();
	return failed(REAL(execvp)(file, argv));
}

EXPORT void _exit(int status)
{
	exit_report(END__EXIT, status);
	for (;;)
		REAL(_exit)(status);
}

EXPORT void _Exit(int status)
{
	exit_report(END__EXIT, status);
	for (;;)
		REAL(_Exit)(status);
}

/* Whether abort() is sure to end the process: a handler may still get it out of there. */
static bool abort_is_final(void)
{
	struct signal_action action;
	if (!start_has_record() || record_filtered() ||
	        sys_failed(signals_action(SIGABRT, NULL, &action)))
		return false;
	return action.handler == (uintptr_t)SIG_DFL || action.handler == (uintptr_t)SIG_IGN;
}

EXPORT void abort(void)
{
	if (abort_is_final())
		exit_report(END_ABORT, -1);
	for (;;)
		REAL(abort)();
}
