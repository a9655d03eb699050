/*
 * Fits the names of places into columns.
 */
#include "place_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbol_names.h"
#include "words.h"

#define FILE_NAME 22 /* columns of a source file or library at most */
#define MIN_NAME  8  /* columns that a function's name keeps beside the rest */

/* The last part of a path: a library without its version when that makes it too long. */
static void short_file(const char *path, char to[FILE_NAME + 1])
{
	const char *base = words_base_name(path);
	size_t length = strlen(base);
	const char *suffix = strstr(base, ".so.");
	if (length > FILE_NAME && suffix != NULL)
		length = (size_t)(suffix - base) + strlen(".so");
	snprintf(to, FILE_NAME + 1, "%.*s", (int)length, base);
}

/* What follows the name: where it is. Returns what stands for a missing name. */
static const char *place_tail(
        const struct place *place, char tail[PLACE_TEXT_WIDTH + 1], char module[FILE_NAME + 1])
{
	size_t size = PLACE_TEXT_WIDTH + 1;
	char file[FILE_NAME + 1];
	short_file(place->module, module);
	short_file(place->file, file);
	if (place->line != 0)
		snprintf(tail, size, " at %s:%u", file, place->line);
	else if (place->name[0] != '\0' && place->name_offset != 0)
		snprintf(tail, size, "+0x%" PRIx64 " in %s", place->name_offset, module);
	else if (place->name[0] != '\0')
		snprintf(tail, size, " in %s", module);
	else if (module[0] != '\0')
		snprintf(tail, size, "+0x%" PRIx64, place->module_offset);
	else if (place->address != 0)
		snprintf(tail, size, "0x%" PRIx64, place->address);
	else
		strcpy(tail, "unknown");
	return module;
}

void place_text(const struct place *place, unsigned width, char to[PLACE_TEXT_WIDTH + 1])
{
	char tail[PLACE_TEXT_WIDTH + 1], module[FILE_NAME + 1], name[SYMBOL_NAME_SIZE];
	const char *instead = place_tail(place, tail, module);
	if (width > PLACE_TEXT_WIDTH)
		width = PLACE_TEXT_WIDTH;
	symbol_shorten(place->name, width, name);
	/* The scope of a function says more than the place of the call in it. */
	if (place->line == 0 && name[0] != '\0' && strlen(name) + strlen(tail) > width)
		snprintf(tail, sizeof(tail), " in %s", module);
	if (strlen(tail) + MIN_NAME > width)
		tail[width > MIN_NAME ? width - MIN_NAME : 0] = '\0';
	symbol_shorten(place->name[0] != '\0' ? place->name : instead,
	        width - (unsigned)strlen(tail), name);
	snprintf(to, PLACE_TEXT_WIDTH + 1, "%s%s", name, tail);
}

char *place_key(const struct place *place)
{
	char *key;
	const char *module = words_base_name(place->module);
	int made;
	if (place->name[0] != '\0' && place->name_offset != 0)
		made = asprintf(
		        &key, "%s+0x%" PRIx64 " in %s", place->name, place->name_offset, module);
	else if (place->name[0] != '\0')
		made = asprintf(&key, "%s in %s", place->name, module);
	else if (module[0] != '\0')
		made = asprintf(&key, "%s+0x%" PRIx64, module, place->module_offset);
	else if (place->address != 0)
		made = asprintf(&key, "0x%" PRIx64, place->address);
	else
		made = asprintf(&key, "unknown");
	return made < 0 ? NULL : key;
}
