/*
 * The table of mapped files, read from /proc/self/maps with plain system calls: the loader's own
 * list is guarded by a lock that the thread we would wait for may hold.
 */
#include "modules.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "clock.h"
#include "record_map.h"
#include "sys.h"

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

static bool known(const struct record_module *found)
{
	uint32_t used = record_used(REGION_MODULES);
	for (uint32_t i = 0; i < used; i++) {
		const struct record_module *module = record_entry(REGION_MODULES, i);
		/* Pairs with the release in take_line: the rest is complete. */
		if (__atomic_load_n(&module->start, __ATOMIC_ACQUIRE) == found->start &&
		        module->end == found->end && module->inode == found->inode &&
		        strcmp(module->path, found->path) == 0)
			return true;
	}
	return false;
}

/* A line of /proc/PID/maps: start-end rwxp offset major:minor inode path. See proc(5). */
static void take_line(const char *line)
{
	struct record_module found = { .start = number(&line, 16) };
	line++;
	found.end = number(&line, 16);
	if (strlen(line) < 6 || line[3] != 'x')
		return;
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
	if (*line != '/')
		return;
	record_copy_path(found.path, sizeof(found.path), line);
	if (known(&found))
		return;
	uint32_t entry = record_claim(REGION_MODULES);
	if (entry == RECORD_NONE)
		return;
	struct record_module *module = record_entry(REGION_MODULES, entry);
	const size_t rest = offsetof(struct record_module, end);
	memcpy((char *)module + rest, (const char *)&found + rest, sizeof(found) - rest);
	/* Pairs with known and module_at. */
	__atomic_store_n(&module->start, found.start, __ATOMIC_RELEASE);
}

void record_modules_refresh(void)
{
	char buffer[LINE_SIZE];
	size_t have = 0;
	if (record_filtered())
		return;
	int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	for (;;) {
		long got = sys_read(fd, buffer + have, sizeof(buffer) - have);
		if (got <= 0)
			break;
		have += (size_t)got;
		char *line = buffer, *newline;
		while ((newline = memchr(line, '\n', have - (size_t)(line - buffer))) != NULL) {
			*newline = '\0';
			take_line(line);
			line = newline + 1;
		}
		have -= (size_t)(line - buffer);
		memmove(buffer, line, have);
	}
	sys_close(fd);
}

static uint32_t module_at(uint64_t address)
{
	uint32_t used = record_used(REGION_MODULES);
	/* From the newest: a file mapped where another was has replaced it. */
	for (uint32_t i = used; i > 0; i--) {
		const struct record_module *module = record_entry(REGION_MODULES, i - 1);
		uint64_t start = __atomic_load_n(&module->start, __ATOMIC_ACQUIRE);
		if (start != 0 && address >= start && address < module->end)
			return i;
	}
	return 0;
}

uint32_t record_module_of(uint64_t address)
{
	static uint64_t refreshed_ns; /* when the table was last complete */
	uint32_t module = module_at(address);
	if (module != 0)
		return module;
	/* A time before this record began is that of the parent's. */
	uint64_t last = __atomic_load_n(&refreshed_ns, __ATOMIC_RELAXED);
	if (last > record_header->start_ns && clock_monotonic_ns() - last < REFRESH_NS)
		return 0;
	/* Several threads may read at the same time: a row that is there twice does no harm. */
	record_modules_refresh();
	__atomic_store_n(&refreshed_ns, clock_monotonic_ns(), __ATOMIC_RELAXED);
	return module_at(address);
}
