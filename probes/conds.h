/*
 * Tells apart, for condition variables, the wait for the signal and the wait for the mutex after
 * it: signallers note the time, waiters take it. libc does both waits inside one call.
 */
#ifndef PROBES_CONDS_H
#define PROBES_CONDS_H

#include <stdbool.h>
#include <stdint.h>

struct record_cond;

/* A thread is about to wait. Returns what record_cond_leave() wants back; NULL when the table has
 * no room (the wait will be unsplit). */
struct record_cond *record_cond_enter(uint64_t address);

/* The thread has returned from its wait. signalled says whether it waited to the end of it; false
 * for a timeout. Returns the time of the signal that it took, 0 when none was seen since
 * started_ns. Signals are taken in the order they were given, so sums over all waiters of a
 * condition variable are exact even where two waiters swap signals. */
uint64_t record_cond_leave(struct record_cond *cond, uint64_t started_ns, bool signalled);

/* A thread signals (wakes one) or broadcasts (wakes all). Costs a table lookup when nobody waits
 * anywhere on this address: no clock is read. */
void record_cond_signal(uint64_t address, bool broadcast);

#endif
