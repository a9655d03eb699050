/*
 * Makes pages writable in runs, so that a large object takes few system calls, and no page of it
 * that holds no change is copied.
 */
#include "patch.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "probes/sys.h"
#include "shim/real.h"

#define RUN UINT64_C(0x10000) /* changes not further apart are made together */

uint64_t patch_page(void)
{
	static uint64_t size;
	if (size == 0)
		size = getauxval(AT_PAGESZ);
	return size;
}

bool patch_branch(uint64_t from, uint64_t to, uint32_t *word)
{
	int64_t distance = (int64_t)(to - from);
	const int64_t reach = INT64_C(1) << 27;
	*word = 0x14000000u | ((uint32_t)(distance >> 2) & 0x03ffffffu);
	return distance >= -reach && distance < reach;
}

static bool protect(uint64_t start, uint64_t size, int protection)
{
	return !sys_failed(sys_call3(SYS_mprotect, (long)start, (long)size, protection));
}

/* Whether a page of a library's file may be executed after it has been changed: tried on a mapping
 * of this library's file, since a page of code that may not must not be touched. Each time: a
 * process may forbid itself that at any time (prctl(PR_SET_MDWE)). */
static bool is_allowed(void)
{
	bool allowed = true;
	int fd = sys_open(real_own_path(), O_RDONLY | O_CLOEXEC, 0);
	uint64_t size = patch_page();
	/* Where the file cannot be opened any more, fresh memory has to do. */
	long page = sys_call6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	if (!sys_failed(page)) {
		*(volatile char *)page = 0;
		allowed = protect((uint64_t)page, size, PROT_READ | PROT_EXEC);
		sys_call3(SYS_munmap, page, (long)size, 0);
	}
	if (fd >= 0)
		sys_close(fd);
	return allowed;
}

static void make_coherent(uint64_t start, uint64_t end)
{
	__builtin___clear_cache((char *)(uintptr_t)start, (char *)(uintptr_t)end);
}

/* The patches lie close together. */
static bool write_run(const struct patch *patches, size_t count, int protection)
{
	uint64_t page = patch_page(), first = patches[0].address, last = patches[count - 1].address;
	uint64_t start = first & ~(page - 1), size = (last & ~(page - 1)) + page - start;
	if (!protect(start, size, PROT_READ | PROT_WRITE))
		return false;
	for (size_t i = 0; i < count; i++)
		*(volatile uint32_t *)(uintptr_t)patches[i].address = patches[i].word;
	make_coherent(first, last + sizeof(uint32_t));
	return protect(start, size, protection);
}

size_t patch_write(const struct patch *patches, size_t count, int protection)
{
	size_t done = 0;
	if (count == 0 || !is_allowed())
		return 0;
	while (done < count) {
		size_t end = done + 1;
		while (end < count && patches[end].address - patches[end - 1].address < RUN)
			end++;
		if (!write_run(patches + done, end - done, protection))
			break;
		done = end;
	}
	return done;
}

bool patch_seal(uint64_t start, uint64_t size)
{
	make_coherent(start, start + size);
	return protect(start, size, PROT_READ | PROT_EXEC);
}
