/*
 * Threads that load a store, or carry out a workload on it, and how long each operation took them.
 */
#ifndef YCSB_CLIENT_H
#define YCSB_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "histogram.h"
#include "store.h"
#include "workload.h"

/* What latencies are told of: the operations, and closing a session. The read and the update of a
 * read-modify-write count as such too, as YCSB has it. */
enum section { SECTION_CLEANUP = OPERATIONS, SECTIONS };

struct measured {
	struct histogram good[SECTIONS], failed[SECTIONS];
	uint64_t outcomes[SECTIONS][OUTCOMES];
	uint64_t operations;
	double runtime_ms;
};

/* Called about ten times a second with the operations so far. */
typedef void client_watch(double seconds, uint64_t operations, uint64_t wanted);

/* Inserts all records when loading, else does the workload's operations. The result is the caller's
 * to free; watch may be NULL. */
struct measured *client_run(const struct store *store, const struct workload *workload,
        bool loading, client_watch *watch);

#endif
