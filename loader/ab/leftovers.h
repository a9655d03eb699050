/*
 * Processes of an experiment that outlived the command that had started them.
 */
#ifndef LOADER_AB_LEFTOVERS_H
#define LOADER_AB_LEFTOVERS_H

/* Kills the processes whose environment says that they belong to a run in that directory, and waits
 * until they have gone. Returns their number. */
unsigned leftovers_end(const char *experiment);

#endif
