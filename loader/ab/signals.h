/*
 * Names of signals as options give them.
 */
#ifndef LOADER_AB_SIGNALS_H
#define LOADER_AB_SIGNALS_H

/* The signal called TERM or SIGTERM; 0 when there is none of that name. */
int signal_by_name(const char *name);

#endif
