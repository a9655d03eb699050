/*
 * The files of an arm of `abshim compare`, read.
 */
#ifndef LOADER_COMPARE_READ_H
#define LOADER_COMPARE_READ_H

#include "compare_options.h"

struct read_arm {
	struct output **outputs;
	size_t count;
};

/* False with a reason when one of them cannot be read, or holds figures that no statistic can be
 * computed of. The caller frees with read_arm_free() in any case. */
bool read_arm(struct read_arm *to, const struct compare_arm *arm,
        const struct compare_options *options, char why[WHY_SIZE]);
void read_arm_free(struct read_arm *arm);

bool is_directory(const char *path);

#endif
