/*
 * Goes through an experiment's order, from wherever it stands, until it is complete.
 */
#ifndef LOADER_AB_CONDUCT_H
#define LOADER_AB_CONDUCT_H

#include "journal.h"
#include "launcher.h"

enum conduct_end {
	CONDUCT_COMPLETE,
	CONDUCT_INTERRUPTED,
	CONDUCT_INVALID,  /* a run stayed invalid to its last attempt */
	CONDUCT_HOPELESS, /* the launcher says that no attempt helps */
	CONDUCT_BROKEN,   /* the directory cannot be written: why */
};

/* Is told what happens. Either may be NULL. */
struct conduct_observer {
	void (*begins)(struct conduct_observer *observer, const struct experiment *experiment,
	        const struct run *run);
	void (*ended)(struct conduct_observer *observer, const struct experiment *experiment);
};

enum conduct_end conduct(struct experiment *experiment, struct launcher *launcher,
        struct conduct_observer *observer, char why[WHY_SIZE]);

/* Whether nothing is left to run. */
bool conduct_is_complete(const struct experiment *experiment);

#endif
