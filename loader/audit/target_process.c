/*
 * The files whose code a process has mapped, from /proc/PID/maps (proc(5)): through the mapping
 * itself where that is allowed, which reaches deleted files too; else by path, in the process's
 * root.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../text.h"
#include "files.h"
#include "survey.h"

#define DELETED " (deleted)"

struct map {
	uint64_t start, end;
	uint64_t inode;
	bool executable;
	char *path; /* in the line; empty: none */
};

struct process {
	const char *pid;
	uint64_t anonymous; /* bytes of code that lie in no file */
	bool kernels;       /* it has code of the kernel's: the vdso */
	size_t files;
};

/* Newlines in paths stand as \012 there. */
static void unescape(char *text)
{
	char *to = text;
	for (const char *at = text; *at != '\0'; at++) {
		bool is_newline = strncmp(at, "\\012", 4) == 0;
		*to++ = is_newline ? '\n' : *at;
		at += is_newline ? 3 : 0;
	}
	*to = '\0';
}

static bool parse_map(char *line, struct map *map)
{
	char permissions[5];
	int length = 0;
	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %" SCNu64 " %n", &map->start,
	            &map->end, permissions, &map->inode, &length) < 4)
		return false;
	map->executable = permissions[2] == 'x';
	map->path = line + length;
	unescape(map->path);
	return true;
}

/* Takes " (deleted)" away, unless the file is really called that. */
static bool strip_deleted(const char *pid, char *path)
{
	size_t length = strlen(path), suffix = sizeof(DELETED) - 1;
	char *there;
	if (length <= suffix || strcmp(path + length - suffix, DELETED) != 0)
		return false;
	bool exists = asprintf(&there, "/proc/%s/root%s", pid, path) >= 0;
	if (exists) {
		exists = access(there, F_OK) == 0;
		free(there);
	}
	if (!exists)
		path[length - suffix] = '\0';
	return !exists;
}

static void add_mapped(struct survey *survey, struct process *process, struct map *map)
{
	char link[128];
	char *by_path = NULL;
	struct stat status;
	const char *why = "";
	bool deleted = strip_deleted(process->pid, map->path);
	snprintf(link, sizeof(link), "/proc/%s/map_files/%" PRIx64 "-%" PRIx64, process->pid,
	        map->start, map->end);
	int fd = file_open(link, &status, &why);
	process->files++;
	if (fd >= 0) {
		close(fd);
		survey_file(survey, link, map->path);
	} else if (deleted) {
		survey_refuse(
		        survey, map->path, "deleted; only root can read what is mapped of it");
	} else if (asprintf(&by_path, "/proc/%s/root%s", process->pid, map->path) >= 0) {
		if (stat(by_path, &status) == 0 && status.st_ino != map->inode)
			survey_note(survey,
			        "%s may have been replaced: the file that is there now was read",
			        map->path);
		survey_file(survey, by_path, map->path);
		free(by_path);
	} else {
		survey->out_of_memory = true;
	}
	if (fd >= 0 && deleted)
		survey_note(survey, "%s has been deleted: this is about what is mapped", map->path);
}

static void take_map(struct survey *survey, struct process *process, struct map *map)
{
	if (!map->executable)
		return;
	if (map->inode != 0 && map->path[0] == '/' && strncmp(map->path, "/memfd:", 7) != 0)
		add_mapped(survey, process, map);
	else if (strcmp(map->path, "[vdso]") == 0 || strcmp(map->path, "[vsyscall]") == 0 ||
	         strcmp(map->path, "[uprobes]") == 0)
		process->kernels = true;
	else
		process->anonymous += map->end - map->start;
}

/* Files are mapped in pieces: one piece after the other, of the same file, is seen once. */
static void take_maps(struct survey *survey, struct process *process, FILE *maps)
{
	char *line = NULL, *last = NULL;
	size_t size = 0;
	while (getline(&line, &size, maps) > 0) {
		struct map map;
		if (!parse_map(line, &map))
			continue;
		if (map.executable && last != NULL && strcmp(last, map.path) == 0 && *last == '/')
			continue;
		if (map.executable) {
			free(last);
			last = strdup(map.path);
		}
		take_map(survey, process, &map);
	}
	free(last);
	free(line);
}

static const char *why_not(int error)
{
	return error == ENOENT || error == ESRCH ? "no such process" : strerror(error);
}

void survey_process(struct survey *survey, const char *pid)
{
	struct process process = { .pid = pid };
	char path[64], number[TEXT_NUMBER_SIZE];
	snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	FILE *maps = fopen(path, "re");
	if (maps == NULL) {
		survey_refuse(survey, pid, strlen(pid) > 20 ? why_not(ENOENT) : why_not(errno));
		return;
	}
	errno = 0;
	take_maps(survey, &process, maps);
	int error = ferror(maps) ? errno : 0;
	fclose(maps);
	if (error != 0 || process.files == 0)
		survey_refuse(survey, pid,
		        error != 0 ? why_not(error)
		                   : "it maps no file: a thread of the kernel, or it has ended");
	if (process.anonymous > 0)
		survey_note(survey,
		        "%s KiB of executable memory lie in no file: code that was made at run "
		        "time, such as a virtual machine's, is not counted",
		        text_count(number, process.anonymous / 1024));
	if (process.kernels)
		survey_note(survey, "the kernel's own code in it (vdso) is left out");
}
