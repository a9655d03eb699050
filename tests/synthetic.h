/*
 * Records made by hand, with known content, for the tests of the command.
 */
#ifndef TESTS_SYNTHETIC_H
#define TESTS_SYNTHETIC_H

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/model.h"
#include "loader/record_file.h"
#include "probes/record.h"

#ifndef SYNTHETIC_CAPACITY
#define SYNTHETIC_CAPACITY 64u
#endif

struct synthetic {
	unsigned char *bytes;
	size_t size;
	struct record_header *header; /* the start of bytes */
};

static inline void *synthetic_entry(
        const struct synthetic *made, enum record_region_id id, uint32_t entry)
{
	const struct record_region *region = &made->header->regions[id];
	return made->bytes + region->offset + (size_t)region->entry_size * entry;
}

/* Claims the next entry of a dense region. */
static inline void *synthetic_add(struct synthetic *made, enum record_region_id id)
{
	struct record_region *region = &made->header->regions[id];
	ck_assert_uint_lt(region->used, region->capacity);
	return synthetic_entry(made, id, region->used++);
}

static inline struct record_thread *synthetic_thread(
        struct synthetic *made, uint32_t tid, const char *name)
{
	struct record_thread *thread = synthetic_add(made, REGION_THREADS);
	thread->tid = tid;
	memcpy(thread->name, name, strnlen(name, sizeof(thread->name)));
	return thread;
}

static inline struct record_retired *synthetic_retired(
        struct synthetic *made, uint32_t threads, const char *name)
{
	struct record_retired *retired = synthetic_add(made, REGION_RETIRED);
	retired->state = 1;
	retired->threads = threads;
	memcpy(retired->name, name, strnlen(name, sizeof(retired->name)));
	return retired;
}

static inline struct wait_totals synthetic_wait(uint64_t waits, uint64_t total, uint64_t longest)
{
	struct wait_totals wait = {
		.waits = waits, .wait_ns_total = total, .wait_ns_max = longest
	};
	wait.histogram[10] = (uint32_t)waits;
	return wait;
}

static inline struct record_lock *synthetic_lock(
        struct synthetic *made, uint64_t address, struct wait_totals wait)
{
	struct record_lock *lock = synthetic_add(made, REGION_LOCKS);
	lock->address = address;
	lock->wait = wait;
	return lock;
}

static inline struct record_site *synthetic_site(
        struct synthetic *made, uint64_t address, uint32_t lock, struct wait_totals wait)
{
	struct record_site *site = synthetic_add(made, REGION_SITES);
	site->address = address;
	site->lock = lock;
	site->wait = wait;
	return site;
}

static inline struct record_blame *synthetic_blame(
        struct synthetic *made, uint64_t holder, uint32_t site, uint64_t waits, uint64_t total)
{
	struct record_blame *blame = synthetic_add(made, REGION_BLAME);
	blame->holder_address = holder;
	blame->site = site;
	blame->waits = waits;
	blame->wait_ns_total = total;
	blame->wait_ns_max = total;
	return blame;
}

/* A loaded object in which there is nothing to switch. */
static inline struct record_atomics *synthetic_atomics(struct synthetic *made, const char *path)
{
	struct record_atomics *atomics = synthetic_add(made, REGION_ATOMICS);
	atomics->state = 1;
	snprintf(atomics->path, sizeof(atomics->path), "%s", path);
	return atomics;
}

