/*
 * Times a contended wait and enters it into the record's tables.
 */
#include "waiting.h"

#include "control.h"
#include "probes/clock.h"
#include "stacks.h"

struct waiting waiting_begin(struct record_thread *self, const struct wait_event *event)
{
	struct waiting waiting = { .self = self };
	if (!control_stats_on())
		return waiting;
	waiting.started_ns = clock_monotonic_ns();
	waiting.pending = record_wait_begin(self, event);
	return waiting;
}

uint64_t waiting_end(struct waiting *waiting, bool held)
{
	if (waiting->started_ns == 0)
		return 0;
	uint64_t now_ns = clock_monotonic_ns(), wait_ns = now_ns - waiting->started_ns;
	stacks_waited(&waiting->pending, now_ns, wait_ns);
	waiting->lost = !record_wait_end(waiting->self, &waiting->pending, wait_ns);
	if (!held)
		record_wait_flush(waiting->self);
	return wait_ns;
}
