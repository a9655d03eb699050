/*
 * The directory of an experiment: what was asked for, every run as it came, and what they measured.
 *
 *   experiment.json  the design and the machine's fingerprint
 *   runs.jsonl       a line for each run that has ended, on disk before the next one starts
 *   runs/00001/      what the run printed, and the records of its processes
 *   lock             held by the command that is at work
 */
#ifndef LOADER_AB_EXPERIMENT_H
#define LOADER_AB_EXPERIMENT_H

#include "../message.h"
#include "../verdict/evaluate.h"

/*
 * The figures of the runs that count: those of warm-ups and of invalid runs are left out. Metrics
 * that every such run of every arm has, the chosen ones first and in their order, the primary
 * metric the first of all; blocks and positions are set.
 */
struct experiment_values {
	char **arms; /* their names; the first is the reference */
	size_t arm_count;
	struct metric_values *metrics;
	size_t count;
	size_t chosen;             /* the first so many were asked for: one family of tests */
	unsigned complete;         /* blocks that every arm has a value of */
	unsigned wanted;           /* of them, 0: until the interval is narrow enough */
	double until;              /* half of the width that was asked for; 0: none was */
	double half_width;         /* that was reached, of the reference's mean; INFINITY: none */
	unsigned warmups, invalid; /* runs that were left out */
	/* What a reader should know, a line each, with its remedy: invalid runs and their reasons,
	 * what the machine did meanwhile, the order's effect, outliers. */
	char **notes;
	size_t note_count;
};

/* Reads a directory that `abshim ab` made; it may be at work in it. NULL with a reason. */
struct experiment_values *experiment_load(const char *directory, char why[WHY_SIZE]);
void experiment_values_free(struct experiment_values *values);

#endif
