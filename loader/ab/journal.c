/*
 * Makes, locks, reads and appends to the files of an experiment.
 */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FORMAT_VERSION 1
#define NAME_TRIES     1000
#define NOTE_SIZE      4096

/* NULL: no memory. */
static char *path_in(const struct experiment *experiment, const char *name)
{
	char *path;
	return asprintf(&path, "%s/%s", experiment->path, name) < 0 ? NULL : path;
}

static int open_in(const struct experiment *experiment, const char *name, int flags)
{
	char *path = path_in(experiment, name);
	int fd = path != NULL ? open(path, flags | O_CLOEXEC, 0666) : -1;
	free(path);
	return fd;
}

static bool fail(char why[WHY_SIZE], const char *path, const char *name)
{
	why_set(why, "%.300s%s%s: %s", path, *name != '\0' ? "/" : "", name, strerror(errno));
	return false;
}

/* Sets experiment->path. */
static bool make_directory(struct experiment *experiment, const char *path, char why[WHY_SIZE])
{
	char name[64], *here;
	time_t now = time(NULL);
	size_t length = strftime(name, sizeof(name), "abshim-%Y%m%d-%H%M%S", localtime(&now));
	for (int i = 1; path == NULL && i < NAME_TRIES; i++) {
		if (mkdir(name, 0777) == 0) {
			path = name;
			break;
		}
		if (errno != EEXIST)
			return fail(why, name, "");
		snprintf(name + length, sizeof(name) - length, ".%d", i);
	}
	if (path != name && (path == NULL || mkdir(path, 0777) != 0)) {
		if (path != NULL && errno == EEXIST)
			why_set(why,
			        "%.300s exists and is left alone: give another -o, or go on "
			        "there with --resume",
			        path);
		else
			fail(why, path != NULL ? path : name, "");
		return false;
	}
	here = realpath(path, NULL);
	experiment->path = here;
	return here != NULL || fail(why, path, "");
}

