/*
 * What the records say of calls that did not come to the library, of all processes together.
 */
#ifndef LOADER_UNCOVERED_H
#define LOADER_UNCOVERED_H

#include <stddef.h>

#include "model.h"

struct uncovered {
	struct record_uncovered
	        *rows; /* sorted by reason, path and symbol, each once; terminated */
	size_t count;
};

/* Without memory: no rows. */
struct uncovered uncovered_new(const struct model *model);
void uncovered_free(struct uncovered *uncovered);

/* One word for the reason of a row; NULL: none of those that there are. */
const char *uncovered_reason(uint32_t reason);

#endif
