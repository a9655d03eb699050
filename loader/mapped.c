/*
 * Brings the modules of several records together, by path, inode and part of the file.
 */
#include "mapped.h"

#include <stdlib.h>
#include <string.h>

/* Rows of files by a hash of what tells them apart; open addressing. */
struct index {
	uint32_t *buckets; /* row + 1, 0: free */
	size_t size;       /* a power of 2, larger than the number of rows */
};

static size_t hash(const struct record_module *map, bool whole_file)
{
	uint64_t value =
	        map->inode * UINT64_C(0x9e3779b97f4a7c15) + (whole_file ? 0 : map->file_offset);
	for (const char *at = map->path; *at != '\0'; at++)
		value = (value ^ (unsigned char)*at) * UINT64_C(0x100000001b3); /* FNV-1a */
	return (size_t)(value ^ value >> 32);
}

static bool is_same_file(const struct record_module *a, const struct record_module *b)
{
	return a->inode == b->inode && a->device_major == b->device_major &&
	       a->device_minor == b->device_minor && strcmp(a->path, b->path) == 0;
}

static bool is_same_part(const struct record_module *a, const struct record_module *b)
{
	return is_same_file(a, b) && a->file_offset == b->file_offset &&
	       a->end - a->start == b->end - b->start && (a->start != 0) == (b->start != 0);
}

/* The bucket of the first row that is the same, or a free one. */
static uint32_t *find_bucket(const struct mapped *mapped, const struct index *index,
        const struct record_module *map, bool whole_file)
{
	for (size_t at = hash(map, whole_file);; at++) {
		uint32_t *bucket = &index->buckets[at & (index->size - 1)];
		if (*bucket == 0)
			return bucket;
		const struct record_module *other = &mapped->files[*bucket - 1].map;
		if (whole_file ? is_same_file(other, map) : is_same_part(other, map))
			return bucket;
	}
}

struct indexes {
	struct index parts, files;
};

static uint32_t add_row(struct mapped *mapped, const struct indexes *indexes,
        const struct record_module *map, const struct record *record)
{
	uint32_t row = mapped->file_count++;
	uint32_t *first = find_bucket(mapped, &indexes->files, map, true);
	if (*first == 0)
		*first = row + 1;
	mapped->files[row] = (struct mapped_file){
		.map = *map, .same = *first - 1, .start_real_ns = record->header.start_real_ns
	};
	return row;
}

static bool add_record(struct mapped *mapped, const struct indexes *indexes, size_t number,
        const struct record *record)
{
	struct mapped_process *process = &mapped->processes[number];
	process->count = record->entries[REGION_MODULES];
	process->mappings = calloc((size_t)process->count + 1, sizeof(*process->mappings));
	if (process->mappings == NULL)
		return false;
	for (uint32_t i = 0; i < process->count; i++) {
		struct record_module map;
		record_copy(record, REGION_MODULES, i, &map, sizeof(map));
		map.path[sizeof(map.path) - 1] = '\0';
		if (map.start >= map.end)
			map.start = 0;
		uint32_t *part = find_bucket(mapped, &indexes->parts, &map, false);
		uint32_t row = *part - 1;
		if (*part == 0 || number == 0)
			row = add_row(mapped, indexes, &map, record);
		if (*part == 0)
			*part = row + 1;
		if (mapped->files[row].start_real_ns > record->header.start_real_ns)
			mapped->files[row].start_real_ns = record->header.start_real_ns;
		process->mappings[i] = (struct mapping){ map.start, map.end, row };
	}
	return true;
}

static bool make_index(struct index *index, size_t rows)
{
	index->size = 64;
	while (index->size < rows * 2)
		index->size *= 2;
	index->buckets = calloc(index->size, sizeof(*index->buckets));
	return index->buckets != NULL;
}

struct mapped *mapped_new(const struct record *const *records, size_t count)
{
	size_t most = 0;
	struct indexes indexes = { .parts = { NULL, 0 } };
	struct mapped *mapped = calloc(1, sizeof(*mapped));
	for (size_t i = 0; i < count; i++)
		most += records[i]->entries[REGION_MODULES];
	bool ok = mapped != NULL && make_index(&indexes.parts, most) &&
	          make_index(&indexes.files, most);
	if (ok) {
		mapped->files = calloc(most + 1, sizeof(*mapped->files));
		mapped->processes = calloc(count + 1, sizeof(*mapped->processes));
		ok = mapped->files != NULL && mapped->processes != NULL;
		mapped->process_count = ok ? count : 0;
	}
	for (size_t i = 0; ok && i < count; i++)
		ok = add_record(mapped, &indexes, i, records[i]);
	free(indexes.parts.buckets);
	free(indexes.files.buckets);
	if (ok)
		return mapped;
	mapped_free(mapped);
	return NULL;
}

void mapped_free(struct mapped *mapped)
{
	if (mapped == NULL)
		return;
	for (size_t i = 0; i < mapped->process_count; i++)
		free(mapped->processes[i].mappings);
	free(mapped->processes);
	free(mapped->files);
	free(mapped);
}

struct code mapped_code(
        const struct mapped *mapped, size_t process, uint32_t stored_module, uint64_t address)
{
	const struct mapped_process *in = &mapped->processes[process];
	if (address == 0 || stored_module == 0 || stored_module > in->count)
		return (struct code){ MAPPED_NONE, address };
	const struct mapping *mapping = &in->mappings[stored_module - 1];
	uint64_t start = mapped->files[mapping->file].map.start;
	return (struct code){ mapping->file, address - mapping->start + start };
}

uint64_t mapped_offset(const struct mapped *mapped, struct code code)
{
	if (code.file == MAPPED_NONE)
		return code.address;
	const struct record_module *map = &mapped->files[code.file].map;
	return code.address - map->start + map->file_offset;
}

struct code mapped_find(const struct mapped *mapped, size_t process, uint64_t address)
{
	const struct mapped_process *in = &mapped->processes[process];
	/* The instruction after a call may lie behind the end of the file's code. */
	uint64_t call = address - 1;
	for (uint32_t i = in->count; address != 0 && i > 0; i--)
		if (call >= in->mappings[i - 1].start && call < in->mappings[i - 1].end &&
		        in->mappings[i - 1].start != 0)
			return mapped_code(mapped, process, i, address);
	return (struct code){ MAPPED_NONE, address };
}

int mapped_compare(const struct mapped *mapped, struct code a, struct code b)
{
	uint32_t file_a = a.file == MAPPED_NONE ? MAPPED_NONE : mapped->files[a.file].same;
	uint32_t file_b = b.file == MAPPED_NONE ? MAPPED_NONE : mapped->files[b.file].same;
	if (file_a != file_b)
		return file_a < file_b ? -1 : 1;
	uint64_t offset_a = mapped_offset(mapped, a), offset_b = mapped_offset(mapped, b);
	return (offset_a > offset_b) - (offset_a < offset_b);
}
