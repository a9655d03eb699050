/*
 * The client of a run: in the command shape the target itself, else the load on a server.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../command.h"
#include "stage.h"

#define GRACE 5   /* seconds between SIGTERM and SIGKILL */
#define SLICE 0.2 /* seconds between two looks at the server */

static bool is_target(const struct stage *stage)
{
	return stage->design->server.start == NULL;
}

static bool build_environment(struct stage *stage, struct environment *environment)
{
	if (is_target(stage))
		return run_environment_target(
		        environment, stage->design, stage->run, stage->places);
	return run_environment_other(
	        environment, stage->design, stage->run, stage->places, stage->server.pid);
}

static int start(struct stage *stage)
{
	struct environment environment;
	char *const *arguments = stage->design->client.items;
	char *out = stage_path(stage, "client.out"), *err = stage_path(stage, "client.err");
	int error = ENOMEM;
	if (out != NULL && err != NULL && build_environment(stage, &environment)) {
		const struct child_program program = { arguments[0], arguments, environment.strings,
			out, err };
		error = child_start(&stage->client, &program);
		environment_free(&environment);
	}
	free(out);
	free(err);
	return error;
}

/* A client whose server has ended may wait for it for ever. */
static enum child_wait wait_client(struct stage *stage)
{
	double limit = children_clock() + stage->design->limits.run;
	for (;;) {
		double rest = limit - children_clock();
		enum child_wait end = child_wait(&stage->client, rest < SLICE ? rest : SLICE);
		if (end != CHILD_LATE || rest < SLICE || !server_runs(stage))
			return end;
	}
}

static void judge_end(struct stage *stage, enum child_wait end)
{
	char words[STAGE_END_SIZE], line[STAGE_LINE_SIZE];
	int status = stage->client.status, code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (end == CHILD_LATE)
		run_refuse(stage->run, "the client did not end in %g s, and was ended",
		        stage->design->limits.run);
	if (end != CHILD_ENDED || status == 0)
		return;
	stage->hopeless = is_target(stage) && code == EXIT_REFUSED;
	stage_last_line(stage, "client.err", line);
	run_refuse(stage->run, "the client %s%s%s", stage_end_words(status, words),
	        *line != '\0' ? ": " : "", line);
}

bool client_run(struct stage *stage)
{
	int error = start(stage);
	if (error != 0) {
		run_refuse(stage->run, "%s: %s", stage->design->client.items[0], strerror(error));
		stage->hopeless = true;
		return false;
	}
	enum child_wait end = wait_client(stage);
	server_runs(stage); /* its end is the better reason */
	child_end(&stage->client, SIGTERM, true, GRACE);
	if (end != CHILD_INTERRUPTED)
		stage->run->client_status = stage->client.status;
	judge_end(stage, end);
	return end != CHILD_INTERRUPTED;
}
