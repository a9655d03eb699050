/*
 * One run on its way: what its parts (server, client, records) share.
 */
#ifndef LOADER_AB_STAGE_H
#define LOADER_AB_STAGE_H

#include "child.h"
#include "run_environment.h"

struct stage {
	const struct design *design;
	struct run *run;
	const struct run_places *places;
	struct child server; /* pid 0: none was started */
	struct child client;
	bool hopeless; /* another attempt would end in the same way */
};

/* "NAME" in the run's directory; the caller's to free. NULL: no memory. */
char *stage_path(const struct stage *stage, const char *name);

/* "exited with status 1", "was killed by signal 9 (Killed)"; returns buffer. */
#define STAGE_END_SIZE 96
const char *stage_end_words(int status, char buffer[STAGE_END_SIZE]);

/* The last line with text in a file of the run, cut to fit; empty when there is none. */
#define STAGE_LINE_SIZE 256
const char *stage_last_line(
        const struct stage *stage, const char *name, char buffer[STAGE_LINE_SIZE]);

/*
 * Runs a command by /bin/sh -c with its output in the file NAME.log of the run. Returns whether it
 * exited with 0 in time. With refuse, the run is refused when it did not.
 */
bool stage_shell(
        struct stage *stage, const char *name, const char *command, double limit, bool refuse);

/* The server's part, in server.c: both return whether the run may go on. */
bool server_start(struct stage *stage);
bool server_stop(struct stage *stage);

/* Whether the server runs, or there is none; refuses the run when it has ended by itself. */
bool server_runs(struct stage *stage);

/* The client's part, in client.c. */
bool client_run(struct stage *stage);

/*
 * Reads the records of the run's processes: their counters become metrics, and they are moved to
 * the run's directory. Refuses the run when the client, in the command shape, has left no proof
 * that the library was there. In records.c.
 */
void records_collect(struct stage *stage);

/* Whether a program other than the shell has a record. */
bool records_show_server(const struct stage *stage);

/* Whether there is any record. */
bool records_exist(const struct stage *stage);

/* Refuses the run when the file system of its directory is full. In files.c. */
void files_check_space(struct stage *stage);

/* Refuses the run when one of its outputs has reached the limit of file sizes. */
void files_check_sizes(struct stage *stage);

/* Refuses the run when a library of LD_PRELOAD was not loaded: the arm was not what it says. */
void files_check_preloads(struct stage *stage);

/* What the client printed becomes metrics; refuses the run when it is no result. In measure.c. */
void measure_output(struct stage *stage);

/* Time and memory of a child, as PREFIX.wall and the like. */
void measure_usage(struct stage *stage, const char *prefix, const struct child *child);

/* CPU time of the target (the server where there is one) for each operation, as
 * TARGET.cpu_per_operation: where the client's output says how many there were, or how many a
 * second. */
void measure_per_operation(struct run *run);

/* Refuses the run when it lacks a metric that was asked for. */
void measure_check_metrics(struct stage *stage);

/* Regular expressions, in expression.c: whether the metric is a "regex:EXPRESSION", whether that
 * can be used, and its value in what the client printed, which must be a number. */
bool measure_is_expression(const char *metric);
void measure_expression(struct stage *stage, const char *metric);
bool measure_check_expression(const char *metric, char why[WHY_SIZE]);

/* False with a reason for a shim.* that no record has. In counter_name.c. */
bool measure_check_counter(const char *metric, char why[WHY_SIZE]);

#endif
