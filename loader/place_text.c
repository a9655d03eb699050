/*
 * Fits the names of places into columns.
 */
#include "place_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbol_names.h"
#include "text.h"
#include "words.h"

#define FILE_NAME 22 /* columns of a source file or library at most */
#define MIN_NAME  8  /* columns that a function's name keeps beside the rest */
#define MIN_FILE  5  /* columns of a file's name below which it says nothing: "l..so" */

/* The last part of a path: a library without its version when that makes it too long. */
static void short_file(const char *path, unsigned width, char to[FILE_NAME + 1])
{
	char bare[RECORD_PATH_SIZE];
	const char *base = words_base_name(path);
	size_t length = strlen(base);
	const char *suffix = strstr(base, ".so.");
	if (length > width && suffix != NULL)
		length = (size_t)(suffix - base) + strlen(".so");
	snprintf(bare, sizeof(bare), "%.*s", (int)length, base);
	text_shorten(bare, width < FILE_NAME ? width : FILE_NAME, to);
}

/* What tells the place apart from others of one name, which is never cut. */
static void exact_part(const struct place *place, char part[32])
{
	part[0] = '\0';
	if (place->line != 0)
		snprintf(part, 32, ":%u", place->line);
	else if (place->name[0] != '\0' && place->name_offset != 0)
		snprintf(part, 32, "+0x%" PRIx64, place->name_offset);
	else if (place->name[0] == '\0' && place->module[0] != '\0')
		snprintf(part, 32, "+0x%" PRIx64, place->module_offset);
	else if (place->name[0] == '\0' && place->address != 0)
		snprintf(part, 32, "0x%" PRIx64, place->address);
}

/* The name with its exact part and the file, which gives way first and is left out at last. */
static void named_text(
        const struct place *place, const char *exact, unsigned width, char to[PLACE_TEXT_WIDTH + 1])
{
	const char *path = place->line != 0 ? place->file : place->module;
	const char *before = place->line != 0 ? " at " : " in ";
	char name[SYMBOL_NAME_SIZE], file[FILE_NAME + 1];
	unsigned fixed = (unsigned)(strlen(exact) + strlen(before));
	unsigned room = width > fixed ? width - fixed : 0;
	symbol_shorten(place->name, width, name);
	unsigned wanted = (unsigned)strlen(name);
	short_file(path, FILE_NAME, file);
	unsigned for_name = wanted > MIN_NAME ? MIN_NAME : wanted;
	unsigned for_file = (unsigned)strlen(file);
	unsigned least_file = for_file > MIN_FILE ? MIN_FILE : for_file;
	/* The scope of a function says more than the rest of a long file's name. */
	if (wanted + for_file > room)
		for_file = room > wanted + least_file ? room - wanted : least_file;
	if (for_name + for_file > room) {
		unsigned least = (unsigned)strlen(exact) + 1;
		symbol_shorten(place->name, width > least ? width - (least - 1) : 1, name);
		snprintf(to, PLACE_TEXT_WIDTH + 1, "%s%s", name, exact);
		return;
	}
	short_file(path, for_file, file);
	symbol_shorten(place->name, room - (unsigned)strlen(file), name);
	if (place->line != 0)
		snprintf(to, PLACE_TEXT_WIDTH + 1, "%s%s%s%s", name, before, file, exact);
	else
		snprintf(to, PLACE_TEXT_WIDTH + 1, "%s%s%s%s", name, exact, before, file);
}

void place_text(const struct place *place, unsigned width, char to[PLACE_TEXT_WIDTH + 1])
{
	char exact[32], file[FILE_NAME + 1] = "";
	if (width > PLACE_TEXT_WIDTH)
		width = PLACE_TEXT_WIDTH;
	exact_part(place, exact);
	if (place->name[0] != '\0') {
		named_text(place, exact, width, to);
		return;
	}
	unsigned length = (unsigned)strlen(exact);
	const char *path = place->line != 0 ? place->file : place->module;
	if (path[0] != '\0')
		short_file(path, width > length + 1 ? width - length : 1, file);
	snprintf(to, PLACE_TEXT_WIDTH + 1, "%s%s", file, length > 0 ? exact : "unknown");
}

char *place_key(const struct place *place)
{
	char *key;
	const char *module = words_base_name(place->module);
	int made;
	if (place->name[0] != '\0' && place->line != 0 && place->column != 0)
		made = asprintf(&key, "%s at %s:%u:%u in %s", place->name,
		        words_base_name(place->file), place->line, place->column, module);
	else if (place->name[0] != '\0' && place->line != 0)
		made = asprintf(&key, "%s at %s:%u in %s", place->name,
		        words_base_name(place->file), place->line, module);
	else if (place->name[0] != '\0' && place->name_offset != 0)
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
