/*
 * An experiment's directory while it is being filled: one command at a time, every run on disk
 * before the next one starts, so that whatever happens nothing is lost or run twice.
 */
#ifndef LOADER_AB_JOURNAL_H
#define LOADER_AB_JOURNAL_H

#include "design.h"
#include "run_line.h"

struct experiment {
	char *path; /* absolute */
	struct design design;
	json_t *machine; /* its fingerprint */
	struct run *runs;
	size_t run_count;
	int lock_fd, runs_fd; /* -1: only read */
};

enum journal_use { JOURNAL_READ, JOURNAL_RESUME };

/*
 * Makes the directory, which must not exist; path NULL: abshim-YYYYmmdd-HHMMSS here. Takes the
 * design over, and keeps a reference to the machine's fingerprint. False with a reason.
 */
bool journal_create(struct experiment *experiment, const char *path, struct design *design,
        json_t *machine, char why[WHY_SIZE]);

/* Reads the directory; to resume, it is locked, and a line that was cut off is taken away. */
bool journal_open(
        struct experiment *experiment, const char *path, enum journal_use use, char why[WHY_SIZE]);

/*
 * Makes the directory of the next run's files and returns its path, the caller's to free. Files of
 * a run that was cut off there before are moved aside. NULL with a reason.
 */
char *journal_make_run_directory(const struct experiment *experiment, char why[WHY_SIZE]);

/* Appends the run, on disk when this returns true, and takes its metrics over. */
bool journal_append(struct experiment *experiment, struct run *run, char why[WHY_SIZE]);

/* How many places of the order have a valid run. */
unsigned journal_filled(const struct experiment *experiment);

/*
 * A word kept in the lock file for a command that comes after a crash: where the records of the
 * processes lie until they are copied. The old one is the caller's to free; NULL: there is none.
 */
char *journal_note(const struct experiment *experiment);
bool journal_set_note(const struct experiment *experiment, const char *note);

void journal_close(struct experiment *experiment);

#endif
