/*
 * Puts a profile together in the messages that protobuf-c packs, and compresses it.
 */
#include "profile.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "text.h"

#define GZIP_WINDOW (15 + 16) /* zlib's largest window, in gzip's format */

/* Things with a number, by key: strings by text, others by two numbers. */
struct interned {
	char *text;
	uint64_t first, second;
	size_t number; /* in its array */
};

struct profile {
	struct Pprof__Profile *message;
	void *strings, *functions, *mappings, *locations; /* trees of struct interned */
	bool failed;
};

static int compare_texts(const void *left, const void *right)
{
	const struct interned *a = left, *b = right;
	return strcmp(a->text, b->text);
}

static int compare_pairs(const void *left, const void *right)
{
	const struct interned *a = left, *b = right;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return (a->second > b->second) - (a->second < b->second);
}

static void free_entry(void *pointer)
{
	struct interned *entry = pointer;
	free(entry->text);
	free(entry);
}

/* The entry of a key in a tree, whose text it takes over; a new one gets the number. NULL: none. */
static struct interned *intern(struct profile *profile, void **tree, const struct interned *key,
        int (*compare)(const void *, const void *))
{
	struct interned *made = malloc(sizeof(*made));
	struct interned **found = NULL;
	if (made != NULL) {
		*made = *key;
		found = tsearch(made, tree, compare);
	}
	if (found == NULL)
		profile->failed = true;
	if (found == NULL || *found != made) {
		free(key->text);
		free(made);
	}
	return found != NULL ? *found : NULL;
}

/*
 * Makes room for one more item in the array at *array and counts it; arrays double when their count
 * is a power of 2. Returns where it goes, NULL: no memory.
 */
static void *append(struct profile *profile, void *array, size_t *count, size_t size)
{
	unsigned char *items;
	memcpy(&items, array, sizeof(items));
	if ((*count & (*count - 1)) == 0) {
		items = realloc(items, (*count != 0 ? *count * 2 : 1) * size);
		if (items == NULL) {
			profile->failed = true;
			return NULL;
		}
		memcpy(array, &items, sizeof(items));
	}
	return items + size * (*count)++;
}

/* Appends a message to an array of pointers to such. NULL: no memory. */
static void *append_message(struct profile *profile, void *array, size_t *count,
        const ProtobufCMessageDescriptor *descriptor)
{
	void *message = malloc(descriptor->sizeof_message);
	void *slot = message != NULL ? append(profile, array, count, sizeof(message)) : NULL;
	if (slot == NULL) {
		profile->failed = true;
		free(message);
		return NULL;
	}
	protobuf_c_message_init(descriptor, message);
	memcpy(slot, &message, sizeof(message));
	return message;
}

static void append_number(
        struct profile *profile, int64_t **numbers, size_t *count, uint64_t number)
{
	int64_t *slot = append(profile, numbers, count, sizeof(*slot));
	if (slot != NULL)
		*slot = number < INT64_MAX ? (int64_t)number : INT64_MAX;
}

struct profile *profile_new(void)
{
	struct profile *profile = calloc(1, sizeof(*profile));
	if (profile == NULL)
		return NULL;
	profile->message = malloc(sizeof(*profile->message));
	if (profile->message != NULL) {
		pprof__profile__init(profile->message);
		profile_string(profile, "");
	}
	if (profile->message != NULL && !profile->failed)
		return profile;
	profile_free(profile);
	return NULL;
}

void profile_free(struct profile *profile)
{
	if (profile == NULL)
		return;
	tdestroy(profile->strings, free_entry);
	tdestroy(profile->functions, free_entry);
	tdestroy(profile->mappings, free_entry);
	tdestroy(profile->locations, free_entry);
	pprof__profile__free_unpacked(profile->message, NULL);
	free(profile);
}

struct Pprof__Profile *profile_message(struct profile *profile)
{
	return profile->message;
}

int64_t profile_string(struct profile *profile, const char *text)
{
	struct Pprof__Profile *message = profile->message;
	struct interned key = { .text = text_valid_utf8(text), .number = message->n_string_table };
	if (key.text == NULL) {
		profile->failed = true;
		return 0;
	}
	const struct interned *entry = intern(profile, &profile->strings, &key, compare_texts);
	if (entry == NULL || entry->number < message->n_string_table)
		return entry != NULL ? (int64_t)entry->number : 0;
	char *copy = strdup(entry->text);
	char **slot = copy != NULL ? append(profile, &message->string_table,
	                                     &message->n_string_table, sizeof(copy))
	                           : NULL;
	if (slot == NULL) {
		profile->failed = true;
		free(copy);
		return 0;
	}
	*slot = copy;
	return (int64_t)entry->number;
}

void profile_add_type(struct profile *profile, const char *type, const char *unit)
{
	struct Pprof__Profile *message = profile->message;
	struct Pprof__ValueType *added = append_message(profile, &message->sample_type,
	        &message->n_sample_type, &pprof__value_type__descriptor);
	if (added == NULL)
		return;
	added->type = profile_string(profile, type);
	added->unit = profile_string(profile, unit);
}

void profile_set_period(struct profile *profile, const char *type, const char *unit, int64_t period)
{
	struct Pprof__ValueType *made = malloc(sizeof(*made));
	if (made == NULL) {
		profile->failed = true;
		return;
	}
	pprof__value_type__init(made);
	made->type = profile_string(profile, type);
	made->unit = profile_string(profile, unit);
	profile->message->period_type = made;
	profile->message->period = period;
}

