/*
 * Finds processes by AB_DIRECTORY in the environment they were started with.
 */
#include "leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../process.h"
#include "child.h"

#define PATIENCE 10.0 /* seconds for a killed process to go */

static bool belongs(int pid, const char *mark)
{
	char path[64], *variable = NULL;
	size_t room = 0;
	bool found = false;
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	FILE *in = fopen(path, "re");
	while (in != NULL && !found && getdelim(&variable, &room, '\0', in) > 0)
		found = strncmp(variable, mark, strlen(mark)) == 0;
	if (in != NULL)
		fclose(in);
	free(variable);
	return found;
}

static void end_process(int pid)
{
	double limit = children_clock() + PATIENCE;
	kill(pid, SIGKILL);
	while (!process_has_ended(pid) && children_clock() < limit)
		children_sleep(0.01);
}

unsigned leftovers_end(const char *experiment)
{
	char *mark;
	unsigned count = 0;
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	if (asprintf(&mark, "AB_DIRECTORY=%s/runs/", experiment) < 0)
		mark = NULL;
	while (mark != NULL && proc != NULL && (entry = readdir(proc)) != NULL) {
		int pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
		if (pid <= 0 || pid == getpid() || !belongs(pid, mark))
			continue;
		end_process(pid);
		count++;
	}
	if (proc != NULL)
		closedir(proc);
	free(mark);
	return count;
}
