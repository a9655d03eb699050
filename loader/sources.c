/*
 * Opens operands.
 */
#include "sources.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aftermath.h"
#include "message.h"
#include "process.h"
#include "record_file.h"

/* A process id when all of text is digits. */
static bool parse_pid(const char *text, pid_t *pid)
{
	if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
		return false;
	errno = 0;
	long value = strtol(text, NULL, 10);
	*pid = errno != 0 || value > INT_MAX ? INT_MAX : (pid_t)value;
	return true;
}

static bool is_same_process(const struct record_header *a, const struct record_header *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks && a->start_ns == b->start_ns;
}

static bool has_room(struct sources *sources)
{
	if (sources->count < sources->room)
		return true;
	size_t room = sources->room == 0 ? 16 : sources->room * 2;
	struct model_source *rows = reallocarray(sources->rows, room, sizeof(*rows));
	if (rows == NULL)
		return false;
	sources->rows = rows;
	sources->room = room;
	return true;
}

/* Takes the record over, or says why there is none. */
static void add_record(struct sources *sources, struct record *record, pid_t running,
        const char *why, bool is_named)
{
	if (record == NULL) {
		message("%s", why);
		sources->fault |= is_named;
		return;
	}
	for (size_t i = 0; i < sources->count; i++)
		if (is_same_process(&sources->rows[i].record->header, &record->header)) {
			if (running != 0)
				sources->rows[i].running = running;
			record_free(record);
			return;
		}
	if (!has_room(sources)) {
		message("no memory for the records");
		record_free(record);
		sources->fault = true;
		return;
	}
	sources->rows[sources->count++] =
	        (struct model_source){ .record = record, .wait_status = -1, .running = running };
}

void sources_add_file(struct sources *sources, const char *path)
{
	char why[WHY_SIZE] = "";
	struct record *record = record_read_path(path, why);
	add_record(sources, record, 0, why, true);
}

static void add_input(struct sources *sources)
{
	char why[WHY_SIZE] = "", reason[WHY_SIZE];
	struct record *record = record_read(STDIN_FILENO, reason);
	if (record == NULL)
		why_set(why, "standard input: %.400s", reason);
	add_record(sources, record, 0, why, true);
}

/* A process that has ended may have left its record behind. */
static void add_process(struct sources *sources, pid_t pid)
{
	char why[WHY_SIZE] = "", *path = NULL;
	struct record *record = NULL;
	if (!process_has_ended(pid)) {
		record = record_read_process(pid, why);
	} else if ((path = aftermath_find_record(pid)) != NULL) {
		message("process %d has ended: this is its record %s", (int)pid, path);
		record = record_read_found(path, why);
	} else {
		why_set(why,
		        "process %d has ended or never was, and no record of it is in the default "
		        "directory: give the record's FILE",
		        (int)pid);
	}
	add_record(sources, record, path == NULL ? pid : 0, why, true);
	free(path);
}

static int is_record_name(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');
	return end != NULL && strcmp(end, RECORD_SUFFIX) == 0;
}

static void add_directory(struct sources *sources, const char *directory)
{
	struct dirent **entries = NULL;
	int count = scandir(directory, &entries, is_record_name, alphasort);
	if (count <= 0) {
		message("%s: %s", directory,
		        count < 0 ? strerror(errno)
		                  : "is a directory without records (NAME.PID.N" RECORD_SUFFIX ")");
		sources->fault = true;
	}
	size_t before = sources->count;
	for (int i = 0; i < count; i++) {
		char why[WHY_SIZE] = "no memory for the records", *path;
		struct record *record = NULL;
		if (asprintf(&path, "%s/%s", directory, entries[i]->d_name) >= 0) {
			record = record_read_found(path, why);
			free(path);
		}
		add_record(sources, record, 0, why, false);
		free(entries[i]);
	}
	free(entries);
	/* Nothing but damaged files. */
	if (count > 0 && sources->count == 0 && before == 0)
		sources->fault = true;
}

void sources_add(struct sources *sources, const char *operand)
{
	pid_t pid;
	struct stat status;
	if (parse_pid(operand, &pid))
		add_process(sources, pid);
	else if (strcmp(operand, "-") == 0)
		add_input(sources);
	else if (stat(operand, &status) == 0 && S_ISDIR(status.st_mode))
		add_directory(sources, operand);
	else
		sources_add_file(sources, operand);
}

void sources_close(struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		record_free((struct record *)sources->rows[i].record);
	free(sources->rows);
	*sources = (struct sources){ .rows = NULL };
}
