/*
 * Maps a file that may be of any size, damaged, or cut while it is read.
 */
#ifndef LOADER_AUDIT_MAP_H
#define LOADER_AUDIT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes of a file, or of a part of it. Nothing outside of them may be read. */
struct view {
	const unsigned char *bytes;
	uint64_t size;
};

struct map {
	struct view view;
	bool shrank; /* the file was cut meanwhile: what is gone reads as zeros */
	struct map *next;
};

/* Maps a regular file of at least one byte; false with errno set. Not for several threads. */
bool map_open(struct map *map, int fd);

void map_close(struct map *map);

/* Gives the memory of size bytes back if they are of an open map: they are read from the file again
 * if need be. */
void map_release(const unsigned char *bytes, uint64_t size);

/* Whether size bytes at offset lie in the view. */
static inline bool view_holds(const struct view *view, uint64_t offset, uint64_t size)
{
	return offset <= view->size && size <= view->size - offset;
}

/* The part of a view at offset, cut where the view ends. */
static inline struct view view_part(const struct view *view, uint64_t offset, uint64_t size)
{
	if (offset >= view->size)
		return (struct view){ view->bytes, 0 };
	uint64_t rest = view->size - offset;
	return (struct view){ view->bytes + offset, size < rest ? size : rest };
}

/* The text at offset, at most 4096 characters; NULL where no text ends in the view. */
static inline const char *view_text(const struct view *view, uint64_t offset)
{
	struct view rest = view_part(view, offset, 4097);
	bool ends = rest.size != 0 && memchr(rest.bytes, '\0', rest.size) != NULL;
	return ends ? (const char *)rest.bytes : NULL;
}

#endif
