/*
 * Keeps targets and the files they have.
 */
#include "survey.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

/* A file by what it is, whatever its names; an archive has several rows. */
struct survey_file {
	dev_t device;
	ino_t inode;
	size_t first, count; /* its rows */
};

static void fail(struct survey *survey)
{
	survey->out_of_memory = true;
}

static struct target *last_target(struct survey *survey)
{
	return &survey->targets[survey->target_count - 1];
}

struct target *survey_target(struct survey *survey, const char *name, enum target_kind kind)
{
	struct target *more =
	        reallocarray(survey->targets, survey->target_count + 1, sizeof(*more));
	char *copy = strdup(name);
	if (more != NULL)
		survey->targets = more;
	if (more == NULL || copy == NULL) {
		free(copy);
		fail(survey);
		return NULL;
	}
	more[survey->target_count] = (struct target){ .name = copy, .kind = kind, .whole = true };
	return &more[survey->target_count++];
}

void survey_note(struct survey *survey, const char *format, ...)
{
	char *text;
	va_list values;
	va_start(values, format);
	if (vasprintf(&text, format, values) < 0)
		text = NULL;
	va_end(values);
	if (text == NULL || !texts_add(&last_target(survey)->notes, text))
		fail(survey);
	free(text);
}

void survey_not_whole(struct survey *survey)
{
	last_target(survey)->whole = false;
}

/* Gives rows of the list to the last target, those that it has not already. */
static void give_rows(struct survey *survey, size_t first, size_t count)
{
	struct target *target = last_target(survey);
	for (size_t i = 0; i < target->row_count; i++)
		if (target->rows[i] == first)
			return;
	size_t *more = reallocarray(target->rows, target->row_count + count, sizeof(*more));
	if (more == NULL) {
		fail(survey);
		return;
	}
	target->rows = more;
	for (size_t i = 0; i < count; i++)
		more[target->row_count++] = first + i;
}

/* Adds the interpositions of new rows, from the first one on. */
static void examine(struct survey *survey, size_t first, int fd)
{
	struct audit_list *list = &survey->list;
	struct interposition *more =
	        reallocarray(survey->interpositions, list->count + 1, sizeof(*more));
	if (more == NULL) {
		fail(survey);
		list->count = first; /* what there is no room for is lost */
		return;
	}
	survey->interpositions = more;
	struct dynamic dynamic;
	bool is_one = list->count == first + 1 && fd >= 0;
	bool is_elf = is_one && dynamic_read(fd, &dynamic);
	for (size_t i = first; i < list->count; i++)
		if (!interpose_examine(&more[i], &list->files[i], fd, is_elf ? &dynamic : NULL))
			fail(survey);
	if (is_elf)
		dynamic_free(&dynamic);
}

void survey_refuse(struct survey *survey, const char *name, const char *why)
{
	size_t first = survey->list.count;
	audit_refuse(&survey->list, name, why);
	if (survey->list.count > first)
		examine(survey, first, -1);
	else
		fail(survey);
	if (survey->list.count > first)
		give_rows(survey, first, 1);
}

static bool remember(struct survey *survey, const struct survey_file *file)
{
	struct survey_file *more =
	        reallocarray(survey->files, survey->file_count + 1, sizeof(*more));
	if (more == NULL) {
		fail(survey);
		return false;
	}
	survey->files = more;
	more[survey->file_count++] = *file;
	return true;
}

void survey_file(struct survey *survey, const char *path, const char *name)
{
	struct stat status;
	const char *why;
	int fd = file_open(path, &status, &why);
	if (fd < 0) {
		survey_refuse(survey, name, why);
		return;
	}
	for (size_t i = 0; i < survey->file_count; i++) {
		const struct survey_file *file = &survey->files[i];
		if (file->device != status.st_dev || file->inode != status.st_ino)
			continue;
		give_rows(survey, file->first, file->count);
		close(fd);
		return;
	}
	struct survey_file file = { status.st_dev, status.st_ino, survey->list.count, 0 };
	audit_read(&survey->list, fd, name);
	if (survey->list.count > file.first)
		examine(survey, file.first, fd);
	file.count = survey->list.count - file.first;
	if (file.count > 0 && remember(survey, &file))
		give_rows(survey, file.first, file.count);
	close(fd);
}

void survey_free(struct survey *survey)
{
	for (size_t i = 0; i < survey->list.count; i++)
		interpose_free(&survey->interpositions[i]);
	for (size_t i = 0; i < survey->target_count; i++) {
		free(survey->targets[i].name);
		free(survey->targets[i].rows);
		texts_free(&survey->targets[i].notes);
	}
	free(survey->interpositions);
	free(survey->targets);
	free(survey->files);
	audit_free(&survey->list);
}

const char *survey_own_path(const struct survey *survey, const char *path)
{
	size_t length = survey->root != NULL ? strlen(survey->root) : 0;
	bool is_below = length > 0 && strncmp(path, survey->root, length) == 0;
	return is_below && path[length] == '/' ? path + length : path;
}
