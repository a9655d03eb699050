/*
 * The rows of an audit: added one by one, counted up, freed together.
 */
#include "rows.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By 16 at first, then to twice as many. */
void *audit_grow(void *array, size_t count, size_t size)
{
	if (count < 64 ? count % 16 != 0 : (count & (count - 1)) != 0)
		return array;
	array = reallocarray(array, count < 64 ? count + 16 : count * 2, size);
	if (array == NULL)
		err(125, "audit");
	return array;
}

static char *copy_text(const char *text)
{
	char *copy = strdup(text);
	if (copy == NULL)
		err(125, "audit");
	return copy;
}

struct audit_file *audit_add(struct audit_list *list, const char *path)
{
	list->files = audit_grow(list->files, list->count, sizeof(*list->files));
	struct audit_file *file = &list->files[list->count++];
	*file = (struct audit_file){
		.path = copy_text(path),
		.machine = "",
		.class = "",
		.libc = "unknown",
		.why = copy_text(""),
		.method = AUDIT_SEGMENTS,
		.complete = true,
	};
	return file;
}

struct audit_file *audit_refuse(struct audit_list *list, const char *path, const char *note)
{
	struct audit_file *file = audit_add(list, path);
	file->kind = AUDIT_REFUSED;
	file->complete = false;
	audit_note(file, "%s", note);
	return file;
}

void audit_note(struct audit_file *file, const char *format, ...)
{
	va_list arguments;
	char *note;
	va_start(arguments, format);
	int length = vasprintf(&note, format, arguments);
	va_end(arguments);
	if (length < 0)
		err(125, "audit");
	file->notes = audit_grow(file->notes, file->note_count, sizeof(*file->notes));
	file->notes[file->note_count++] = note;
}

void audit_count(struct audit_file *file, const char *name, bool outline)
{
	size_t i = 0;
	while (i < file->family_count && strcmp(file->families[i].name, name) != 0)
		i++;
	if (i == file->family_count) {
		file->families = audit_grow(file->families, i, sizeof(*file->families));
		file->families[i] = (struct audit_family){ 0 };
		snprintf(file->families[i].name, sizeof(file->families[i].name), "%s", name);
		file->family_count++;
	}
	if (outline)
		file->families[i].outline++;
	else
		file->families[i].in_line++;
}

static void free_file(struct audit_file *file)
{
	for (size_t i = 0; i < file->note_count; i++)
		free(file->notes[i]);
	free(file->notes);
	free(file->families);
	free(file->path);
	free(file->why);
}

void audit_free(struct audit_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free_file(&list->files[i]);
	free(list->files);
	*list = (struct audit_list){ 0 };
}
