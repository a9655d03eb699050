/*
 * A table that is changed under the loader's lock, or by a thread that is the only one.
 */
#include "rows.h"

#include <stddef.h>
#include <string.h>

#include "probes/record_map.h"
#include "shim/start.h"

#define ROWS_MAX 1024u

static struct object_row rows[ROWS_MAX];
static unsigned used; /* rows behind it have never been used */

struct object_row *row_next(unsigned *next)
{
	while (*next < used) {
		struct object_row *row = &rows[(*next)++];
		if (row->dynamic != NULL)
			return row;
	}
	return NULL;
}

struct object_row *row_of(const struct link_map *map)
{
	struct object_row *row;
	for (unsigned next = 0; (row = row_next(&next)) != NULL;)
		if (row->dynamic == map->l_ld)
			return row;
	return NULL;
}

struct object_row *row_claim(const struct link_map *map)
{
	unsigned at = 0;
	while (at < used && rows[at].dynamic != NULL)
		at++;
	if (at == ROWS_MAX)
		return NULL;
	if (at == used)
		used++;
	memset(&rows[at], 0, sizeof(rows[at]));
	rows[at].dynamic = map->l_ld;
	rows[at].entry = RECORD_NONE;
	return &rows[at];
}

/* Whether the record says the same of an object that is no more: a library that comes and goes has
 * one row. */
static bool is_same(const struct record_atomics *written, const struct record_atomics *made)
{
	return written->unloaded != 0 && written->outline == made->outline &&
	       written->helpers == made->helpers && written->flag == made->flag &&
	       written->inline_found == made->inline_found &&
	       written->inline_rewritten == made->inline_rewritten &&
	       written->outside == made->outside && written->kept == made->kept &&
	       written->unreadable == made->unreadable &&
	       memcmp(written->left, made->left, sizeof(made->left)) == 0 &&
	       strcmp(written->path, made->path) == 0;
}

static uint32_t find_again(const struct record_atomics *made)
{
	for (uint32_t entry = 0; entry < record_used(REGION_ATOMICS); entry++) {
		struct record_atomics *written = record_entry(REGION_ATOMICS, entry);
		if (!is_same(written, made))
			continue;
		written->base = made->base;
		__atomic_store_n(&written->unloaded, 0, __ATOMIC_RELAXED);
		return entry;
	}
	return RECORD_NONE;
}

void row_put(struct object_row *row)
{
	const size_t rest = offsetof(struct record_atomics, outline);
	row->entry = RECORD_NONE;
	if (!start_has_record())
		return;
	row->entry = find_again(&row->made);
	if (row->entry != RECORD_NONE)
		return;
	row->entry = record_claim(REGION_ATOMICS);
	if (row->entry == RECORD_NONE)
		return;
	struct record_atomics *to = record_entry(REGION_ATOMICS, row->entry);
	memcpy((char *)to + rest, (const char *)&row->made + rest, sizeof(*to) - rest);
	__atomic_store_n(&to->state, 1, __ATOMIC_RELEASE); /* pairs with readers */
}

void row_retire(struct object_row *row)
{
	if (row->entry != RECORD_NONE && start_has_record()) {
		struct record_atomics *written = record_entry(REGION_ATOMICS, row->entry);
		__atomic_store_n(&written->unloaded, 1, __ATOMIC_RELAXED);
	}
	row->dynamic = NULL;
}
