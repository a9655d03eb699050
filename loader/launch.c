/*
 * Fork, exec and wait, with signals taken one at a time by sigtimedwait(), so that no handler is
 * needed.
 */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"

#define SHELL_SIGNAL_BASE 128

static void watched_signals(sigset_t *set)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
		SIGWINCH, SIGCHLD };
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(set, signals[i]);
	for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
		sigaddset(set, signal);
}

static _Noreturn void execute(struct launch *launch, int error_fd)
{
	sigaction(SIGCHLD, &launch->old_child, NULL);
	sigprocmask(SIG_SETMASK, &launch->old_mask, NULL);
	execve(launch->path, launch->arguments, launch->environment);
	int error = errno;
	ssize_t written = write(error_fd, &error, sizeof(error));
	_exit(written == sizeof(error) ? 127 : 126);
}

/* What the child said before it became the program: 0 when exec succeeded. */
static int read_exec_error(int fd)
{
	int error = 0;
	ssize_t got;
	do
		got = read(fd, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	return got == sizeof(error) ? error : 0;
}

static void restore_signals(const struct launch *launch)
{
	sigaction(SIGCHLD, &launch->old_child, NULL);
	sigprocmask(SIG_SETMASK, &launch->old_mask, NULL);
}

int launch_start(struct launch *launch)
{
	int pipe_fds[2];
	if (pipe2(pipe_fds, O_CLOEXEC) != 0)
		return errno;
	/* An ignored SIGCHLD would take the status of the program away. */
	const struct sigaction plain = { .sa_handler = SIG_DFL };
	sigaction(SIGCHLD, &plain, &launch->old_child);
	watched_signals(&launch->watched);
	sigprocmask(SIG_BLOCK, &launch->watched, &launch->old_mask);
	launch->pid = fork();
	if (launch->pid == 0)
		execute(launch, pipe_fds[1]);
	int error = launch->pid < 0 ? errno : 0;
	close(pipe_fds[1]);
	if (error == 0) {
		launch->start_ticks = process_start_ticks(launch->pid);
		error = read_exec_error(pipe_fds[0]);
		if (error != 0)
			waitpid(launch->pid, NULL, 0);
	}
	close(pipe_fds[0]);
	if (error != 0)
		restore_signals(launch);
	return error;
}

/* The terminal sends its signals to the whole foreground group; a hang-up only to the leader of the
 * session. */
static bool must_forward(const siginfo_t *info)
{
	if (info->si_signo == SIGCHLD)
		return false;
	if (info->si_code != SI_KERNEL)
		return true;
	return info->si_signo == SIGHUP && getsid(0) == getpid();
}

int launch_wait(struct launch *launch)
{
	int status;
	for (;;) {
		siginfo_t info;
		pid_t ended = waitpid(launch->pid, &status, WNOHANG);
		if (ended == launch->pid || (ended < 0 && errno != EINTR))
			break;
		if (sigwaitinfo(&launch->watched, &info) > 0 && must_forward(&info))
			kill(launch->pid, info.si_signo);
	}
	restore_signals(launch);
	return status;
}

void launch_end_like(int wait_status)
{
	if (!WIFSIGNALED(wait_status))
		exit(WEXITSTATUS(wait_status));
	int signal = WTERMSIG(wait_status);
	const struct rlimit no_core = { 0, 0 };
	const struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t set;
	setrlimit(RLIMIT_CORE, &no_core);
	sigaction(signal, &plain, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signal);
	exit(SHELL_SIGNAL_BASE + signal);
}
