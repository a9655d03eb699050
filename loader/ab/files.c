/*
 * Whether the files of a run can be trusted: a full disk cuts them, and the dynamic linker tells in
 * them what it has left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stage.h"

#define PROBE_SIZE 4096

/* Writes a page and takes it away again. Returns 0 or an errno. */
static int try_to_write(const char *path)
{
	char page[PROBE_SIZE];
	memset(page, 'x', sizeof(page));
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0)
		return errno;
	ssize_t written = write(file, page, sizeof(page));
	int error = written < 0 ? errno : written < (ssize_t)sizeof(page) ? ENOSPC : 0;
	if (error == 0 && fsync(file) != 0)
		error = errno;
	close(file);
	unlink(path);
	return error;
}

void files_check_space(struct stage *stage)
{
	char *path = stage_path(stage, "space");
	int error = path != NULL ? try_to_write(path) : 0;
	free(path);
	if (error != ENOSPC && error != EDQUOT)
		return;
	/* More important than what the client made of it. */
	stage->run->why[0] = '\0';
	run_refuse(
	        stage->run, "no space left on the file system of %.200s", stage->places->directory);
	stage->hopeless = true;
}

/* A file that has reached the limit of its size was cut there. */
static void check_limit(struct stage *stage, const char *name)
{
	struct rlimit limit;
	struct stat status;
	char *path = stage_path(stage, name);
	if (path != NULL && stat(path, &status) == 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	        limit.rlim_cur != RLIM_INFINITY && (rlim_t)status.st_size >= limit.rlim_cur) {
		run_refuse(stage->run, "%s has reached the limit of file sizes (ulimit -f)", name);
		stage->hopeless = true;
	}
	free(path);
}

void files_check_sizes(struct stage *stage)
{
	check_limit(stage, "client.out");
	check_limit(stage, "client.err");
	check_limit(stage, "server.log");
}

static bool is_complaint(const char *line)
{
	return strncmp(line, "ERROR: ld.so: object '", 22) == 0 &&
	       strstr(line, "' from LD_PRELOAD cannot be preloaded") != NULL;
}

static void check_preloads_in(struct stage *stage, const char *name)
{
	char *path = stage_path(stage, name), *line = NULL;
	size_t room = 0;
	FILE *in = path != NULL ? fopen(path, "re") : NULL;
	while (in != NULL && getline(&line, &room, in) > 0) {
		if (!is_complaint(line))
			continue;
		line[strcspn(line, "\r\n")] = '\0';
		run_refuse(stage->run, "a library was not preloaded: %.300s", line);
		stage->hopeless = true;
		break;
	}
	if (in != NULL)
		fclose(in);
	free(line);
	free(path);
}

void files_check_preloads(struct stage *stage)
{
	if (stage->client.pid != 0)
		check_preloads_in(stage, "client.err");
	if (stage->server.pid != 0)
		check_preloads_in(stage, "server.log");
}
