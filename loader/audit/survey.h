/*
 * What `abshim audit` looks at: its arguments are targets, of which each has files; a file that
 * several targets have is read once.
 */
#ifndef LOADER_AUDIT_SURVEY_H
#define LOADER_AUDIT_SURVEY_H

#include <sys/stat.h>

#include "audit.h"
#include "interpose.h"

enum target_kind {
	TARGET_FILE,      /* a library, an object, an archive, anything that is no program */
	TARGET_PROGRAM,   /* and the libraries that it would have */
	TARGET_PROCESS,   /* what it has mapped now */
	TARGET_DIRECTORY, /* what lies in it */
};

struct target {
	char *name; /* as it was given */
	enum target_kind kind;
	size_t *rows; /* of the list; of a program and of a process its own comes first */
	size_t row_count;
	struct texts notes;
	bool whole; /* all its files are known; each has a word of its own for having been read */
};

struct survey {
	const char *root; /* of the system that names and paths are of; NULL: this one */
	struct audit_list list;
	struct interposition *interpositions; /* one for each row of the list */
	struct target *targets;
	size_t target_count;
	struct survey_file *files; /* those that have been read */
	size_t file_count;
	bool out_of_memory;
};

/* Takes an argument of the command: a path, a process id, the name of a command. */
void survey_add(struct survey *survey, const char *argument);
void survey_free(struct survey *survey);

/* A path of a row as it is in the system that is looked at. */
const char *survey_own_path(const struct survey *survey, const char *path);

/* For the kinds of targets. Each adds to the last target. */

/* A new target, which becomes the last one. NULL: no memory. */
struct target *survey_target(struct survey *survey, const char *name, enum target_kind kind);

/* Reads the file, which can be opened by path, and which is called name in the report. */
void survey_file(struct survey *survey, const char *path, const char *name);

/* Adds a row without figures for what cannot be read. */
void survey_refuse(struct survey *survey, const char *name, const char *why);

void survey_note(struct survey *survey, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* The last target is not all that it should be. */
void survey_not_whole(struct survey *survey);

void survey_directory(struct survey *survey, const char *path);
void survey_process(struct survey *survey, const char *pid);

/* A program, a script, or any other file. */
void survey_named_file(struct survey *survey, const char *path, const char *argument);

#endif