/* A complete record in which nothing has been counted. The caller frees its bytes. */
static inline struct synthetic synthetic_new(void)
{
	static const uint32_t sizes[REGION_COUNT] = {
		[REGION_CONTROL] = sizeof(struct record_control),
		[REGION_THREADS] = sizeof(struct record_thread),
		[REGION_RETIRED] = sizeof(struct record_retired),
		[REGION_MODULES] = sizeof(struct record_module),
		[REGION_LOCK_INDEX] = sizeof(uint32_t),
		[REGION_LOCKS] = sizeof(struct record_lock),
		[REGION_SITE_INDEX] = sizeof(uint32_t),
		[REGION_SITES] = sizeof(struct record_site),
		[REGION_BLAME_INDEX] = sizeof(uint32_t),
		[REGION_BLAME] = sizeof(struct record_blame),
		[REGION_CONDS] = sizeof(struct record_cond),
		[REGION_CREATED] = sizeof(struct record_created),
		[REGION_STACK_INDEX] = sizeof(uint32_t),
		[REGION_STACKS] = sizeof(struct record_stack),
		[REGION_FRAMES] = sizeof(uint64_t),
		[REGION_SAMPLE_INDEX] = sizeof(uint32_t),
		[REGION_SAMPLES] = sizeof(struct record_sample),
		[REGION_UNCOVERED] = sizeof(struct record_uncovered),
		[REGION_ATOMICS] = sizeof(struct record_atomics),
	};
	struct synthetic made = { .size = 8192 };
	for (int id = 0; id < REGION_COUNT; id++)
		made.size += (size_t)sizes[id] * SYNTHETIC_CAPACITY + 64;
	made.size = (made.size + 63) / 64 * 64;
	made.bytes = aligned_alloc(64, made.size);
	ck_assert_ptr_nonnull(made.bytes);
	memset(made.bytes, 0, made.size);
	made.header = (struct record_header *)made.bytes;
	memcpy(made.header->magic, RECORD_MAGIC, sizeof(made.header->magic));
	made.header->version = RECORD_VERSION;
	made.header->header_size = sizeof(*made.header);
	made.header->file_size = made.size;
	made.header->machine = 62;
	made.header->pid = 4711;
	made.header->parent_pid = 1;
	made.header->start_ns = 1000000000;
	made.header->end_ns = 3500000000;
	made.header->state = RECORD_ENDED;
	made.header->end_kind = END_EXIT;
	made.header->cpus = 2;
	strcpy(made.header->executable, "/usr/sbin/server");
	strcpy(made.header->settings, "ABSHIM_MUTEX=yield:30\nABSHIM_REPORT=none\n");
	uint64_t offset = 8192;
	for (int id = 0; id < REGION_COUNT; id++) {
		made.header->regions[id] = (struct record_region){ .offset = offset,
			.entry_size = sizes[id],
			.capacity = id == REGION_CONTROL ? 1
			            : sizes[id] == 0     ? 0
			                                 : SYNTHETIC_CAPACITY };
		offset += ((uint64_t)sizes[id] * SYNTHETIC_CAPACITY + 63) / 64 * 64;
	}
	struct record_control *control = synthetic_entry(&made, REGION_CONTROL, 0);
	control->stats = STATS_ON;
	strcpy(control->mutex.name, "yield:30");
	return made;
}

/* Adds the executable mappings of this process as modules; returns the entry of this program. */
static inline uint32_t synthetic_own_modules(struct synthetic *made)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024], flags[8], self[RECORD_PATH_SIZE] = "";
	uint32_t own = MODEL_NONE;
	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		struct record_module module = { .start = 0 };
		char path[RECORD_PATH_SIZE] = "";
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %511s",
		            &module.start, &module.end, flags, &module.file_offset,
		            &module.device_major, &module.device_minor, &module.inode, path) < 8 ||
		        flags[2] != 'x')
			continue;
		memcpy(module.path, path, sizeof(path));
		if (strcmp(path, self) == 0)
			own = made->header->regions[REGION_MODULES].used;
		memcpy(synthetic_add(made, REGION_MODULES), &module, sizeof(module));
	}
	fclose(maps);
	ck_assert_uint_ne(own, MODEL_NONE);
	return own;
}

/* The first size bytes as a file; the caller closes the descriptor. */
static inline int synthetic_file(const struct synthetic *made, size_t size)
{
	int fd = memfd_create("record", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, made->bytes, size), (ssize_t)size);
	return fd;
}

/* Reads it as `abshim report` would. NULL with a reason when that fails. */
static inline struct record *synthetic_read(
        const struct synthetic *made, size_t size, char why[WHY_SIZE])
{
	int fd = synthetic_file(made, size);
	why[0] = '\0';
	struct record *record = record_read(fd, why);
	close(fd);
	return record;
}

/* A wrapper in a header, as std::mutex::lock() is one. */
static inline __attribute__((always_inline)) uint64_t synthetic_wrapper(uint64_t (*call)(void))
{
	return call();
}

#endif
