/*
 * Commands around a run, and words for how they ended.
 */
#include "stage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define GRACE 2 /* seconds between SIGTERM and SIGKILL for a command that is late */

char *stage_path(const struct stage *stage, const char *name)
{
	char *path;
	return asprintf(&path, "%s/%s", stage->places->directory, name) < 0 ? NULL : path;
}

const char *stage_end_words(int status, char buffer[STAGE_END_SIZE])
{
	if (WIFSIGNALED(status))
		snprintf(buffer, STAGE_END_SIZE, "was killed by signal %d (%s)", WTERMSIG(status),
		        strsignal(WTERMSIG(status)));
	else
		snprintf(buffer, STAGE_END_SIZE, "exited with status %d", WEXITSTATUS(status));
	return buffer;
}

const char *stage_last_line(
        const struct stage *stage, const char *name, char buffer[STAGE_LINE_SIZE])
{
	char *path = stage_path(stage, name), *line = NULL;
	size_t room = 0;
	FILE *in = path != NULL ? fopen(path, "re") : NULL;
	*buffer = '\0';
	while (in != NULL && getline(&line, &room, in) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[strspn(line, " \t")] != '\0')
			snprintf(buffer, STAGE_LINE_SIZE, "%s", line);
	}
	if (in != NULL)
		fclose(in);
	free(line);
	free(path);
	return buffer;
}

/* Returns NULL when the command exited with 0 in time, else what happened. */
static const char *run_shell(struct stage *stage, const char *log, const char *command,
        double limit, char buffer[STAGE_END_SIZE])
{
	struct environment environment;
	char *arguments[] = { "sh", "-c", (char *)command, NULL };
	pid_t server = stage->server.pid;
	if (!run_environment_other(&environment, stage->design, stage->run, stage->places, server))
		return "no memory for its environment";
	struct child child;
	const struct child_program program = { "/bin/sh", arguments, environment.strings, log,
		NULL };
	int error = child_start(&child, &program);
	environment_free(&environment);
	if (error != 0)
		return strerror(error);
	enum child_wait end = child_wait(&child, limit);
	child_end(&child, SIGTERM, true, GRACE);
	if (end == CHILD_ENDED && child.status == 0)
		return NULL;
	if (end == CHILD_ENDED)
		return stage_end_words(child.status, buffer);
	if (end == CHILD_INTERRUPTED)
		return "interrupted";
	snprintf(buffer, STAGE_END_SIZE, "not done in %g s", limit);
	return buffer;
}

bool stage_shell(
        struct stage *stage, const char *name, const char *command, double limit, bool refuse)
{
	char buffer[STAGE_END_SIZE], line[STAGE_LINE_SIZE], log[32];
	snprintf(log, sizeof(log), "%s.log", name);
	char *path = stage_path(stage, log);
	const char *failure = "no memory";
	if (path != NULL)
		failure = run_shell(stage, path, command, limit, buffer);
	free(path);
	if (failure != NULL && refuse) {
		stage_last_line(stage, log, line);
		run_refuse(stage->run, "--%s %.100s: %s%s%s", name, command, failure,
		        *line != '\0' ? ": " : "", line);
	}
	return failure == NULL;
}
