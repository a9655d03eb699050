/*
 * The primary metric while the experiment runs.
 */
#ifndef LOADER_AB_SEQUENTIAL_H
#define LOADER_AB_SEQUENTIAL_H

#include "journal.h"

#include "../stats/stats.h"

/*
 * The name of the experiment's primary metric: the first one asked for, else throughput where the
 * first valid run has one, else the client's time. NULL: nothing is known yet.
 */
const char *sequential_metric(const struct experiment *experiment);

/* An arm's values of the primary metric so far; n is 0 where there are none. */
struct stats_summary sequential_summary(const struct experiment *experiment, unsigned arm);

/* Half of the width of the relative interval, the widest of all arms against the first; INFINITY
 * while it is unknown. */
double sequential_half_width(const struct experiment *experiment);

#endif
