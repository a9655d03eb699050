/*
 * What a report says of the memory of its processes.
 */
#ifndef LOADER_ALLOC_REPORT_H
#define LOADER_ALLOC_REPORT_H

#include <jansson.h>

#include "model.h"
#include "trust.h"

#define ALLOC_WORDS_SIZE 1024

/* "libc's malloc (glibc 2.36), glibc.malloc.arena_max=1 ..." returns buffer. */
const char *alloc_words(const struct record *record, char buffer[ALLOC_WORDS_SIZE]);

/* Whether a text report needs it: it is known, and an arm or the counters were asked for, or it is
 * not libc's. */
bool alloc_is_notable(const struct record *record);

json_t *alloc_object(const struct record *record);

/* What to know of the counters and arms. */
void trust_alloc(struct trust *trust, const struct model *model);

#endif
