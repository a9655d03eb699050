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

bool signal_check(const char *how, char why[WHY_SIZE])
{
	static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	if (how[strspn(how, capitals)] != '\0' || signal_by_name(how) != 0)
		return true;
	why_set(why, "--stop %.100s: no such signal; TERM, INT, QUIT and so on, or a command", how);
	return false;
}
