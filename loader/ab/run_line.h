/*
 * One run of an experiment: what became of it and what it measured, as a line of JSON.
 */
#ifndef LOADER_AB_RUN_LINE_H
#define LOADER_AB_RUN_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "../parse/parse.h"

struct run_metric {
	char *name;
	double value;
	enum metric_unit unit;
	enum metric_better better;
};

struct run {
	unsigned number;  /* from 1, in the order in which they ran */
	unsigned arm;     /* its index */
	unsigned block;   /* from 1; 0: a warm-up */
	unsigned attempt; /* from 1, at the same place in the order */
	bool warmup, valid;
	char why[WHY_SIZE];    /* it is not valid */
	char output[WHY_SIZE]; /* why the client's output gave no metric; "" when it did, or there
	                        * was none */
	bool only_shell;       /* no program but a shell has a record, and that counted nothing */
	double started;        /* seconds since 1970 */
	double seconds;        /* all of it, the server's start and end included */
	int client_status;     /* of waitpid(); -1: it did not run or did not end by itself */
	int server_status;
	struct run_metric *metrics;
	size_t metric_count;
};

/* Whether the run's figures count. */
bool run_counts(const struct run *run);

/* Adds a metric; one of that name that is there already stays as it is. False: no memory. */
bool run_add(struct run *run, const char *name, double value, enum metric_unit unit,
        enum metric_better better);

/* The metric of that name, or of client.NAME; NULL when the run has none. */
const struct run_metric *run_metric(const struct run *run, const char *name);

/* Says why the run is no measurement; the first reason stays. */
void run_refuse(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The line with its newline; the caller's to free. NULL: no memory. */
char *run_line(const struct run *run, const char *arm_name);

/* Reads a line. arm_names: the arms' names, in order. False with a reason. */
bool run_from_line(struct run *run, const char *line, size_t length, char *const *arm_names,
        size_t arm_count, char why[WHY_SIZE]);

void run_free(struct run *run);

#endif
