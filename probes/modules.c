/*
 * The table of mapped files, read from /proc/self/maps with plain system calls: the loader's own
 * list is guarded by a lock that the thread we would wait for may hold.
 */
#include "modules.h"

#include <fcntl.h>
#include <string.h>

#include "clock.h"
#include "record_map.h"
#include "sys.h"
#include "waits.h"

#define REFRESH_NS 100000000u
#define LINE_SIZE  4352 /* a path of PATH_MAX and the fields before it */

static uint64_t number(const char **text, unsigned base)
{
	uint64_t value = 0;
	for (;; (*text)++) {
		unsigned digit = (unsigned char)**text - (unsigned)'0';
		if (digit > 9)
			digit = (unsigned char)**text - (unsigned)'a' + 10;
		if (digit >= base)
			return value;
		value = value * base + digit;
	}
}

/* One look at all mappings, and the file that the lines before the current one were about. */
struct look {
	uint32_t number; /* of the look */
	uint32_t before; /* modules that were known when it began */
	uint64_t image_start, image_end;
	struct record_module file; /* its identity and path */
};

static struct record_module *module_row(uint32_t i)
{
	return record_entry(REGION_MODULES, i);
}

/* 0: the row is not valid. Pairs with the release in add: the rest is complete. */
static uint64_t module_start(const struct record_module *module)
{
	return __atomic_load_n(&module->start, __ATOMIC_ACQUIRE);
}

static bool is_unloaded(const struct record_module *module)
{
	return __atomic_load_n(&module->unloaded, __ATOMIC_RELAXED) != 0;
}

static bool is_same_file(const struct record_module *a, const struct record_module *b)
{
	return a->inode == b->inode && a->device_major == b->device_major &&
	       a->device_minor == b->device_minor;
}

/* Finds the part among the modules, some of which may span it, and notes that it is still there. */
static bool known(const struct look *look, const struct record_module *found)
{
	uint32_t used = record_used(REGION_MODULES);
	bool result = false;
	for (uint32_t i = 0; i < used; i++) {
		struct record_module *module = module_row(i);
		uint64_t start = module_start(module);
		if (start == 0 || is_unloaded(module) || !is_same_file(module, found) ||
		        start - module->file_offset != found->start - found->file_offset ||
		        found->start >= module->end || found->end <= start)
			continue;
		__atomic_store_n(&module->seen, look->number, __ATOMIC_RELAXED);
		result = result || (start <= found->start && found->end <= module->end);
	}
	return result;
}

static void add(const struct look *look, const struct record_module *found)
{
	uint32_t entry = record_claim(REGION_MODULES);
	if (entry == RECORD_NONE)
		return;
	struct record_module *module = module_row(entry);
	const size_t rest = offsetof(struct record_module, end);
	memcpy((char *)module + rest, (const char *)found + rest, sizeof(*found) - rest);
	module->image_start = look->image_start;
	module->image_end = found->end;
	module->seen = look->number;
	__atomic_store_n(&module->start, found->start, __ATOMIC_RELEASE); /* see module_start */
}

/* The lines about a file are over: its modules learn how far it reaches. */
static void end_image(struct look *look)
{
	uint32_t used = look->image_end != 0 ? record_used(REGION_MODULES) : 0;
	for (uint32_t i = 0; i < used; i++) {
		struct record_module *module = module_row(i);
		uint64_t start = module_start(module);
		if (start < look->image_start || start >= look->image_end || is_unloaded(module) ||
		        !is_same_file(module, &look->file))
			continue;
		__atomic_store_n(&module->image_start, look->image_start, __ATOMIC_RELAXED);
		__atomic_store_n(&module->image_end, look->image_end, __ATOMIC_RELAXED);
	}
	look->image_end = 0;
}

/* The kernel writes a newline in a path as \012. */
static void decode_newlines(char *path)
{
	char *to = path;
	for (const char *from = path; (*to = *from) != '\0'; to++, from++)
		if (strncmp(from, "\\012", 4) == 0) {
			*to = '\n';
			from += 3;
		}
}

/* A line of /proc/PID/maps: start-end rwxp offset major:minor inode path. See proc(5). */
static void take_line(struct look *look, char *text)
{
	const char *line = text;
	struct record_module found = { .start = number(&line, 16) };
	line++;
	found.end = number(&line, 16);
	if (strlen(line) < 6)
		return;
	bool executable = line[3] == 'x', writable = line[2] == 'w';
	line += 6;
	found.file_offset = number(&line, 16);
	line++;
	found.device_major = (uint32_t)number(&line, 16);
	line++;
	found.device_minor = (uint32_t)number(&line, 16);
	line++;
	found.inode = number(&line, 10);
	while (*line == ' ')
		line++;
	bool follows = look->image_end == found.start;
	if (*line == '\0' && found.inode == 0 && writable && follows)
		look->image_end = found.end; /* its zeroed data */
	if (*line != '/' || !is_same_file(&look->file, &found))
		end_image(look);
	if (*line != '/')
		return;
	if (look->image_end == 0) {
		look->image_start = found.start;
		look->file = found;
	}
	look->image_end = found.end;
	if (!executable || known(look, &found))
		return;
	decode_newlines(text + (line - text));
	record_copy_path(found.path, sizeof(found.path), line);
	add(look, &found);
}

