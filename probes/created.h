/*
 * Where locks were initialised, so that a lock of the heap can be told by its creator: of all the
 * locks that exist, since none is known to be of interest at that time.
 */
#ifndef PROBES_CREATED_H
#define PROBES_CREATED_H

#include <stdint.h>

/* The lock at the address has been initialised by the call that returns to site. Takes the place of
 * what was known about the address; counts in record_header.created_lost when there is no room.
 * Safe in any thread at any time, as all of these but the last two. */
void record_lock_created(uint64_t lock, uint64_t site);

/* The return address of the call that initialised the lock, 0 when it is not known. */
uint64_t record_lock_creation(uint64_t lock);

/* The lock is no more. */
void record_lock_forget(uint64_t lock);

/* In a forked child, which has its parent's locks and is about to get a record of its own: takes
 * what is known out of the old record, and puts it into the new one. */
void record_created_take(void);
void record_created_put(void);

#endif
