/*
 * Reads /proc: start times, thread names, and the mapping that holds a record.
 */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of /proc/PID/stat: proc(5). */
#define NAME_FIELD       2
#define THREADS_FIELD    20
#define START_TIME_FIELD 22
#define DELETED          " (deleted)"

#define STAT_SIZE 1024

/* Reads /proc/PID/stat; returns the end of its field 2, a name that may hold blanks and
 * parentheses. NULL when there is no such process. */
static char *read_stat(pid_t pid, char text[STAT_SIZE])
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return NULL;
	size_t length = fread(text, 1, STAT_SIZE - 1, file);
	fclose(file);
	text[length] = '\0';
	return strrchr(text, ')');
}

/* A numbered field behind the name; 0 when there is none. */
static uint64_t stat_field(char *name_end, int number)
{
	char *at = name_end;
	for (int field = NAME_FIELD; at != NULL && field < number; field++)
		at = strchr(at + 1, ' ');
	return at == NULL ? 0 : strtoull(at + 1, NULL, 10);
}

static bool is_dead(const char *name_end)
{
	return name_end == NULL || strncmp(name_end, ") Z", 3) == 0 ||
	       strncmp(name_end, ") X", 3) == 0;
}

bool process_has_ended(pid_t pid)
{
	char text[STAT_SIZE];
	char *name_end = read_stat(pid, text);
	/* The first thread of a process may end before the others. */
	return is_dead(name_end) && stat_field(name_end, THREADS_FIELD) <= 1;
}

uint64_t process_start_ticks(pid_t pid)
{
	char text[STAT_SIZE];
	return stat_field(read_stat(pid, text), START_TIME_FIELD);
}

/* A thread that still has the process's memory: its first one, or else another. */
static pid_t living_thread(pid_t pid)
{
	char text[STAT_SIZE], path[64];
	if (!is_dead(read_stat(pid, text)))
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	struct dirent *entry;
	pid_t living = pid;
	while (tasks != NULL && living == pid && (entry = readdir(tasks)) != NULL) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
		if (thread > 0 && !is_dead(read_stat(thread, text)))
			living = thread;
	}
	if (tasks != NULL)
		closedir(tasks);
	return living;
}

void process_thread_name(pid_t pid, pid_t tid, char name[RECORD_NAME_SIZE])
{
	char path[64], text[RECORD_NAME_SIZE + 1];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return;
	size_t length = fread(text, 1, sizeof(text), file);
	fclose(file);
	if (length == 0)
		return;
	if (text[length - 1] == '\n' || length == sizeof(text))
		length--;
	memcpy(name, text, length < RECORD_NAME_SIZE ? length : RECORD_NAME_SIZE - 1);
	name[length < RECORD_NAME_SIZE ? length : RECORD_NAME_SIZE - 1] = '\0';
}

struct maps_line {
	uint64_t start, end, offset, inode;
	const char *path; /* points into the line; empty for anonymous memory */
};

/* Parses a line of /proc/PID/maps and cuts its newline off. */
static bool parse_maps_line(char *line, struct maps_line *parsed)
{
	int path_at = -1;
	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*x:%*x %" SCNu64 " %n",
	            &parsed->start, &parsed->end, &parsed->offset, &parsed->inode, &path_at) < 4 ||
	        path_at < 0)
		return false;
	parsed->path = line + path_at;
	return true;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);
	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Opens the mapped file itself, or the file of that name in the process's root if it is the same.
 */
static int open_mapped_file(pid_t pid, const struct maps_line *line)
{
	char *path;
	if (asprintf(&path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, line->start,
	            line->end) < 0)
		return -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(path);
	if (fd >= 0 || asprintf(&path, "/proc/%d/root%s", (int)pid, line->path) < 0)
		return fd;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(path);
	struct stat status;
	if (fd >= 0 && (fstat(fd, &status) != 0 || status.st_ino != line->inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool is_record_path(const char *path)
{
	return ends_with(path, RECORD_SUFFIX) || ends_with(path, RECORD_SUFFIX DELETED);
}

static const char *refusal(int error)
{
	bool denied = error == EACCES || error == EPERM;
	return denied && geteuid() != 0 ? "it is another user's" : strerror(error);
}

/* Looks for the mapping of a record, and for that of the library. */
static bool search_maps(
        pid_t pid, FILE *maps, struct process_mapping *mapping, bool *library_loaded)
{
	char *line = NULL;
	size_t size = 0;
	bool found = false;
	while (!found && getline(&line, &size, maps) > 0) {
		struct maps_line parsed;
		if (!parse_maps_line(line, &parsed))
			continue;
		*library_loaded |= strstr(parsed.path, "libabshim.so") != NULL;
		if (parsed.offset != 0 || !is_record_path(parsed.path))
			continue;
		*mapping = (struct process_mapping){ parsed.start, parsed.end, -1, pid };
		mapping->fd = open_mapped_file(pid, &parsed);
		found = true;
	}
	free(line);
	return found;
}

bool process_find_record(pid_t pid, struct process_mapping *mapping, char why[WHY_SIZE])
{
	char path[64];
	bool library_loaded = false, found = false;
	pid_t living = living_thread(pid);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)living);
	errno = 0;
	FILE *maps = fopen(path, "re");
	if (maps != NULL)
		found = search_maps(living, maps, mapping, &library_loaded);
	int error = maps == NULL || ferror(maps) ? errno : 0;
	if (maps != NULL)
		fclose(maps);
	if (found)
		return true;
	if (error == ENOENT || error == ESRCH)
		why_set(why, "process %d: there is no such process", (int)pid);
	else if (error != 0)
		why_set(why, "process %d: cannot read its memory map: %s", (int)pid,
		        refusal(error));
	else if (library_loaded)
		why_set(why,
		        "process %d: libabshim.so is loaded but has no record file (its "
		        "record is in memory only, or ABSHIM_MATCH leaves it alone)",
		        (int)pid);
	else
		why_set(why, "process %d: runs without libabshim.so, so there is nothing to report",
		        (int)pid);
	return false;
}