void profile_add_comment(struct profile *profile, const char *text)
{
	append_number(profile, &profile->message->comment, &profile->message->n_comment,
	        (uint64_t)profile_string(profile, text));
}

struct Pprof__Mapping *profile_mapping(struct profile *profile, uint64_t key, bool *is_new)
{
	struct Pprof__Profile *message = profile->message;
	const struct interned wanted = { .first = key, .number = message->n_mapping };
	const struct interned *entry = intern(profile, &profile->mappings, &wanted, compare_pairs);
	*is_new = entry != NULL && entry->number == message->n_mapping;
	if (!*is_new)
		return entry != NULL ? message->mapping[entry->number] : NULL;
	struct Pprof__Mapping *added = append_message(
	        profile, &message->mapping, &message->n_mapping, &pprof__mapping__descriptor);
	if (added != NULL)
		added->id = message->n_mapping;
	return added;
}

struct Pprof__Location *profile_location(
        struct profile *profile, uint64_t first, uint64_t second, bool *is_new)
{
	struct Pprof__Profile *message = profile->message;
	const struct interned wanted = {
		.first = first, .second = second, .number = message->n_location
	};
	const struct interned *entry = intern(profile, &profile->locations, &wanted, compare_pairs);
	*is_new = entry != NULL && entry->number == message->n_location;
	if (!*is_new)
		return entry != NULL ? message->location[entry->number] : NULL;
	struct Pprof__Location *added = append_message(
	        profile, &message->location, &message->n_location, &pprof__location__descriptor);
	if (added != NULL)
		added->id = message->n_location;
	return added;
}

/* The id of a function, 0: no memory. */
static uint64_t find_function(struct profile *profile, const char *name, const char *file)
{
	struct Pprof__Profile *message = profile->message;
	const struct interned wanted = { .first = (uint64_t)profile_string(profile, name),
		.second = (uint64_t)profile_string(profile, file),
		.number = message->n_function };
	const struct interned *entry = intern(profile, &profile->functions, &wanted, compare_pairs);
	if (entry == NULL || entry->number < message->n_function)
		return entry != NULL ? entry->number + 1 : 0;
	struct Pprof__Function *added = append_message(
	        profile, &message->function, &message->n_function, &pprof__function__descriptor);
	if (added == NULL)
		return 0;
	added->id = message->n_function;
	added->name = added->system_name = (int64_t)wanted.first;
	added->filename = (int64_t)wanted.second;
	return added->id;
}

void profile_add_line(struct profile *profile, struct Pprof__Location *location, const char *name,
        const char *file, unsigned line)
{
	struct Pprof__Line *added = append_message(
	        profile, &location->line, &location->n_line, &pprof__line__descriptor);
	if (added == NULL)
		return;
	added->function_id = find_function(profile, name, file);
	added->line = line;
}

void profile_add_sample(struct profile *profile, const uint64_t values[PROFILE_VALUES])
{
	struct Pprof__Profile *message = profile->message;
	struct Pprof__Sample *added = append_message(
	        profile, &message->sample, &message->n_sample, &pprof__sample__descriptor);
	for (int i = 0; added != NULL && i < PROFILE_VALUES; i++)
		append_number(profile, &added->value, &added->n_value, values[i]);
}

/* NULL when memory went out before the first. */
static struct Pprof__Sample *last_sample(struct profile *profile)
{
	struct Pprof__Profile *message = profile->message;
	return message->n_sample != 0 ? message->sample[message->n_sample - 1] : NULL;
}

void profile_add_frame(struct profile *profile, const struct Pprof__Location *location)
{
	struct Pprof__Sample *sample = last_sample(profile);
	if (sample == NULL || location == NULL)
		return;
	uint64_t *slot =
	        append(profile, &sample->location_id, &sample->n_location_id, sizeof(*slot));
	if (slot != NULL)
		*slot = location->id;
}

void profile_add_label(struct profile *profile, const char *key, const char *value)
{
	struct Pprof__Sample *sample = last_sample(profile);
	struct Pprof__Label *added = sample != NULL
	                                     ? append_message(profile, &sample->label,
	                                               &sample->n_label, &pprof__label__descriptor)
	                                     : NULL;
	if (added == NULL)
		return;
	added->key = profile_string(profile, key);
	added->str = profile_string(profile, value);
}

static bool compress_to(FILE *out, unsigned char *bytes, size_t size)
{
	z_stream stream = { .next_in = bytes };
	unsigned char buffer[1 << 14];
	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
	            Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	int result = Z_OK;
	while (result == Z_OK) {
		/* zlib counts in 32 bits. */
		if (stream.avail_in == 0 && size > 0) {
			stream.avail_in = size < 1u << 30 ? (unsigned)size : 1u << 30;
			size -= stream.avail_in;
		}
		stream.next_out = buffer;
		stream.avail_out = sizeof(buffer);
		result = deflate(&stream, size == 0 ? Z_FINISH : Z_NO_FLUSH);
		size_t made = sizeof(buffer) - stream.avail_out;
		if (fwrite(buffer, 1, made, out) != made)
			result = Z_ERRNO;
	}
	deflateEnd(&stream);
	return result == Z_STREAM_END;
}

bool profile_write(struct profile *profile, FILE *out)
{
	size_t size = pprof__profile__get_packed_size(profile->message);
	unsigned char *bytes = profile->failed ? NULL : malloc(size);
	if (bytes == NULL)
		return false;
	pprof__profile__pack(profile->message, bytes);
	bool complete = compress_to(out, bytes, size);
	free(bytes);
	return complete;
}
