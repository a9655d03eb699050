/*
 * The parts of a JSON report. Each returns a new reference; what could not be made for want of
 * memory is NULL, or is missing in it.
 */
#ifndef LOADER_WRITE_JSON_H
#define LOADER_WRITE_JSON_H

#include <jansson.h>

#include "model.h"
#include "symbols.h"

/* An id, an index or null for MODEL_NONE. */
void member_id(json_t *object, const char *key, uint32_t id);
void member_place(json_t *object, const struct place *place);

json_t *json_locks(const struct model *model, struct symbols *symbols);
json_t *json_sites(const struct model *model, struct symbols *symbols);
json_t *json_blame(const struct model *model, struct symbols *symbols);
json_t *json_stacks(const struct model *model, struct symbols *symbols);
json_t *json_samples(const struct model *model);
json_t *json_sampling(const struct model *model);
json_t *json_atomics(const struct model *model);

#endif
