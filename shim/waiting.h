/*
 * How one contended wait, of any family, gets into the record: where every wait begins and ends.
 */
#ifndef SHIM_WAITING_H
#define SHIM_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/waits.h"

struct waiting {
	struct record_thread *self;
	struct record_pending pending;
	uint64_t started_ns; /* 0: statistics are off, nothing is recorded */
	bool lost;           /* set by waiting_end: the wait found no room in a table */
};

/* Before the wait. A wait that is left by longjmp or cancellation leaves nothing behind. */
struct waiting waiting_begin(struct record_thread *self, const struct wait_event *event);

/* Before the wait: who holds the lock (kernel thread id), and the return address of the call that
 * acquired it; 0 each where unknown. */
static inline void waiting_blame(struct waiting *waiting, uint32_t holder_tid, uint64_t holder_site)
{
	if (waiting->started_ns != 0)
		record_wait_blame(&waiting->pending, holder_tid, holder_site);
}

/* After the wait: returns its length in ns, 0 with statistics off. held: the thread holds the lock
 * now, so that the tables are left to a later moment. */
uint64_t waiting_end(struct waiting *waiting, bool held);

#endif
