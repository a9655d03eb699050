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

void row_put(struct object_row *row)
{
	row->entry = start_has_record() ? record_claim(REGION_ATOMICS) : RECORD_NONE;
	if (row->entry == RECORD_NONE)
		return;
	struct record_atomics *to = record_entry(REGION_ATOMICS, row->entry);
	const size_t rest = offsetof(struct record_atomics, outline);
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
