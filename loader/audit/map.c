/*
 * Reading behind the end of a file that was cut since it was mapped raises SIGBUS: such pages are
 * replaced by empty ones.
 */
#include "map.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct map *maps;
static struct sigaction before;

static void replace_page(int number, siginfo_t *info, void *context)
{
	(void)context;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
	for (struct map *map = maps; map != NULL; map = map->next) {
		if (address - (uint64_t)(uintptr_t)map->view.bytes >= map->view.size)
			continue;
		void *start = (void *)(uintptr_t)(address & ~(page - 1));
		map->shrank = true;
		if (mmap(start, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
		        MAP_FAILED)
			return;
	}
	signal(number, SIG_DFL);
}

bool map_open(struct map *map, int fd)
{
	struct stat facts;
	*map = (struct map){ 0 };
	if (fstat(fd, &facts) != 0)
		return false;
	if (!S_ISREG(facts.st_mode) || facts.st_size <= 0) {
		errno = EINVAL;
		return false;
	}
	void *bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	map->view = (struct view){ bytes, (uint64_t)facts.st_size };
	if (maps == NULL) {
		struct sigaction action = { .sa_sigaction = replace_page, .sa_flags = SA_SIGINFO };
		sigaction(SIGBUS, &action, &before);
	}
	map->next = maps;
	maps = map;
	return true;
}

void map_close(struct map *map)
{
	struct map **link = &maps;
	while (*link != NULL && *link != map)
		link = &(*link)->next;
	if (*link == NULL)
		return;
	*link = map->next;
	if (maps == NULL)
		sigaction(SIGBUS, &before, NULL);
	munmap((void *)(uintptr_t)map->view.bytes, map->view.size);
}

static bool is_mapped(const unsigned char *bytes)
{
	uint64_t address = (uint64_t)(uintptr_t)bytes;
	for (const struct map *map = maps; map != NULL; map = map->next)
		if (address - (uint64_t)(uintptr_t)map->view.bytes < map->view.size)
			return true;
	return false;
}

/* Pages that were replaced would read as zeros in any case. */
void map_release(const unsigned char *bytes, uint64_t size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t start = ((uint64_t)(uintptr_t)bytes + page - 1) & ~(page - 1);
	uint64_t end = ((uint64_t)(uintptr_t)bytes + size) & ~(page - 1);
	if (start < end && is_mapped(bytes) && is_mapped(bytes + size - 1))
		madvise((void *)(uintptr_t)start, end - start, MADV_DONTNEED);
}
