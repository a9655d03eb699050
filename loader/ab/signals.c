/*
 * Looks signals up.
 */
#include "signals.h"

#include <signal.h>
#include <string.h>

int signal_by_name(const char *name)
{
	if (strncmp(name, "SIG", 3) == 0)
		name += 3;
	for (int signal = 1; signal < SIGRTMIN; signal++) {
		const char *known = sigabbrev_np(signal);
		if (known != NULL && strcmp(known, name) == 0)
			return signal;
	}
	return 0;
}
