/*
 * What the environment asked for, read once before main. A value that cannot be obeyed ends the
 * process: a run must not go on as if measured.
 */
#ifndef SHIM_SETTINGS_H
#define SHIM_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/record.h"

#define SETTINGS_EXIT_STATUS 78 /* EX_CONFIG of sysexits.h */

enum report_to { REPORT_STDERR, REPORT_NONE, REPORT_PATH };

struct settings {
	struct record_choice mutex, rwlock, spinlock, sem, futex;
	uint32_t mutex_pre_spins; /* polls before the strategy begins */
	uint32_t pause;           /* index into pauses.def */
	uint32_t stack_depth;     /* frames of a stack, 0: none are taken */
	enum record_atomics_choice atomics;
	enum record_alloc_choice alloc;
	enum record_stats stats;
	enum report_to report;
	char report_path[RECORD_PATH_SIZE]; /* as given, %p and %e not yet replaced */
	char directory[RECORD_PATH_SIZE];   /* empty: the default ones */
	int run_pid;                        /* `abshim run` that started us, 0 none */
	bool matches;                       /* false: ABSHIM_MATCH names other programs */
	bool elision;                       /* glibc.elision.enable is set in GLIBC_TUNABLES */
	char text[RECORD_MAX_SETTINGS];     /* the variables in force, "NAME=value\n" each */
};

extern struct settings settings __attribute__((visibility("hidden")));

/* Reads the environment. executable: absolute path of the program. Does not return when a variable
 * is wrong: writes one line to stderr and exits with SETTINGS_EXIT_STATUS. */
void settings_read(char *const *environment, const char *executable);

/* Whether every call goes straight to libc: the arm that shows what the fast path itself changes.
 */
bool settings_stay_out(void);

/* Writes "abshim: " and the parts (ended by NULL) as one line to stderr and ends the process with
 * SETTINGS_EXIT_STATUS. */
_Noreturn void settings_refuse(const char *const *parts);

#endif
