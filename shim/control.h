/*
 * The control page: what is in force now. It may be changed from outside while the process runs.
 */
#ifndef SHIM_CONTROL_H
#define SHIM_CONTROL_H

#include <stdbool.h>

#include "choice.h"
#include "probes/record_map.h"
#include "strategy.h"

static inline const struct record_control *control(void)
{
	return record_entry(REGION_CONTROL, 0);
}

/* An N of the page, never more than a variable could have asked for, whatever stands there. */
static inline uint32_t control_count(const uint32_t *count)
{
	uint32_t value = __atomic_load_n(count, __ATOMIC_RELAXED);
	return value <= CHOICE_COUNT_MAX ? value : CHOICE_COUNT_MAX;
}

static inline enum wait_hint control_hint(void)
{
	return (enum wait_hint)__atomic_load_n(&control()->pause, __ATOMIC_RELAXED);
}

static inline bool control_stats_on(void)
{
	return __atomic_load_n(&control()->stats, __ATOMIC_RELAXED) != STATS_OFF;
}

#endif
