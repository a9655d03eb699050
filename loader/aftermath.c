/*
 * Searches the directories where the shim may have put a record.
 */
#include "aftermath.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atomics_rows.h"
#include "message.h"
#include "output.h"
#include "process.h"
#include "record_file.h"
#include "report.h"
#include "words.h"
#include "write.h"

#define DIRECTORIES 3

/* The shim's default directories for this user, in its order of preference. */
static void default_directories(char paths[DIRECTORIES][64])
{
	unsigned user = (unsigned)geteuid();
	snprintf(paths[0], 64, "/dev/shm/abshim-%u", user);
	snprintf(paths[1], 64, "/run/user/%u/abshim", user);
	snprintf(paths[2], 64, "/tmp/abshim-%u", user);
}

bool aftermath_directory_usable(const struct environment *environment)
{
	char paths[DIRECTORIES][64];
	if (environment_get(environment, "ABSHIM_DIR") != NULL)
		return true;
	default_directories(paths);
	for (int i = 0; i < DIRECTORIES; i++) {
		struct stat status;
		mkdir(paths[i], 0700);
		if (lstat(paths[i], &status) == 0 && S_ISDIR(status.st_mode) &&
		        status.st_uid == geteuid() && (status.st_mode & 077) == 0 &&
		        access(paths[i], W_OK | X_OK) == 0)
			return true;
	}
	return false;
}

/* Whether a file's name is NAME.PID.SEQ.abshim of this process. */
static bool names_process(const char *name, pid_t pid)
{
	char middle[32];
	snprintf(middle, sizeof(middle), ".%d.", (int)pid);
	const char *last = NULL;
	for (const char *at = name; (at = strstr(at, middle)) != NULL; at++)
		last = at;
	if (last == NULL)
		return false;
	const char *sequence = last + strlen(middle);
	size_t digits = strspn(sequence, "0123456789");
	return digits > 0 && strcmp(sequence + digits, RECORD_SUFFIX) == 0;
}

static bool is_of_process(const struct aftermath *aftermath, const struct record *record)
{
	const struct record_header *header = &record->header;
	return header->pid == aftermath->pid &&
	       (header->start_ticks == 0 || header->start_ticks == aftermath->start_ticks);
}

/* ABSHIM_REPORT as the shim expands it. NULL: no memory. */
static char *expand_path(const char *pattern, const struct record_header *header)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (out == NULL)
		return NULL;
	for (const char *at = pattern; *at != '\0'; at++) {
		if (*at != '%' || at[1] == '\0')
			fputc(*at, out);
		else if (*++at == 'p')
			fprintf(out, "%d", header->pid);
		else if (*at == 'e')
			fputs(words_base_name(header->executable), out);
		else
			fputc(*at, out);
	}
	return fclose(out) == 0 ? text : NULL;
}

/* Does for the process what it could not do any more. */
static void report_late(const struct aftermath *aftermath, const struct record *record)
{
	char wanted[RECORD_MAX_SETTINGS] = "stderr";
	words_setting(&record->header, "ABSHIM_REPORT", wanted, sizeof(wanted));
	/* As the library itself reports: nothing where nothing was to be measured. */
	if (strcmp(wanted, "none") == 0 || record->control.stats == STATS_OFF)
		return;
	struct model_source source = { .record = record, .wait_status = aftermath->wait_status };
	const struct sources sources = { .rows = &source, .count = 1 };
	struct report_options options = {
		.write.top = WRITE_DEFAULT_TOP,
		.at_exit = true,
		.fd = STDERR_FILENO,
		/* The shim that saw the end has said already that it could not write it. */
		.silent = record->header.state == RECORD_ENDED,
	};
	char *path = NULL;
	if (strcmp(wanted, "stderr") != 0)
		options.to = path = expand_path(wanted, &record->header);
	report_write(&sources, NULL, &options);
	free(path);
}

static void settle_record(struct aftermath *aftermath, const char *path)
{
	char why[WHY_SIZE];
	struct record *record = record_read_found(path, why);
	if (record == NULL)
		return;
	if (is_of_process(aftermath, record)) {
		bool replaced = record->header.state == RECORD_EXECED;
		bool empty = model_record_is_empty(record);
		aftermath->found++;
		aftermath->replaced += replaced;
		aftermath->threads_lost += record->header.threads_lost;
		if (!replaced && (record->header.flags & RECORD_REPORTED) == 0 &&
		        (!empty || atomics_recorded(record)))
			report_late(aftermath, record);
		if (empty)
			unlink(path);
	}
	record_free(record);
}

static void settle_directory(struct aftermath *aftermath, const char *path)
{
	DIR *directory = opendir(path);
	if (directory == NULL)
		return;
	struct dirent *entry;
	while ((entry = readdir(directory)) != NULL) {
		char *file;
		if (!names_process(entry->d_name, aftermath->pid) ||
		        asprintf(&file, "%s/%s", path, entry->d_name) < 0)
			continue;
		settle_record(aftermath, file);
		free(file);
	}
	closedir(directory);
}

static uint64_t time_of(const char *path)
{
	struct stat status;
	if (stat(path, &status) != 0)
		return 0;
	return (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec;
}

/* The newest record of a process in a directory, or the one given, if that is newer. */
static char *newest_record(const char *directory, pid_t pid, char *newest)
{
	DIR *open = opendir(directory);
	struct dirent *entry;
	while (open != NULL && (entry = readdir(open)) != NULL) {
		char *path;
		if (!names_process(entry->d_name, pid) ||
		        asprintf(&path, "%s/%s", directory, entry->d_name) < 0)
			continue;
		if (newest != NULL && time_of(path) < time_of(newest)) {
			free(path);
			continue;
		}
		free(newest);
		newest = path;
	}
	if (open != NULL)
		closedir(open);
	return newest;
}

char *aftermath_find_record(pid_t pid)
{
	char paths[DIRECTORIES][64], *newest = NULL;
	const char *given = getenv("ABSHIM_DIR");
	if (given != NULL)
		return newest_record(given, pid, NULL);
	default_directories(paths);
	for (int i = 0; i < DIRECTORIES; i++)
		newest = newest_record(paths[i], pid, newest);
	return newest;
}

void aftermath_settle(struct aftermath *aftermath, const struct environment *environment)
{
	const char *given = environment_get(environment, "ABSHIM_DIR");
	char paths[DIRECTORIES][64];
	aftermath->found = aftermath->replaced = 0;
	aftermath->threads_lost = 0;
	if (given != NULL) {
		settle_directory(aftermath, given);
		return;
	}
	default_directories(paths);
	for (int i = 0; i < DIRECTORIES; i++)
		settle_directory(aftermath, paths[i]);
}
