/*
 * A fresh server for a run: data restored, started under the library, ready, and ended again.
 */
#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../command.h"
#include "ready.h"
#include "signals.h"
#include "stage.h"

#define SHELL_SIGNAL_BASE 128
#define FIRST_PAUSE       0.005 /* seconds between two looks, which grow */
#define LAST_PAUSE        0.1

/* Refuses a run whose server has ended too early. */
static void refuse_ended(struct stage *stage, const char *when)
{
	char words[STAGE_END_SIZE], line[STAGE_LINE_SIZE];
	int status = stage->server.status, code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	stage_last_line(stage, "server.log", line);
	stage->hopeless = code == EXIT_REFUSED || code == EXIT_CANNOT_RUN || code == EXIT_NOT_FOUND;
	run_refuse(stage->run, "the server %s %s%s%s%s", stage_end_words(status, words), when,
	        code == 0 ? " (it must stay in the foreground)" : "", *line != '\0' ? ": " : "",
	        line);
}

/* Looks again and again for that many seconds. Returns whether it was found; the run is refused
 * when not, unless it was interrupted. */
static bool await(
        struct stage *stage, bool (*look)(struct stage *stage), double limit, const char *what)
{
	double end = children_clock() + limit, pause = FIRST_PAUSE;
	for (;;) {
		if (child_wait(&stage->server, 0) == CHILD_ENDED) {
			refuse_ended(stage, "before it was ready");
			return false;
		}
		if (children_interrupted() != 0)
			return false;
		if (look(stage))
			return true;
		if (children_clock() >= end)
			break;
		children_sleep(pause);
		pause = pause * 1.5 < LAST_PAUSE ? pause * 1.5 : LAST_PAUSE;
	}
	run_refuse(stage->run, "%s in %g s", what, limit);
	return false;
}

static bool has_record(struct stage *stage)
{
	return records_exist(stage);
}

static bool is_ready(struct stage *stage)
{
	const char *ready = stage->design->server.ready;
	if (ready_is_port(ready))
		return ready_port_answers(ready);
	if (ready_is_log(ready)) {
		char *path = stage_path(stage, "server.log");
		bool found = path != NULL && ready_log_matches(ready, path);
		free(path);
		return found;
	}
	return stage_shell(stage, "ready", ready, stage->design->limits.ready, false);
}

static bool shows_server(struct stage *stage)
{
	return records_show_server(stage);
}

/* The shell before the server may be all there is yet, unless it has answered at its port. */
static bool await_server(struct stage *stage)
{
	const struct design *design = stage->design;
	double limit = ready_is_port(design->server.ready) ? 0 : design->limits.start;
	if (await(stage, shows_server, limit,
	            "libabshim.so never started in the server (begin --server with exec where a "
	            "shell starts it; a static program cannot be switched)"))
		return true;
	stage->hopeless = !stage->server.ended && children_interrupted() == 0;
	return false;
}

static bool launch(struct stage *stage)
{
	struct environment environment;
	char *arguments[] = { "sh", "-c", stage->design->server.start, NULL };
	char *log = stage_path(stage, "server.log");
	int error = ENOMEM;
	if (log != NULL &&
	        run_environment_target(&environment, stage->design, stage->run, stage->places)) {
		const struct child_program program = { "/bin/sh", arguments, environment.strings,
			log, NULL };
		error = child_start(&stage->server, &program);
		environment_free(&environment);
	}
	free(log);
	if (error == 0)
		return true;
	stage->server.pid = 0;
	run_refuse(stage->run, "the server cannot be started: %s", strerror(error));
	return false;
}

bool server_start(struct stage *stage)
{
	const struct server_commands *commands = &stage->design->server;
	const struct time_limits *limits = &stage->design->limits;
	if (commands->reset != NULL &&
	        !stage_shell(stage, "reset", commands->reset, limits->start, true))
		return false;
	if (ready_is_port(commands->ready) && ready_port_answers(commands->ready)) {
		run_refuse(stage->run,
		        "something answers at %s already: end it, or the wrong server would be "
		        "measured",
		        commands->ready);
		stage->hopeless = true;
		return false;
	}
	return launch(stage) &&
	       await(stage, has_record, limits->start,
	               "libabshim.so did not start in the server") &&
	       await(stage, is_ready, limits->ready, "the server was not ready") &&
	       await_server(stage);
}

/* While the shell stands before the server, the signal must reach both. */
static bool is_shell(pid_t pid)
{
	char path[64], program[256], shell[256];
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ssize_t length = readlink(path, program, sizeof(program) - 1);
	char *real = realpath("/bin/sh", NULL);
	snprintf(shell, sizeof(shell), "%s", real != NULL ? real : "");
	free(real);
	program[length > 0 ? length : 0] = '\0';
	return strcmp(program, shell) == 0;
}

static bool is_good_end(int status, int signal)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == signal;
	return WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == SHELL_SIGNAL_BASE + signal;
}

bool server_runs(struct stage *stage)
{
	if (stage->server.pid == 0 || child_wait(&stage->server, 0) != CHILD_ENDED)
		return true;
	refuse_ended(stage, "before the client did");
	return false;
}

/* Asks the server to end, and sees to it that it does. */
static void end_server(struct stage *stage, int signal)
{
	const char *stop = stage->design->server.stop;
	double limit = stage->design->limits.stop;
	if (signal == 0 && !stage->server.ended) {
		if (stage_shell(stage, "stop", stop, limit, true) &&
		        child_wait(&stage->server, limit) == CHILD_LATE)
			run_refuse(stage->run, "the server did not end in %g s of --stop", limit);
	}
	child_end(
	        &stage->server, signal != 0 ? signal : SIGTERM, is_shell(stage->server.pid), limit);
}

bool server_stop(struct stage *stage)
{
	const char *stop = stage->design->server.stop;
	int signal = signal_by_name(stop != NULL ? stop : "TERM");
	char words[STAGE_END_SIZE];
	if (stage->server.pid == 0)
		return true;
	/* It ends properly also where this process is asked to. */
	int asked = children_forget_interruption();
	if (stage->run->valid)
		server_runs(stage);
	end_server(stage, signal);
	children_recall_interruption(asked);
	stage->run->server_status = stage->server.status;
	if (WIFSIGNALED(stage->server.status) && WTERMSIG(stage->server.status) == SIGKILL &&
	        signal != SIGKILL)
		run_refuse(stage->run, "the server did not end in %g s, and was killed",
		        stage->design->limits.stop);
	else if (!is_good_end(stage->server.status, signal != 0 ? signal : SIGTERM))
		run_refuse(stage->run, "the server %s when it was to end",
		        stage_end_words(stage->server.status, words));
	return stage->run->valid;
}
