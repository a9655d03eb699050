/*
 * Which metrics `abshim compare` compares.
 */
#ifndef LOADER_COMPARE_METRICS_H
#define LOADER_COMPARE_METRICS_H

#include "compare_options.h"

/* Those that were asked for, in that order and each once; all of them that every arm has values of
 * when none was. Of no metric at all, whatever was asked for, when every arm has none. NULL after a
 * message: no memory, or a name that is not there. The caller frees the array alone. */
struct metric_values *compare_choose(const struct metric_values *metrics, size_t count,
        const struct compare_options *options, size_t *chosen);

/* Whether the names, a line each, are asked for. */
bool compare_lists(const struct compare_options *options);
void compare_list(const struct metric_values *metrics, size_t count);

#endif
