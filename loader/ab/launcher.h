/*
 * Who does a run: the real one starts programs, those of tests make the figures up.
 */
#ifndef LOADER_AB_LAUNCHER_H
#define LOADER_AB_LAUNCHER_H

#include "design.h"
#include "run_line.h"

enum launch_end {
	LAUNCH_ENDED,       /* the run is complete, valid or not */
	LAUNCH_INTERRUPTED, /* by a signal to this process: the run does not count as begun */
	LAUNCH_HOPELESS,    /* not valid, and it would not be the next time either */
};

struct launcher {
	/*
	 * Does the run whose number, arm, block and kind are filled in, with its files in the
	 * directory, and fills in the rest: valid unless it is refused with a reason.
	 */
	enum launch_end (*run)(struct launcher *launcher, const struct design *design,
	        struct run *run, const char *directory);
};

#endif
