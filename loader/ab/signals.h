/*
 * Names of signals as options give them.
 */
#ifndef LOADER_AB_SIGNALS_H
#define LOADER_AB_SIGNALS_H

#include <stdbool.h>

#include "../message.h"

/* The signal called TERM or SIGTERM; 0 when there is none of that name. */
int signal_by_name(const char *name);

/* False with a reason for a word of capitals and digits, as signals are, that is none. */
bool signal_check(const char *how, char why[WHY_SIZE]);

#endif
