/*
 * Opens records. Nothing in a file is believed: every size and offset is checked against the file's
 * real size before it is used.
 */
#include "record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "pending.h"
#include "process.h"

/* Far above what the shim makes: a file that claims more is damaged. */
#define MAX_FILE_SIZE (1ull << 30)

/* Where the bytes come from: exactly one of the three. */
struct source {
	int fd;               /* a file that pread() works on, or -1 */
	unsigned char *bytes; /* what came through a pipe, or NULL */
	pid_t pid;            /* a process to read from, or 0 */
	uint64_t address;     /* of the record in that process */
	uint64_t size;
};

/* What a reader of this version needs of each entry; 0: not read. */
static const size_t needed_size[REGION_COUNT] = {
	[REGION_CONTROL] = sizeof(struct record_control),
	[REGION_THREADS] = sizeof(struct record_thread),
	[REGION_RETIRED] = sizeof(struct record_retired),
	[REGION_MODULES] = sizeof(struct record_module),
	[REGION_LOCKS] = sizeof(struct record_lock),
	[REGION_SITES] = sizeof(struct record_site),
	[REGION_BLAME] = sizeof(struct record_blame),
	[REGION_STACKS] = sizeof(struct record_stack),
	[REGION_FRAMES] = sizeof(uint64_t),
	[REGION_SAMPLES] = sizeof(struct record_sample),
	[REGION_UNCOVERED] = sizeof(struct record_uncovered),
	[REGION_ATOMICS] = sizeof(struct record_atomics),
};