static bool lock(struct experiment *experiment, char why[WHY_SIZE])
{
	experiment->lock_fd = open_in(experiment, "lock", O_RDWR | O_CREAT);
	if (experiment->lock_fd < 0)
		return fail(why, experiment->path, "lock");
	if (flock(experiment->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return true;
	if (errno != EWOULDBLOCK)
		return fail(why, experiment->path, "lock");
	why_set(why, "%.300s: another abshim is at work there: wait for it, or end it",
	        experiment->path);
	return false;
}

/* Names in a directory are on disk only after this. */
static bool sync_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool done = fd >= 0 && fsync(fd) == 0;
	if (fd >= 0)
		close(fd);
	return done;
}

static bool write_all(int fd, const char *text, size_t size)
{
	while (size > 0) {
		ssize_t written = write(fd, text, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		text += written;
		size -= (size_t)written;
	}
	return true;
}

/* Appears complete or not at all. */
static bool write_design(const struct experiment *experiment, char why[WHY_SIZE])
{
	json_t *object = json_pack("{s:i, s:o, s:O}", "version", FORMAT_VERSION, "design",
	        design_json(&experiment->design), "machine", experiment->machine);
	char *text = object != NULL ? json_dumps(object, JSON_INDENT(2)) : NULL;
	char *path = path_in(experiment, "experiment.json");
	char *part = path_in(experiment, "experiment.json.part");
	json_decref(object);
	bool done = false;
	errno = ENOMEM;
	if (text != NULL && path != NULL && part != NULL) {
		int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		done = fd >= 0 && write_all(fd, text, strlen(text)) && write_all(fd, "\n", 1) &&
		       fsync(fd) == 0;
		if (fd >= 0)
			close(fd);
		done = done && rename(part, path) == 0 && sync_directory(experiment->path);
	}
	free(text);
	free(path);
	free(part);
	return done || fail(why, experiment->path, "experiment.json");
}

static bool open_runs(struct experiment *experiment, char why[WHY_SIZE])
{
	char *path = path_in(experiment, "runs");
	bool made = path != NULL && (mkdir(path, 0777) == 0 || errno == EEXIST);
	free(path);
	if (!made)
		return fail(why, experiment->path, "runs");
	experiment->runs_fd = open_in(experiment, "runs.jsonl", O_RDWR | O_CREAT | O_APPEND);
	if (experiment->runs_fd < 0 || !sync_directory(experiment->path))
		return fail(why, experiment->path, "runs.jsonl");
	return true;
}

bool journal_create(struct experiment *experiment, const char *path, struct design *design,
        json_t *machine, char why[WHY_SIZE])
{
	*experiment = (struct experiment){
		.design = *design, .machine = json_incref(machine), .lock_fd = -1, .runs_fd = -1
	};
	*design = (struct design){ 0 };
	if (make_directory(experiment, path, why) && lock(experiment, why) &&
	        write_design(experiment, why) && open_runs(experiment, why))
		return true;
	journal_close(experiment);
	return false;
}

static bool read_design(struct experiment *experiment, char why[WHY_SIZE])
{
	json_error_t error;
	char reason[WHY_SIZE];
	char *path = path_in(experiment, "experiment.json");
	json_t *object = path != NULL ? json_load_file(path, 0, &error) : NULL;
	bool good = false;
	if (object == NULL && access(path != NULL ? path : "", F_OK) != 0)
		why_set(why, "%.300s: no experiment.json there: it is not a directory of abshim ab",
		        experiment->path);
	else if (object == NULL)
		why_set(why, "%.300s/experiment.json:%d: %s", experiment->path, error.line,
		        error.text);
	else if (json_integer_value(json_object_get(object, "version")) != FORMAT_VERSION)
		why_set(why, "%.300s/experiment.json: version %d is needed", experiment->path,
		        FORMAT_VERSION);
	else if (!design_from_json(&experiment->design, json_object_get(object, "design"), reason))
		why_set(why, "%.200s/experiment.json: %.250s", experiment->path, reason);
	else
		good = true;
	if (good)
		experiment->machine = json_incref(json_object_get(object, "machine"));
	json_decref(object);
	free(path);
	return good;
}

/* Takes the run over. */
static bool keep(struct experiment *experiment, struct run *run)
{
	struct run *grown =
	        realloc(experiment->runs, (experiment->run_count + 1) * sizeof(*experiment->runs));
	if (grown == NULL)
		return false;
	experiment->runs = grown;
	grown[experiment->run_count++] = *run;
	*run = (struct run){ 0 };
	return true;
}

static bool read_line(
        struct experiment *experiment, const char *line, size_t length, char why[WHY_SIZE])
{
	const struct arms *arms = &experiment->design.arms;
	char *names[arms->count];
	char reason[WHY_SIZE] = "a run is missing before it";
	struct run run;
	for (size_t i = 0; i < arms->count; i++)
		names[i] = arms->items[i].name;
	bool good = run_from_line(&run, line, length, names, arms->count, reason);
	if (good && run.number != experiment->run_count + 1) {
		run_free(&run);
		good = false;
	}
	if (good && keep(experiment, &run))
		return true;
	why_set(why, "%.200s/runs.jsonl:%zu: %.200s", experiment->path, experiment->run_count + 1,
	        reason);
	return false;
}

/* A last line without its newline was cut off by a crash: that run has no line. */
static bool read_runs(struct experiment *experiment, enum journal_use use, char why[WHY_SIZE])
{
	int fd = use == JOURNAL_RESUME ? experiment->runs_fd
	                               : open_in(experiment, "runs.jsonl", O_RDONLY);
	if (fd < 0 && errno == ENOENT) /* it ended before its first run */
		return true;
	FILE *in = fd >= 0 ? fdopen(dup(fd), "r") : NULL;
	if (in == NULL)
		return fail(why, experiment->path, "runs.jsonl");
	char *line = NULL;
	size_t room = 0;
	off_t end = 0;
	ssize_t length;
	bool good = true;
	while (good && (length = getline(&line, &room, in)) > 0 && line[length - 1] == '\n') {
		good = read_line(experiment, line, (size_t)length - 1, why);
		end += length;
	}
	free(line);
	fclose(in);
	if (use == JOURNAL_READ)
		close(fd);
	else if (good && ftruncate(fd, end) != 0)
		good = fail(why, experiment->path, "runs.jsonl");
	return good;
}

bool journal_open(
        struct experiment *experiment, const char *path, enum journal_use use, char why[WHY_SIZE])
{
	*experiment =
	        (struct experiment){ .path = realpath(path, NULL), .lock_fd = -1, .runs_fd = -1 };
	if (experiment->path == NULL)
		return fail(why, path, "");
	if (read_design(experiment, why) &&
	        (use == JOURNAL_READ || (lock(experiment, why) && open_runs(experiment, why))) &&
	        read_runs(experiment, use, why))
		return true;
	journal_close(experiment);
	return false;
}

char *journal_make_run_directory(const struct experiment *experiment, char why[WHY_SIZE])
{
	char *path, *aside;
	if (asprintf(&path, "%s/runs/%05zu", experiment->path, experiment->run_count + 1) < 0) {
		why_set(why, "no memory");
		return NULL;
	}
	int error = mkdir(path, 0777) == 0 ? 0 : errno;
	for (int i = 1; error == EEXIST && i < NAME_TRIES; i++) {
		if (asprintf(&aside, "%s.cut%d", path, i) < 0)
			break;
		if (access(aside, F_OK) != 0)
			error = rename(path, aside) != 0 || mkdir(path, 0777) != 0 ? errno : 0;
		free(aside);
	}
	if (error == 0)
		return path;
	errno = error;
	fail(why, path, "");
	free(path);
	return NULL;
}

bool journal_append(struct experiment *experiment, struct run *run, char why[WHY_SIZE])
{
	char *line = run_line(run, experiment->design.arms.items[run->arm].name);
	bool done = line != NULL && write_all(experiment->runs_fd, line, strlen(line)) &&
	            fdatasync(experiment->runs_fd) == 0;
	free(line);
	if (!done) {
		/* What stays of the line is what --resume takes away. */
		return fail(why, experiment->path, "runs.jsonl");
	}
	if (keep(experiment, run))
		return true;
	why_set(why, "no memory for the runs");
	return false;
}

unsigned journal_filled(const struct experiment *experiment)
{
	unsigned filled = 0;
	for (size_t i = 0; i < experiment->run_count; i++)
		filled += experiment->runs[i].valid;
	return filled;
}

char *journal_note(const struct experiment *experiment)
{
	char note[NOTE_SIZE];
	ssize_t size = pread(experiment->lock_fd, note, sizeof(note) - 1, 0);
	if (size <= 0)
		return NULL;
	note[size] = '\0';
	return strdup(note);
}

bool journal_set_note(const struct experiment *experiment, const char *note)
{
	ssize_t size = (ssize_t)strlen(note);
	return ftruncate(experiment->lock_fd, 0) == 0 &&
	       pwrite(experiment->lock_fd, note, (size_t)size, 0) == size;
}

void journal_close(struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->run_count; i++)
		run_free(&experiment->runs[i]);
	free(experiment->runs);
	design_free(&experiment->design);
	json_decref(experiment->machine);
	free(experiment->path);
	if (experiment->lock_fd >= 0)
		close(experiment->lock_fd);
	if (experiment->runs_fd >= 0)
		close(experiment->runs_fd);
	*experiment = (struct experiment){ .lock_fd = -1, .runs_fd = -1 };
}
