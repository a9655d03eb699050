/*
 * Slots of running threads in the record, and the totals of ended ones.
 */
#ifndef PROBES_THREADS_H
#define PROBES_THREADS_H

#include "record.h"

/* Gives the calling thread a zeroed slot of its own. NULL when all are in use: the thread is then
 * counted in record_header.threads_lost. */
struct record_thread *record_thread_claim(uint32_t tid);

/* Folds the counters of an ended (or ending) thread into the totals of its name and frees the slot.
 */
void record_thread_retire(struct record_thread *thread);

/* The slot of a running thread by its kernel id, or NULL (another process, or no slot). */
struct record_thread *record_thread_find(uint32_t tid);

/* Notes the new name of the thread that has the handle (pthread_self), where it has a slot. */
void record_thread_rename(uint64_t handle, const char *name);

/* In a forked child whose record is new: no slot has been used yet. */
void record_threads_forget(void);

/* Re-reads the names of all running threads from /proc: they may have been changed by others. */
void record_thread_names(void);

#endif