static bool read_file(int fd, uint64_t offset, unsigned char *to, size_t size)
{
	while (size > 0) {
		ssize_t got = pread(fd, to, size, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		to += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

static bool read_process(pid_t pid, uint64_t address, unsigned char *to, size_t size)
{
	while (size > 0) {
		struct iovec local = { to, size };
		struct iovec remote = { (void *)(uintptr_t)address, size };
		ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
		if (got <= 0)
			return false;
		to += got;
		address += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

static bool source_read(const struct source *source, uint64_t offset, void *to, size_t size)
{
	if (offset > source->size || size > source->size - offset)
		return false;
	if (source->bytes != NULL) {
		memcpy(to, source->bytes + offset, size);
		return true;
	}
	if (source->pid != 0)
		return read_process(source->pid, source->address + offset, to, size);
	return read_file(source->fd, offset, to, size);
}

/* The checks that need the header only, of which `have` bytes are there. Returns NULL or what is
 * wrong. */
static const char *check_identity(const struct record_header *header, size_t have)
{
	if (have < sizeof(header->magic) ||
	        memcmp(header->magic, RECORD_MAGIC, sizeof(header->magic)) != 0)
		return "not a record of abshim";
	if (have < sizeof(*header))
		return "truncated: its header is not complete";
	if (header->version > 0xffffu && __builtin_bswap32(header->version) <= 0xffffu)
		return "its byte order is not that of x86-64 and AArch64";
	if (header->version > RECORD_VERSION)
		return "written by a newer version of abshim";
	if (header->version == 0)
		return "damaged: its version is 0";
	if (header->version < RECORD_VERSION)
		return "written by an older version of abshim";
	if (header->machine != 62 && header->machine != 183)
		return "damaged: it is of neither x86-64 nor AArch64";
	if (header->header_size < sizeof(*header) || header->file_size < header->header_size)
		return "damaged: its header is too small";
	if (header->file_size > MAX_FILE_SIZE)
		return "damaged: it claims an impossible size";
	return NULL;
}

static bool check_regions(const struct record_header *header, char why[WHY_SIZE])
{
	for (int id = 0; id < REGION_COUNT; id++) {
		const struct record_region *region = &header->regions[id];
		uint64_t bytes = (uint64_t)region->entry_size * region->capacity;
		const char *fault = NULL;
		if (region->offset < header->header_size || region->offset > header->file_size ||
		        bytes > header->file_size - region->offset)
			fault = "lies outside the file";
		else if (region->capacity > 0 && region->entry_size < needed_size[id])
			fault = "has entries that are too small";
		else if (region->used > region->capacity)
			fault = "holds more than it has room for";
		if (fault != NULL) {
			why_set(why, "damaged: region %d %s", id, fault);
			return false;
		}
	}
	return true;
}

/*
 * Copies the used part of one table. A running process may have claimed more since the header was
 * read, so the number is read anew.
 */
static bool read_table(struct record *record, const struct source *source, int id)
{
	struct record_region *region = &record->header.regions[id];
	uint64_t used_at = offsetof(struct record_header, regions) + sizeof(*region) * (size_t)id +
	                   offsetof(struct record_region, used);
	if (!source_read(source, used_at, &region->used, sizeof(region->used)))
		return false;
	if (region->used > region->capacity)
		region->used = region->capacity;
	size_t bytes = (size_t)region->used * region->entry_size;
	if (bytes == 0)
		return true;
	record->tables[id] = malloc(bytes);
	if (record->tables[id] == NULL ||
	        !source_read(source, region->offset, record->tables[id], bytes))
		return false;
	record->entries[id] = region->used;
	return true;
}

/* Later tables refer to entries of earlier ones, so they are read first. */
static bool read_tables(struct record *record, const struct source *source)
{
	const struct record_region *control = &record->header.regions[REGION_CONTROL];
	for (int id = REGION_COUNT - 1; id > REGION_CONTROL; id--)
		if (needed_size[id] != 0 && !read_table(record, source, id))
			return false;
	return control->capacity == 0 ||
	       source_read(source, control->offset, &record->control, sizeof(record->control));
}

static void terminate_strings(struct record *record)
{
	struct record_header *header = &record->header;
	header->executable[sizeof(header->executable) - 1] = '\0';
	header->library[sizeof(header->library) - 1] = '\0';
	header->path[sizeof(header->path) - 1] = '\0';
	header->settings[sizeof(header->settings) - 1] = '\0';
	struct record_allocation *allocation = &header->allocation;
	allocation->path[sizeof(allocation->path) - 1] = '\0';
	allocation->libc_version[sizeof(allocation->libc_version) - 1] = '\0';
	struct record_control *control = &record->control;
	struct record_choice *choices[] = { &control->mutex, &control->rwlock, &control->spinlock,
		&control->sem, &control->futex };
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++)
		choices[i]->name[sizeof(choices[i]->name) - 1] = '\0';
}

static struct record *read_source(const struct source *source, char why[WHY_SIZE])
{
	struct record *record = calloc(1, sizeof(*record));
	if (record == NULL) {
		why_set(why, "no memory to read it");
		return NULL;
	}
	struct record_header *header = &record->header;
	size_t have = source->size < sizeof(*header) ? (size_t)source->size : sizeof(*header);
	bool ok = source_read(source, 0, header, have);
	const char *fault = !ok ? "cannot be read" : check_identity(header, have);
	if (fault != NULL) {
		why_set(why, "%s", fault);
		ok = false;
	} else if (source->size < header->file_size) {
		why_set(why, "truncated: %llu of %llu bytes are there",
		        (unsigned long long)source->size, (unsigned long long)header->file_size);
		ok = false;
	} else if (!check_regions(header, why)) {
		ok = false;
	} else if (!read_tables(record, source)) {
		why_set(why, "cannot be read");
		ok = false;
	}
	if (!ok) {
		record_free(record);
		return NULL;
	}
	terminate_strings(record);
	pending_settle(record);
	return record;
}

/* Reads at most limit bytes more from a pipe to the end of source->bytes. */
static bool slurp(int fd, struct source *source, uint64_t limit)
{
	size_t room = 0;
	while (limit > 0) {
		size_t step = limit < 1u << 20 ? (size_t)limit : 1u << 20;
		if (room < source->size + step) {
			room = (size_t)(source->size + step) * 2;
			unsigned char *grown = realloc(source->bytes, room);
			if (grown == NULL)
				return false;
			source->bytes = grown;
		}
		ssize_t got = read(fd, source->bytes + source->size, step);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		if (got == 0)
			return true;
		source->size += (uint64_t)got;
		limit -= (uint64_t)got;
	}
	return true;
}

static struct record *read_pipe(int fd, char why[WHY_SIZE])
{
	struct source source = { .fd = -1 };
	struct record_header header;
	struct record *record = NULL;
	bool ok = slurp(fd, &source, sizeof(header));
	if (ok && source.size == sizeof(header)) {
		memcpy(&header, source.bytes, sizeof(header));
		if (check_identity(&header, sizeof(header)) == NULL)
			ok = slurp(fd, &source, header.file_size - sizeof(header));
	}
	if (ok)
		record = read_source(&source, why);
	else
		why_set(why, "cannot be read: %s", strerror(errno));
	free(source.bytes);
	return record;
}

struct record *record_read(int fd, char why[WHY_SIZE])
{
	struct stat status;
	if (fstat(fd, &status) != 0) {
		why_set(why, "cannot be read: %s", strerror(errno));
		return NULL;
	}
	if (S_ISDIR(status.st_mode)) {
		why_set(why, "is a directory, not a record");
		return NULL;
	}
	if (!S_ISREG(status.st_mode))
		return read_pipe(fd, why);
	struct source source = { .fd = fd, .size = (uint64_t)status.st_size };
	return read_source(&source, why);
}

/* Puts the name in front of a reason. */
static void name_reason(char why[WHY_SIZE], const char *name)
{
	char reason[WHY_SIZE];
	memcpy(reason, why, WHY_SIZE);
	why_set(why, "%.300s: %.200s", name, reason);
}

struct record *record_read_path(const char *path, char why[WHY_SIZE])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		why_set(why, "%.300s: %s", path, strerror(errno));
		return NULL;
	}
	struct record *record = record_read(fd, why);
	close(fd);
	if (record == NULL)
		name_reason(why, path);
	return record;
}

struct record *record_read_found(const char *path, char why[WHY_SIZE])
{
	struct stat status;
	struct record *record = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &status) != 0)
		why_set(why, "%s", strerror(errno));
	else if (!S_ISREG(status.st_mode))
		why_set(why, "is no regular file, so no record of abshim");
	else
		record = record_read(fd, why);
	if (fd >= 0)
		close(fd);
	if (record == NULL)
		name_reason(why, path);
	return record;
}

