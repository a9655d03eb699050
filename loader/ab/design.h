/*
 * What an experiment was asked to do: everything that --resume must find again.
 */
#ifndef LOADER_AB_DESIGN_H
#define LOADER_AB_DESIGN_H

#include <jansson.h>
#include <stdint.h>

#include "arms.h"
#include "order.h"

/* The command shape has no server: the client is the target. */
struct server_commands {
	char *start, *ready, *stop, *reset; /* NULL: not given */
};

/* Seconds. */
struct time_limits {
	double start, ready, run, stop;
};

struct design {
	struct arms arms;
	enum order_kind order;
	unsigned long seed;
	unsigned runs;    /* counted ones an arm */
	unsigned warmups; /* an arm */
	unsigned retries; /* of one invalid run */
	double until; /* half of the width of the relative interval; 0: a fixed number of runs */
	unsigned max_runs; /* an arm, with until */
	struct server_commands server;
	struct time_limits limits;
	struct texts client;
	struct texts metrics; /* the primary one first; none: throughput, or else the time */
	char *parser;         /* of the client's output, NULL: found out */
	uint64_t allowed_errors;
	char *directory; /* where the commands run */
};

#define DESIGN_DEFAULTS                                                                            \
	{                                                                                          \
		.runs = 10, .warmups = 1, .retries = 3, .max_runs = 200, .limits = {               \
			60,                                                                        \
			60,                                                                        \
			3600,                                                                      \
			30                                                                         \
		}                                                                                  \
	}

/* Before this many blocks an interval is not looked at. */
#define DESIGN_LEAST_BLOCKS 10

/* Runs of a block: one of each arm. */
unsigned design_block_size(const struct design *design);

/* The arm, block and kind of the slot'th run (from 0) that must become valid. Block 0 holds the
 * warm-ups. */
struct design_slot {
	unsigned arm, block;
	bool warmup;
};
struct design_slot design_slot(const struct design *design, unsigned slot);

/* The counted blocks at most. */
unsigned design_blocks(const struct design *design);

/* Whether all texts are UTF-8, as JSON must be: others would not come back as they were. */
bool design_is_utf8(const struct design *design, char why[WHY_SIZE]);

json_t *design_json(const struct design *design);

/* False with a reason; then nothing is left to free. */
bool design_from_json(struct design *design, const json_t *object, char why[WHY_SIZE]);

void design_free(struct design *design);

#endif
