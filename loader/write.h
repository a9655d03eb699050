/*
 * The writers of reports, all over the same model.
 */
#ifndef LOADER_WRITE_H
#define LOADER_WRITE_H

#include <stdio.h>

#include "group.h"
#include "model.h"
#include "symbols.h"

#define WRITE_DEFAULT_TOP 10
#define WRITE_TEXT_LIMIT  16384 /* bytes: an empty pipe takes less without blocking */

/* How the reader wants it; a writer takes what applies to it. */
struct write_options {
	size_t top;       /* rows of each table, where that has a limit */
	bool by_holder;   /* stacks of those that held the lock, not of those that waited */
	enum group_by by; /* for a report of groups */
};

/* A writer writes a whole report to out. False: no memory. */
typedef bool write_function(FILE *out, const struct model *model, struct symbols *symbols,
        const struct write_options *options);

/* The same of the difference between two models: A and B. */
struct write_side {
	const struct model *model;
	struct symbols *symbols;
};
typedef bool write_diff_function(
        FILE *out, const struct write_side sides[2], const struct write_options *options);

struct write_format {
	const char *name;   /* of the option --NAME that asks for it */
	const char *suffix; /* of a file's name that asks for it; NULL: none does */
	const char *help;
	write_function *write;
	write_function *write_groups;    /* with --by; NULL: it cannot */
	write_diff_function *write_diff; /* with --diff; NULL: it cannot */
	bool binary;                     /* nothing for a terminal */
	bool by_holder;                  /* it can */
};

/* The formats of a report, in write_formats.c. The first one is the default. */
extern const struct write_format write_formats[];
extern const size_t write_format_count;

/*
 * For people: 100 columns. With the default top, or less, it is shorter than WRITE_TEXT_LIMIT
 * whatever the record holds.
 */
write_function write_text;

/* For programs: everything, exact, one JSON object and a newline. */
write_function write_json;

/* For flame graphs: a line for each chain of calls, and its nanoseconds. */
write_function write_folded;

/* For `go tool pprof` and speedscope: a compressed profile. */
write_function write_pprof;

/* One table, of locks or of groups, for spreadsheets: its rows add up to the totals. */
write_function write_csv;

/* For Prometheus and others: counters by name of thread, the top rows of tables and their sums. */
write_function write_openmetrics;

/* One table of groups, and the totals. */
write_function write_groups_text;
write_function write_groups_json;

/* Totals and rows side by side, the largest change first. */
write_diff_function write_diff_text;
write_diff_function write_diff_json;

#endif