struct record *record_read_process(pid_t pid, char why[WHY_SIZE])
{
	struct process_mapping mapping;
	if (!process_find_record(pid, &mapping, why))
		return NULL;
	struct record *record;
	if (mapping.fd >= 0) {
		record = record_read(mapping.fd, why);
		close(mapping.fd);
	} else {
		struct source source = { .fd = -1,
			.pid = mapping.thread,
			.address = mapping.start,
			.size = mapping.end - mapping.start };
		record = read_source(&source, why);
	}
	if (record == NULL) {
		char name[64];
		snprintf(name, sizeof(name), "the record of process %d", (int)pid);
		name_reason(why, name);
	}
	return record;
}

void record_free(struct record *record)
{
	if (record == NULL)
		return;
	for (int id = 0; id < REGION_COUNT; id++)
		free(record->tables[id]);
	free(record);
}

bool record_copy(const struct record *record, enum record_region_id id, uint32_t entry, void *to,
        size_t size)
{
	memset(to, 0, size);
	if (entry >= record->entries[id])
		return false;
	size_t entry_size = record->header.regions[id].entry_size;
	memcpy(to, record->tables[id] + entry * entry_size, size < entry_size ? size : entry_size);
	return true;
}

void record_put(struct record *record, enum record_region_id id, uint32_t entry, const void *from,
        size_t size)
{
	size_t entry_size = record->header.regions[id].entry_size;
	memcpy(record->tables[id] + entry * entry_size, from,
	        size < entry_size ? size : entry_size);
}
