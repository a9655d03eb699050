/*
 * What a record says, added up and sorted: the one walk that every report is written from.
 */
#ifndef LOADER_MODEL_H
#define LOADER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record_file.h"

#define MODEL_NONE UINT32_MAX

/* Threads of one name; in model.threads, one running thread or the ended ones of one name. */
struct thread_row {
	char name[RECORD_NAME_SIZE];
	int32_t tid; /* 0: not one running thread */
	uint32_t running, ended;
	struct counters counters;
	struct caused_counters caused;
};

struct lock_row {
	uint32_t id; /* entry of REGION_LOCKS */
	struct record_lock lock;
};

/* One (call site, lock) of the record; in model.places, all locks of one call site together. */
struct site_row {
	uint32_t id;     /* entry of REGION_SITES, of the first one in model.places */
	uint32_t lock;   /* entry of REGION_LOCKS, MODEL_NONE when it is not in the record */
	uint32_t locks;  /* how many locks are in here */
	uint32_t module; /* entry of REGION_MODULES, MODEL_NONE when it is in no known file */
	uint32_t mode;   /* enum record_mode */
	uint64_t address;
	struct wait_totals wait;
};

/* One (waiting site, holding site) of the record; in model.pairs, all locks together. */
struct blame_row {
	uint32_t site;           /* entry of REGION_SITES, MODEL_NONE when not in the record */
	uint64_t holder_address; /* 0: unknown */
	uint32_t holder_module;
	uint64_t waiter_address; /* 0: unknown */
	uint32_t waiter_module;
	uint64_t waits, wait_ns_total, wait_ns_max;
};

enum model_ending {
	MODEL_RUNNING,
	MODEL_ENDED,    /* the shim saw the end: header.end_kind */
	MODEL_REPLACED, /* by exec */
	MODEL_UNSEEN,   /* killed, crashed or ended by a raw system call */
};

struct model {
	const struct record *record;
	enum model_ending ending;
	int signal;           /* that ended the process, where the caller knows; else 0 */
	int exit_status;      /* where the caller knows or the shim saw it; else -1 */
	bool counted_nothing; /* every counter is 0 */
	uint64_t duration_ns; /* 0: unknown */
	struct counters counters;
	uint64_t histograms[FAMILY_COUNT][RECORD_BUCKETS]; /* of all locks of a family */
	uint64_t wait_ns_total; /* of all locks in the table: the whole of shares */

	/* All sorted by time waited, the longest first. */
	struct thread_row *threads, *names;
	size_t thread_count, name_count;
	struct lock_row *locks;
	size_t lock_count;
	struct site_row *sites, *places;
	size_t site_count, place_count;
	struct blame_row *blames, *pairs;
	size_t blame_count, pair_count;
};

struct model_options {
	int wait_status; /* of waitpid(), -1 when the caller did not wait for the process */
	pid_t running;   /* the process is known to run, under this id; else 0 */
	bool at_exit;    /* the process is waiting for this report */
};

/* The record must outlive the model. NULL: no memory. */
struct model *model_build(const struct record *record, const struct model_options *options);
void model_free(struct model *model);

/* Whether the record counted anything at all; much cheaper than a model. */
bool model_record_is_empty(const struct record *record);

#endif
