/*
 * The tables of contended locks, of the call sites that waited, and of who blocked whom.
 */
#ifndef PROBES_WAITS_H
#define PROBES_WAITS_H

#include <stdbool.h>

#include "record.h"

/* One contended wait, as it begins. */
struct wait_event {
	uint64_t lock;             /* address of the lock */
	uint64_t site;             /* return address of the call that waits */
	enum record_family family; /* of the lock */
	uint32_t kind;             /* a mutex's __kind word, else 0 */
	enum record_mode mode;     /* a reader's wait is shared */
};

/*
 * Four steps, so that little is done while the lock is held. All are safe in any thread at any
 * time; none takes a lock.
 *
 * begin: before the wait. Adds what an earlier wait of the thread left pending, and finds the
 * entries of the coming one. Returns what the next steps want.
 * blame: before the wait. Who holds the lock (kernel thread id), and the return address of the call
 * that acquired it; 0 each where unknown.
 * end: right after the wait, which took wait_ns. Notes it as pending; false, having counted the
 * loss in the header, when a table was full.
 * flush: any time later, best when the lock is held no more. Adds the pending wait to the tables
 * and charges its holder.
 */
struct record_pending record_wait_begin(struct record_thread *self, const struct wait_event *event);
void record_wait_blame(struct record_pending *pending, uint32_t holder_tid, uint64_t holder_site);
bool record_wait_end(
        struct record_thread *self, const struct record_pending *pending, uint64_t wait_ns);
void record_wait_flush(struct record_thread *self);

/* The row of a lock that is held: NULL when it has none and there is no room. A quarter of the
 * table is left to the locks that are waited for. */
struct record_lock *record_lock_row(uint64_t address, enum record_family family, uint32_t kind);

/* All locks in [start, end) are gone: their memory has been unmapped. */
void record_locks_gone(uint64_t start, uint64_t end);

/* The lock at the address is gone: what follows at the same address is another one. */
void record_lock_gone(uint64_t address, enum record_family family);

#endif
