/*
 * What one or several records say, added up and sorted: the one walk that every report is written
 * from.
 */
#ifndef LOADER_MODEL_H
#define LOADER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mapped.h"
#include "record_file.h"

#define MODEL_NONE UINT32_MAX

enum model_ending {
	MODEL_RUNNING,
	MODEL_ENDED,    /* the shim saw the end: header.end_kind */
	MODEL_REPLACED, /* by exec */
	MODEL_UNSEEN,   /* killed, crashed or ended by a raw system call */
};

/*
 * One record. Locks, sites and stacks have ids that are unique in the model: the entry in the
 * record's own table plus the base given here, which is 0 for the first process.
 */
struct process_row {
	const struct record *record;
	enum model_ending ending;
	int signal;           /* that ended the process, where the caller knows; else 0 */
	int exit_status;      /* where the caller knows or the shim saw it; else -1 */
	bool counted_nothing; /* every counter is 0 */
	bool since;           /* only what happened after an earlier copy is in here */
	uint64_t duration_ns; /* 0: unknown */
	struct counters counters;
	uint32_t lock_base, site_base, stack_base;
};

/* Threads of one name; in model.threads, one running thread or the ended ones of one name. */
struct thread_row {
	char name[RECORD_NAME_SIZE];
	uint32_t process; /* MODEL_NONE: of several */
	int32_t tid;      /* 0: not one running thread */
	uint32_t running, ended;
	struct counters counters;
	struct caused_counters caused;
};

struct lock_row {
	uint32_t id, process;
	uint32_t first_site; /* id of the site that waited first, MODEL_NONE: unknown */
	struct code created; /* the call that initialised it */
	struct record_lock lock;
};

/* One (call site, lock); in model.places, all locks of one call site together. */
struct site_row {
	uint32_t id;      /* of the first one in model.places */
	uint32_t process; /* of the first one */
	uint32_t lock;    /* its id, MODEL_NONE when it is not in the record */
	uint32_t locks;   /* how many locks are in here */
	uint32_t family;  /* enum record_family; FAMILY_COUNT: unknown, for want of the lock */
	uint32_t mode;    /* enum record_mode */
	struct code code;
	struct wait_totals wait;
};

/* One (waiting site, holding site); in model.pairs, all locks together. */
struct blame_row {
	uint32_t process;   /* of the first one in model.pairs */
	uint32_t site;      /* its id, MODEL_NONE when not in the record */
	struct code waiter; /* address 0: unknown */
	struct code holder; /* the same */
	uint64_t waits, wait_ns_total, wait_ns_max;
};

/* A chain of calls; in model.chains, the equal ones of all processes. Frame 0 is the innermost. */
struct stack_row {
	uint32_t id, process; /* of the first one in model.chains */
	uint32_t end;         /* enum record_stack_end */
	uint32_t depth;       /* 1 .. RECORD_MAX_STACK */
	const struct code *frames;
	uint64_t holders;              /* how often it was taken of a holder */
	uint64_t waits, wait_ns_total; /* sampled waits that had it */
};

/* Sampled waits at one site with one stack. */
struct sample_row {
	uint32_t process;
	uint32_t site;  /* id; MODEL_NONE when not in the record */
	uint32_t stack; /* id of a row of model.stacks */
	uint64_t waits, wait_ns_total;
};

/* Sums of the headers of all records. */
struct model_gaps {
	uint32_t flags; /* of any record: enum record_flag */
	uint32_t retired_rest;
	uint64_t threads_created, threads_lost;
	uint64_t lost_waits, lost_ns;
	uint64_t created_lost, blames_lost, modules_lost;
	uint64_t stacks_due, stacks_taken, stacks_skipped, stack_ns_total;
	uint64_t stacks_lost; /* stacks, frames or samples that found no room */
};

struct model {
	struct mapped *mapped;
	struct process_row *processes; /* at least one, in the order given */
	size_t process_count;
	bool counted_nothing;
	uint64_t duration_ns; /* from the first start to the last end; 0: unknown */
	struct counters counters;
	struct model_gaps gaps;
	uint64_t histograms[FAMILY_COUNT][RECORD_BUCKETS]; /* of all locks of a family */
	uint64_t wait_ns_total; /* of all locks in the tables: the whole of shares */

	/* All sorted by time waited, the longest first. */
	struct thread_row *threads, *names;
	size_t thread_count, name_count;
	struct lock_row *locks;
	size_t lock_count;
	struct site_row *sites, *places;
	size_t site_count, place_count;
	struct blame_row *blames, *pairs;
	size_t blame_count, pair_count;
	struct stack_row *stacks, *chains;
	size_t stack_count, chain_count;
	struct sample_row *samples;
	size_t sample_count;

	struct code *frames;                          /* of all stacks */
	uint32_t *lock_rows, *site_rows, *stack_rows; /* by id: the row, MODEL_NONE for none */
	uint32_t lock_ids, site_ids, stack_ids;
};

struct model_source {
	const struct record *record;
	int wait_status; /* of waitpid(), -1 when the caller did not wait for the process */
	pid_t running;   /* the process is known to run, under this id; else 0 */
	bool since;      /* an earlier copy was taken out of the record: see since.h */
};

/* The records must outlive the model; count is at least 1. NULL: no memory. */
struct model *model_build(const struct model_source *sources, size_t count);
void model_free(struct model *model);

/* The row of an id; NULL when there is none. */
const struct lock_row *model_lock(const struct model *model, uint32_t id);
const struct site_row *model_site(const struct model *model, uint32_t id);
const struct stack_row *model_stack(const struct model *model, uint32_t id);

/* Whether the record counted anything at all; much cheaper than a model. */
bool model_record_is_empty(const struct record *record);

#endif
