/*
 * Finds out what an argument is: a path, a process, the name of a command; and what a file is: a
 * program with libraries, a script with an interpreter, anything else.
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../script.h"
#include "../words.h"
#include "files.h"
#include "resolve.h"
#include "resolve_system.h"
#include "survey.h"

#define DEFAULT_PATH "/bin:/usr/bin" /* confstr(_CS_PATH) */
#define ROOTS_PATH   "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool is_number(const char *text)
{
	return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static bool is_runnable(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 0111) != 0;
}

/* Where a command is on PATH, as a path from here. NULL: nowhere, or no memory. */
static char *find_command(const struct survey *survey, const char *command)
{
	const char *list = getenv("PATH");
	if (survey->root != NULL)
		list = ROOTS_PATH;
	for (const char *at = list != NULL ? list : DEFAULT_PATH; *command != '\0';) {
		char name[PATH_MAX];
		int length = (int)strcspn(at, ":");
		snprintf(name, sizeof(name), "%.*s/%s", length, length > 0 ? at : ".", command);
		if (length == 0)
			snprintf(name, sizeof(name), "./%s", command);
		char *path = system_path(survey->root, name);
		if (path != NULL && is_runnable(path))
			return path;
		free(path);
		at += length;
		if (*at++ == '\0')
			break;
	}
	return NULL;
}

/* Where a path of the system is from here: one that is in it already stays. The caller frees it. */
static char *locate(const struct survey *survey, const char *path)
{
	size_t length = survey->root != NULL ? strlen(survey->root) : 0;
	if (survey->root == NULL || *path != '/')
		return strdup(path);
	char *real = realpath(path, NULL);
	bool inside = real != NULL && strncmp(real, survey->root, length) == 0;
	free(real);
	char *there = inside ? NULL : system_path(survey->root, path);
	if (there != NULL && access(there, F_OK) == 0)
		return there;
	free(there);
	return strdup(path);
}

/* A program's own file, and those of its libraries. */
static void add_program(struct survey *survey, const char *path, int fd, mode_t mode)
{
	struct resolution resolution;
	/* What gains rights by its file is not told by the environment what to load. */
	bool obeys = survey->root == NULL && (mode & (S_ISUID | S_ISGID)) == 0;
	const struct resolve_options options = { .root = survey->root,
		.library_path = obeys ? getenv("LD_LIBRARY_PATH") : NULL,
		.preload = obeys ? getenv("LD_PRELOAD") : NULL };
	survey_file(survey, path, path);
	if (!resolve_program(&resolution, path, fd, &options))
		survey->out_of_memory = true;
	for (size_t i = 1; i < resolution.count; i++)
		survey_file(survey, resolution.files[i].path, resolution.files[i].path);
	for (size_t i = 0; i < resolution.missing.count; i++)
		survey_note(survey, "not found: %s", resolution.missing.items[i]);
	for (size_t i = 0; i < resolution.notes.count; i++)
		survey_note(survey, "%s", resolution.notes.items[i]);
	if (!resolution.whole)
		survey_not_whole(survey);
	resolve_free(&resolution);
}

/* Libraries are looked for where the loader's rules are known. */
static void add_file(struct survey *survey, const char *path)
{
	size_t before = survey->list.count;
	survey_file(survey, path, path);
	if (survey->list.count != before + 1)
		return;
	const struct audit_file *file = &survey->list.files[before];
	if ((file->kind == AUDIT_EXEC || file->kind == AUDIT_PIE) && !file->is_static) {
		survey_note(survey,
		        "its libraries were not looked for: that is done for 64-bit x86-64 and "
		        "AArch64");
		survey_not_whole(survey);
	}
}

static void add_open_file(struct survey *survey, const char *path, int fd, mode_t mode)
{
	struct dynamic dynamic;
	bool is_elf = dynamic_read(fd, &dynamic);
	bool is_program = is_elf && dynamic_is_program(&dynamic) && resolve_knows(&dynamic);
	if (is_elf)
		dynamic_free(&dynamic);
	if (is_program) {
		survey->targets[survey->target_count - 1].kind = TARGET_PROGRAM;
		add_program(survey, path, fd, mode);
	} else {
		add_file(survey, path);
	}
}

/*
 * What a script's line says will run it, as a path from here; through "env", what that will run.
 * Notes it. NULL: nothing that is there.
 */
static char *find_interpreter(struct survey *survey, const char *path, char *line)
{
	char *interpreter, *argument, *program = NULL, *found;
	if (!script_split(line, &interpreter, &argument)) {
		survey_note(survey, "%s is a script whose #! line names no interpreter", path);
		return NULL;
	}
	if (strcmp(words_base_name(interpreter), "env") == 0)
		program = script_program_of_env(argument);
	if (program == NULL)
		found = locate(survey, interpreter);
	else if (strchr(program, '/') != NULL)
		found = locate(survey, program);
	else
		found = find_command(survey, program);
	if (found == NULL || access(found, F_OK) != 0)
		survey_note(survey, "%s is a script for %s, which is not there", path,
		        program != NULL ? program : interpreter);
	else
		survey_note(
		        survey, "%s is a script: this is about its interpreter %s", path, found);
	return found;
}

void survey_named_file(struct survey *survey, const char *path, const char *argument)
{
	if (survey_target(survey, argument, TARGET_FILE) == NULL)
		return;
	char *at = strdup(path);
	for (unsigned depth = 0; at != NULL; depth++) {
		char line[SCRIPT_LINE_SIZE + 1];
		struct stat status;
		const char *why;
		int fd = file_open(at, &status, &why);
		ssize_t length = fd >= 0 ? pread(fd, line, SCRIPT_LINE_SIZE, 0) : -1;
		line[length > 0 ? length : 0] = '\0';
		if (fd < 0)
			survey_refuse(survey, at, why);
		bool is_script = strncmp(line, "#!", 2) == 0 && depth < SCRIPT_MAX_DEPTH;
		if (fd >= 0 && !is_script)
			add_open_file(survey, at, fd, status.st_mode);
		if (fd >= 0)
			close(fd);
		char *next = fd >= 0 && is_script ? find_interpreter(survey, at, line) : NULL;
		if (fd >= 0 && is_script && next == NULL)
			survey_not_whole(survey);
		free(at);
		at = next;
	}
}

static void add_path(struct survey *survey, const char *path, const char *argument)
{
	struct stat status;
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
		if (survey_target(survey, argument, TARGET_DIRECTORY) != NULL)
			survey_directory(survey, path);
	} else {
		survey_named_file(survey, path, argument);
	}
}

void survey_add(struct survey *survey, const char *argument)
{
	struct stat status;
	bool is_path = strchr(argument, '/') != NULL || stat(argument, &status) == 0;
	char *path = is_path ? locate(survey, argument) : NULL;
	if (!is_path && is_number(argument)) {
		if (survey_target(survey, argument, TARGET_PROCESS) != NULL)
			survey_process(survey, argument);
		return;
	}
	if (!is_path)
		path = find_command(survey, argument);
	if (path != NULL)
		add_path(survey, path, argument);
	else if (survey_target(survey, argument, TARGET_FILE) != NULL)
		survey_refuse(survey, argument, "neither a file nor a command on PATH");
	free(path);
}
