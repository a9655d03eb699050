/*
 * The time waited as the contention profile that pprof and speedscope read.
 */
#include "write.h"

#include <stdlib.h>
#include <string.h>

#include "place_names.h"
#include "profile.h"
#include "shares.h"
#include "words.h"

#define NO_CODE UINT64_MAX /* first key of locations that stand for no code */

struct writer {
	const struct model *model;
	struct symbols *symbols;
	struct profile *profile;
	struct place places[SYMBOL_MAX_INLINED];
};

static void set_build_id(const struct writer *writer, struct Pprof__Mapping *mapping, uint32_t file)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *id;
	char text[2 * 64 + 1];
	size_t size = symbols_build_id(writer->symbols, file, &id);
	if (size == 0 || size > 64)
		return;
	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digits[id[i] >> 4];
		text[2 * i + 1] = digits[id[i] & 15];
	}
	text[2 * size] = '\0';
	mapping->build_id = profile_string(writer->profile, text);
}

/* The first mapping is taken for that of the executable. */
static struct Pprof__Mapping *find_mapping(const struct writer *writer, uint32_t file)
{
	const struct record_module *map = &writer->model->mapped->files[file].map;
	bool is_new;
	struct Pprof__Mapping *mapping = profile_mapping(writer->profile, file, &is_new);
	if (mapping == NULL || !is_new)
		return mapping;
	mapping->memory_start = map->start;
	mapping->memory_limit = map->end;
	mapping->file_offset = map->file_offset;
	mapping->filename = profile_string(writer->profile, map->path);
	set_build_id(writer, mapping, file);
	return mapping;
}

static void add_executable(const struct writer *writer)
{
	const struct mapped *mapped = writer->model->mapped;
	const char *executable = writer->model->processes->record->header.executable;
	for (uint32_t file = 0; file < mapped->file_count; file++) {
		if (mapped->files[file].map.start == 0 ||
		        strcmp(mapped->files[file].map.path, executable) != 0)
			continue;
		find_mapping(writer, file);
		return;
	}
}

static const struct Pprof__Location *find_code(struct writer *writer, struct code code)
{
	bool is_new;
	struct Pprof__Location *location =
	        profile_location(writer->profile, code.file, code.address, &is_new);
	if (location == NULL || !is_new)
		return location;
	struct Pprof__Mapping *mapping = code.file < writer->model->mapped->file_count
	                                         ? find_mapping(writer, code.file)
	                                         : NULL;
	location->mapping_id = mapping != NULL ? mapping->id : 0;
	/* Readers take it for the call itself, not for the instruction that it returns to. */
	location->address = code.address - 1;
	unsigned count = symbols_find_frames(writer->symbols, code, writer->places);
	for (unsigned i = 0; i < count; i++) {
		const struct place *place = &writer->places[i];
		char name[PLACE_NAME_SIZE];
		place_function(place, name);
		profile_add_line(writer->profile, location, name, place->file, place->line);
		if (mapping == NULL)
			continue;
		mapping->has_functions |= place->name[0] != '\0';
		mapping->has_filenames |= place->file[0] != '\0';
		mapping->has_line_numbers |= place->line != 0;
		mapping->has_inline_frames |= count > 1;
	}
	return location;
}

/* A location that stands for what has no calls. */
static const struct Pprof__Location *find_name(const struct writer *writer, const char *name)
{
	bool is_new;
	struct Pprof__Location *location = profile_location(
	        writer->profile, NO_CODE, (uint64_t)profile_string(writer->profile, name), &is_new);
	if (location != NULL && is_new)
		profile_add_line(writer->profile, location, name, "", 0);
	return location;
}

static void add_labels(struct writer *writer, const struct share *share)
{
	const struct record *record = writer->model->processes[share->process].record;
	profile_add_label(writer->profile, "type", words_family(share->family));
	if (share->site != NULL && share->site->mode == MODE_SHARED)
		profile_add_label(writer->profile, "mode", "shared");
	const struct lock_row *lock =
	        share->site != NULL ? model_lock(writer->model, share->site->lock) : NULL;
	if (lock != NULL) {
		char name[PLACE_NAME_SIZE];
		struct place *place = &writer->places[0];
		symbols_find_lock(writer->symbols, lock->process, &lock->lock, place);
		place_name(place, name);
		profile_add_label(writer->profile, "lock", name);
	}
	if (writer->model->process_count > 1) {
		char pid[16];
		snprintf(pid, sizeof(pid), "%d", record->header.pid);
		profile_add_label(
		        writer->profile, "process", words_base_name(record->header.executable));
		profile_add_label(writer->profile, "pid", pid);
	}
}

static void add_share(struct writer *writer, const struct share *share)
{
	const uint64_t values[PROFILE_VALUES] = { share->waits, share->wait_ns };
	profile_add_sample(writer->profile, values);
	for (uint32_t i = 0; i < share->depth; i++)
		profile_add_frame(writer->profile, find_code(writer, share->frames[i]));
	if (share->depth == 0)
		profile_add_frame(writer->profile, find_name(writer, share_name(share)));
	add_labels(writer, share);
}

static void set_heading(struct writer *writer, bool by_holder)
{
	const struct model *model = writer->model;
	struct Pprof__Profile *message = profile_message(writer->profile);
	profile_add_type(writer->profile, "contentions", "count");
	profile_add_type(writer->profile, "delay", "nanoseconds");
	profile_set_period(writer->profile, "contentions", "count", 1);
	message->default_sample_type = profile_string(writer->profile, "delay");
	message->time_nanos = (int64_t)model->processes->record->header.start_real_ns;
	message->duration_nanos = (int64_t)model->duration_ns;
	for (size_t i = 0; i < model->process_count; i++) {
		const struct record_header *header = &model->processes[i].record->header;
		char comment[RECORD_PATH_SIZE + 64];
		snprintf(comment, sizeof(comment), "%s, pid %d", header->executable, header->pid);
		profile_add_comment(writer->profile, comment);
	}
	profile_add_comment(
	        writer->profile, by_holder ? "time waited, at the calls that had acquired the lock"
	                                   : "time waited, at the calls that waited");
}

bool write_pprof(FILE *out, const struct model *model, struct symbols *symbols,
        const struct write_options *options)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	struct shares shares = { .count = 0 };
	bool complete = writer != NULL;
	if (complete) {
		*writer = (struct writer){
			.model = model, .symbols = symbols, .profile = profile_new()
		};
		complete = writer->profile != NULL &&
		           (options->by_holder ? shares_of_holders(&shares, model)
		                               : shares_of_waiters(&shares, model));
	}
	if (complete) {
		set_heading(writer, options->by_holder);
		add_executable(writer);
		for (size_t i = 0; i < shares.count; i++)
			add_share(writer, &shares.rows[i]);
		complete = profile_write(writer->profile, out);
	}
	if (writer != NULL)
		profile_free(writer->profile);
	shares_close(&shares);
	free(writer);
	return complete;
}
