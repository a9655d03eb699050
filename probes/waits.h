/*
 * The tables of contended locks, of the call sites that waited, and of who blocked whom.
 */
#ifndef PROBES_WAITS_H
#define PROBES_WAITS_H

#include <stdbool.h>

#include "record.h"

/* One contended wait that has ended. */
struct wait_event {
	uint64_t lock;        /* address of the mutex */
	uint32_t kind;        /* its __kind word */
	uint32_t holder_tid;  /* who held it when the wait began; 0 unknown */
	uint64_t site;        /* return address of the call that waited */
	uint64_t holder_site; /* return address of the call that had acquired it; 0 unknown */
	uint64_t wait_ns;
};

/* Writes a wait into all tables and charges its holder. Returns false, having counted the loss in
 * the header, when a table was full. Safe to call from any thread at any time. */
bool record_wait(const struct wait_event *event);

/* The mutex at the address is gone: what follows at the same address is another lock. */
void record_lock_gone(uint64_t address);

#endif
