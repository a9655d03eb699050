/*
 * Makes a name of what is known about a place.
 */
#include "place_names.h"

#include <inttypes.h>
#include <stdio.h>

#include "words.h"

void place_function(const struct place *place, char name[PLACE_NAME_SIZE])
{
	if (place->name[0] != '\0')
		snprintf(name, PLACE_NAME_SIZE, "%s", place->name);
	else if (place->module[0] != '\0')
		snprintf(name, PLACE_NAME_SIZE, "%s+0x%" PRIx64, words_base_name(place->module),
		        place->module_offset);
	else if (place->address != 0)
		snprintf(name, PLACE_NAME_SIZE, "0x%" PRIx64, place->address);
	else
		snprintf(name, PLACE_NAME_SIZE, "[unknown]");
}

void place_name(const struct place *place, char name[PLACE_NAME_SIZE])
{
	if (place->name[0] == '\0' || (place->line == 0 && place->name_offset == 0))
		place_function(place, name);
	else if (place->line != 0)
		snprintf(name, PLACE_NAME_SIZE, "%.400s at %.150s:%u", place->name,
		        words_base_name(place->file), place->line);
	else
		snprintf(name, PLACE_NAME_SIZE, "%s+0x%" PRIx64, place->name, place->name_offset);
}
