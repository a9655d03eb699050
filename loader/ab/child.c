/*
 * Fork, exec, wait and kill, with signals taken one at a time by sigtimedwait().
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STRAY_ROUNDS 20 /* children of strays become strays */

static const int ending_signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

static sigset_t watched, old_mask;
static struct sigaction old_child, old_pipe;
static int interruption;

void children_begin(void)
{
	/* An ignored SIGCHLD would take the statuses away. */
	const struct sigaction plain = { .sa_handler = SIG_DFL };
	sigaction(SIGCHLD, &plain, &old_child);
	/* A reader that goes away must not keep this process from cleaning up. */
	const struct sigaction ignored = { .sa_handler = SIG_IGN };
	sigaction(SIGPIPE, &ignored, &old_pipe);
	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	/* Stopped, this process would see the ends of children too late. */
	sigaddset(&watched, SIGTSTP);
	for (size_t i = 0; i < sizeof(ending_signals) / sizeof(*ending_signals); i++)
		sigaddset(&watched, ending_signals[i]);
	/* Started by nohup: blocked, it would not be ignored any more. */
	struct sigaction hangup;
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler == SIG_IGN)
		sigdelset(&watched, SIGHUP);
	sigprocmask(SIG_BLOCK, &watched, &old_mask);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	interruption = 0;
}

void children_finish(void)
{
	static const struct timespec now = { 0 };
	sigset_t stop;
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	/* A stop that was asked for meanwhile and not seen yet is ignored as the others were. */
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	while (sigtimedwait(&stop, NULL, &now) == SIGTSTP)
		continue;
	sigaction(SIGCHLD, &old_child, NULL);
	sigaction(SIGPIPE, &old_pipe, NULL);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

double children_clock(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Takes a signal, if one comes within that time. */
static void take_signal(double seconds)
{
	siginfo_t info;
	if (seconds < 0)
		seconds = 0;
	struct timespec limit = { .tv_sec = (time_t)seconds };
	limit.tv_nsec = (long)((seconds - (double)limit.tv_sec) * 1e9);
	int signal = sigtimedwait(&watched, &info, &limit);
	if (signal > 0 && signal != SIGCHLD && signal != SIGTSTP)
		interruption = signal;
}

int children_interrupted(void)
{
	sigset_t pending;
	sigpending(&pending);
	for (size_t i = 0; i < sizeof(ending_signals) / sizeof(*ending_signals); i++)
		if (sigismember(&pending, ending_signals[i]) &&
		        sigismember(&watched, ending_signals[i]))
			take_signal(0);
	return interruption;
}

int children_forget_interruption(void)
{
	int asked = children_interrupted();
	interruption = 0;
	return asked;
}

void children_recall_interruption(int signal)
{
	if (interruption == 0)
		interruption = signal;
}

static bool redirect(const char *path, int flags, int fd)
{
	int file = open(path, flags | O_CLOEXEC, 0666);
	return file >= 0 && dup2(file, fd) == fd;
}

static _Noreturn void execute(const struct child_program *program, pid_t parent, int error_fd)
{
	const int append = O_WRONLY | O_CREAT | O_APPEND;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGCHLD, &old_child, NULL);
	sigaction(SIGPIPE, &old_pipe, NULL);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	if (getppid() == parent && redirect("/dev/null", O_RDONLY, STDIN_FILENO) &&
	        redirect(program->out, append, STDOUT_FILENO) &&
	        (program->err == NULL ? dup2(STDOUT_FILENO, STDERR_FILENO) == STDERR_FILENO
	                              : redirect(program->err, append, STDERR_FILENO)))
		execvpe(program->path, program->arguments, program->environment);
	int error = errno;
	ssize_t written = write(error_fd, &error, sizeof(error));
	_exit(written == sizeof(error) ? 127 : 126);
}

int child_start(struct child *child, const struct child_program *program)
{
	int pipe_fds[2], error = 0;
	*child = (struct child){ .started = children_clock() };
	if (pipe2(pipe_fds, O_CLOEXEC) != 0)
		return errno;
	pid_t parent = getpid();
	child->pid = fork();
	if (child->pid == 0)
		execute(program, parent, pipe_fds[1]);
	if (child->pid < 0)
		error = errno;
	close(pipe_fds[1]);
	if (error == 0) {
		ssize_t got;
		do
			got = read(pipe_fds[0], &error, sizeof(error));
		while (got < 0 && errno == EINTR);
		if (got != sizeof(error))
			error = 0;
		if (error != 0)
			waitpid(child->pid, NULL, 0);
	}
	close(pipe_fds[0]);
	return error;
}

static bool has_ended(struct child *child)
{
	if (child->ended)
		return true;
	pid_t got = wait4(child->pid, &child->status, WNOHANG, &child->usage);
	if (got != child->pid)
		return false;
	child->seconds = children_clock() - child->started;
	child->ended = true;
	return true;
}

enum child_wait child_wait(struct child *child, double seconds)
{
	double limit = children_clock() + seconds;
	for (;;) {
		if (has_ended(child))
			return CHILD_ENDED;
		if (children_interrupted() != 0)
			return CHILD_INTERRUPTED;
		double rest = limit - children_clock();
		if (rest <= 0)
			return CHILD_LATE;
		take_signal(rest);
	}
}

void children_sleep(double seconds)
{
	double limit = children_clock() + seconds;
	for (double rest = seconds; rest > 0 && children_interrupted() == 0;
	        rest = limit - children_clock())
		take_signal(rest);
}

void child_end(struct child *child, int signal, bool group, double grace)
{
	int asked = children_forget_interruption();
	if (!has_ended(child)) {
		kill(group ? -child->pid : child->pid, signal);
		child_wait(child, grace);
	}
	kill(-child->pid, SIGKILL);
	if (!child->ended) {
		while (wait4(child->pid, &child->status, 0, &child->usage) < 0 && errno == EINTR)
			continue;
		child->seconds = children_clock() - child->started;
		child->ended = true;
	}
	children_recall_interruption(asked);
}

/* Kills and waits for the children that there are now. Returns their number. */
static unsigned kill_children(const struct child *except)
{
	char path[64];
	int pid;
	unsigned count = 0;
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	FILE *in = fopen(path, "re");
	while (in != NULL && fscanf(in, "%d", &pid) == 1) {
		if (except != NULL && !except->ended && pid == except->pid)
			continue;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		count++;
	}
	if (in != NULL)
		fclose(in);
	return count;
}

void children_end_strays(const struct child *except)
{
	for (int i = 0; i < STRAY_ROUNDS && kill_children(except) > 0; i++)
		continue;
}
