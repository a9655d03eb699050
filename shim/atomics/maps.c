/*
 * Reads /proc/self/maps line by line, in ascending order, with a buffer of its own on the stack.
 */
#include "maps.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "probes/sys.h"

#define PAGE UINT64_C(0x10000)

struct line {
	uint64_t start, end;
	int protection;
};

/* Fields of one line as it goes by: start-end rwxp ... */
struct reader {
	struct line line;
	unsigned field; /* 0 start, 1 end, 2 permissions, 3 the rest */
};

/* Returns true when a line is complete. */
static bool take(struct reader *reader, char c)
{
	if (c == '\n') {
		reader->field = 0;
		return true;
	}
	if (reader->field < 2) {
		uint64_t *number = reader->field == 0 ? &reader->line.start : &reader->line.end;
		unsigned digit = (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
		if (c == '-' || c == ' ')
			reader->field++;
		else
			*number = *number << 4 | (digit & 15);
	} else if (reader->field == 2) {
		if (c == ' ')
			reader->field++;
		reader->line.protection |= c == 'r' ? PROT_READ : 0;
		reader->line.protection |= c == 'w' ? PROT_WRITE : 0;
		reader->line.protection |= c == 'x' ? PROT_EXEC : 0;
	}
	return false;
}

/* Calls see(argument, line) for each, until it returns false. Returns false where there is no such
 * file. */
static bool read_lines(bool (*see)(void *argument, const struct line *line), void *argument)
{
	char chunk[1024];
	struct reader reader = { .field = 0 };
	int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	long got = 0;
	bool more = fd >= 0;
	while (more && (got = sys_read(fd, chunk, sizeof(chunk))) > 0) {
		for (long i = 0; i < got && more; i++) {
			if (!take(&reader, chunk[i]))
				continue;
			more = see(argument, &reader.line);
			reader.line = (struct line){ .start = 0 };
		}
	}
	if (fd >= 0)
		sys_close(fd);
	return fd >= 0;
}

struct page_search {
	uint64_t address;
	int protection;
};

static bool see_page(void *argument, const struct line *line)
{
	struct page_search *search = argument;
	if (search->address >= line->start && search->address < line->end)
		search->protection = line->protection;
	return search->address >= line->end;
}

int maps_protection(uint64_t address)
{
	struct page_search search = { address, -1 };
	read_lines(see_page, &search);
	return search.protection;
}

struct room_search {
	uint64_t low, high, size, reach;
	uint64_t gap;          /* where the gap before the next line begins */
	uint64_t below, above; /* what has been found */
};

/* The highest place in a gap that is near enough, 0 none. */
static uint64_t place_in(const struct room_search *search, uint64_t start, uint64_t end)
{
	uint64_t from = search->high > search->reach ? search->high - search->reach : 0;
	uint64_t to = search->low + search->reach;
	from = from > start ? from : start;
	from = (from + PAGE - 1) & ~(PAGE - 1);
	to = (to < end ? to : end) & ~(PAGE - 1);
	return to > from && to - from >= search->size ? to - search->size : 0;
}

static bool see_gap(void *argument, const struct line *line)
{
	struct room_search *search = argument;
	uint64_t place = place_in(search, search->gap, line->start);
	if (place != 0 && line->start <= search->low)
		search->below = place;
	else if (place != 0 && search->above == 0)
		search->above = place;
	search->gap = line->end;
	return search->gap < search->low + search->reach;
}

uint64_t maps_find_room(uint64_t low, uint64_t high, uint64_t size, uint64_t reach)
{
	struct room_search search = {
		.low = low,
		.high = high,
		.size = (size + PAGE - 1) & ~(PAGE - 1),
		.reach = reach,
		.gap = PAGE, /* nothing may be mapped lower */
	};
	read_lines(see_gap, &search);
	return search.below != 0 ? search.below : search.above;
}
