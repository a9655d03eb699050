/*
 * HotSpot describes its structures for debuggers in tables that libjvm.so exports
 * (src/hotspot/share/runtime/vmStructs.hpp): one row for each field, with the name of its type,
 * and where it is. The options are an array of JVMFlag (Flag in Java 8).
 */
#include "hotspot.h"

#include <link.h>
#include <stdint.h>
#include <string.h>

#include "shim/real.h"

#define ROWS_MOST 100000u

static const void *word_of(const struct link_map *machine, const char *name)
{
	return real_find_in(machine, name);
}

static bool number_of(const struct link_map *machine, const char *name, uint64_t *number)
{
	const uint64_t *word = word_of(machine, name);
	if (word != NULL)
		*number = *word;
	return word != NULL;
}

static const char *text_at(const char *row, uint64_t offset)
{
	const char *text;
	memcpy(&text, row + offset, sizeof(text));
	return text;
}

static bool is_flag(const char *type)
{
	return strcmp(type, "JVMFlag") == 0 || strcmp(type, "Flag") == 0;
}

/* The size of one JVMFlag, 0: unknown. */
static uint64_t flag_size(const struct link_map *machine)
{
	uint64_t stride, type_name, size;
	const char *const *rows = word_of(machine, "gHotSpotVMTypes");
	if (rows == NULL || !number_of(machine, "gHotSpotVMTypeEntryArrayStride", &stride) ||
	        !number_of(machine, "gHotSpotVMTypeEntryTypeNameOffset", &type_name) ||
	        !number_of(machine, "gHotSpotVMTypeEntrySizeOffset", &size))
		return 0;
	const char *row = *rows;
	for (unsigned i = 0; i < ROWS_MOST && text_at(row, type_name) != NULL; i++, row += stride)
		if (is_flag(text_at(row, type_name))) {
			uint64_t bytes;
			memcpy(&bytes, row + size, sizeof(bytes));
			return bytes;
		}
	return 0;
}

struct flags {
	const char *first;
	uint64_t count, size, name, address; /* size of one, and where in it these two are */
	unsigned found;                      /* of the four fields that are wanted */
};

/* Takes a field of JVMFlag: the address of a static one, the offset of another. */
static void take_field(struct flags *flags, const char *field, const void *address, uint64_t offset)
{
	flags->found++;
	if (strcmp(field, "flags") == 0)
		memcpy(&flags->first, address, sizeof(flags->first));
	else if (strcmp(field, "numFlags") == 0)
		memcpy(&flags->count, address, sizeof(flags->count));
	else if (strcmp(field, "_name") == 0)
		flags->name = offset;
	else if (strcmp(field, "_addr") == 0)
		flags->address = offset;
	else
		flags->found--;
}

static bool find_flags(const struct link_map *machine, struct flags *flags)
{
	uint64_t stride, type_name, field_name, offset_at, address_at;
	const char *const *rows = word_of(machine, "gHotSpotVMStructs");
	*flags = (struct flags){ .size = flag_size(machine) };
	if (rows == NULL || flags->size == 0 ||
	        !number_of(machine, "gHotSpotVMStructEntryArrayStride", &stride) ||
	        !number_of(machine, "gHotSpotVMStructEntryTypeNameOffset", &type_name) ||
	        !number_of(machine, "gHotSpotVMStructEntryFieldNameOffset", &field_name) ||
	        !number_of(machine, "gHotSpotVMStructEntryOffsetOffset", &offset_at) ||
	        !number_of(machine, "gHotSpotVMStructEntryAddressOffset", &address_at))
		return false;
	const char *row = *rows;
	for (unsigned i = 0; i < ROWS_MOST && text_at(row, type_name) != NULL; i++, row += stride) {
		uint64_t offset;
		if (!is_flag(text_at(row, type_name)))
			continue;
		memcpy(&offset, row + offset_at, sizeof(offset));
		take_field(flags, text_at(row, field_name), text_at(row, address_at), offset);
	}
	return flags->found == 4 && flags->first != NULL && flags->count < ROWS_MOST;
}

enum hotspot_answer hotspot_option(const struct link_map *machine, const char *name)
{
	struct flags flags;
	if (!find_flags(machine, &flags))
		return HOTSPOT_UNKNOWN;
	for (uint64_t i = 0; i < flags.count; i++) {
		const char *flag = flags.first + i * flags.size;
		const char *own = text_at(flag, flags.name), *value = text_at(flag, flags.address);
		if (own != NULL && value != NULL && strcmp(own, name) == 0)
			return *value != 0 ? HOTSPOT_ON : HOTSPOT_OFF;
	}
	return HOTSPOT_UNKNOWN;
}