/* All lines have been seen: what was known before and is not among them has gone. */
static void mark_unloaded(const struct look *look)
{
	for (uint32_t i = 0; i < look->before; i++) {
		struct record_module *module = module_row(i);
		uint32_t seen = __atomic_load_n(&module->seen, __ATOMIC_RELAXED);
		if (module_start(module) == 0 || is_unloaded(module) ||
		        (int32_t)(seen - look->number) >= 0)
			continue;
		__atomic_store_n(&module->unloaded, 1, __ATOMIC_RELAXED);
		record_locks_gone(module->image_start, module->image_end);
	}
}

void record_modules_refresh(void)
{
	static uint32_t looks;
	char buffer[LINE_SIZE];
	size_t have = 0;
	long got;
	if (record_filtered())
		return;
	struct look look = { .number = __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED),
		.before = record_used(REGION_MODULES) };
	int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	while ((got = sys_read(fd, buffer + have, sizeof(buffer) - have)) > 0) {
		have += (size_t)got;
		char *line = buffer, *newline;
		while ((newline = memchr(line, '\n', have - (size_t)(line - buffer))) != NULL) {
			*newline = '\0';
			take_line(&look, line);
			line = newline + 1;
		}
		have -= (size_t)(line - buffer);
		memmove(buffer, line, have);
	}
	sys_close(fd);
	end_image(&look);
	if (got == 0)
		mark_unloaded(&look);
}

/* How often something may have been unmapped, and up to which of these times marks are complete. */
static uint32_t unmapped, settled;

void record_modules_unmapped(void)
{
	__atomic_fetch_add(&unmapped, 1, __ATOMIC_RELEASE);
}

void record_modules_settle(void)
{
	/* Pairs with the release above: the mappings to be read are later. */
	uint32_t due = __atomic_load_n(&unmapped, __ATOMIC_ACQUIRE);
	if (__builtin_expect(__atomic_load_n(&settled, __ATOMIC_ACQUIRE) == due, 1))
		return;
	record_modules_refresh();
	__atomic_store_n(&settled, due, __ATOMIC_RELEASE); /* pairs with the acquire above */
}

bool record_module_is_gone(uint32_t module)
{
	return module != 0 && is_unloaded(module_row(module - 1));
}

/* From the newest: a file mapped where another was has replaced it. whole: also its data. */
static uint32_t module_at(uint64_t address, bool whole)
{
	for (uint32_t i = record_used(REGION_MODULES); i > 0; i--) {
		const struct record_module *module = module_row(i - 1);
		uint64_t start = module_start(module), end = module->end;
		if (start == 0 || is_unloaded(module))
			continue;
		if (whole) {
			start = __atomic_load_n(&module->image_start, __ATOMIC_RELAXED);
			end = __atomic_load_n(&module->image_end, __ATOMIC_RELAXED);
		}
		if (address >= start && address < end)
			return i;
	}
	return 0;
}

uint32_t record_module_around(uint64_t address)
{
	return module_at(address, true);
}

/* How often a file was about to be mapped. */
static uint32_t mapping;

void record_modules_mapping(void)
{
	__atomic_fetch_add(&mapping, 1, __ATOMIC_RELAXED);
}

uint32_t record_module_of(uint64_t address)
{
	static uint64_t refreshed_ns; /* when the table was last complete */
	static uint32_t refreshed_mapping;
	uint32_t module = module_at(address, false);
	if (module != 0)
		return module;
	/* A time before this record began is that of the parent's. */
	uint64_t last = __atomic_load_n(&refreshed_ns, __ATOMIC_RELAXED);
	uint32_t due = __atomic_load_n(&mapping, __ATOMIC_RELAXED);
	if (last > record_header->start_ns && clock_monotonic_ns() - last < REFRESH_NS &&
	        __atomic_load_n(&refreshed_mapping, __ATOMIC_RELAXED) == due)
		return 0;
	/* Several threads may read at the same time: a row that is there twice does no harm. */
	record_modules_refresh();
	__atomic_store_n(&refreshed_mapping, due, __ATOMIC_RELAXED);
	__atomic_store_n(&refreshed_ns, clock_monotonic_ns(), __ATOMIC_RELAXED);
	return module_at(address, false);
}
