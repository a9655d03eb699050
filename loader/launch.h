/*
 * Starts a program and stays its parent: signals go through, and the end is seen exactly.
 */
#ifndef LOADER_LAUNCH_H
#define LOADER_LAUNCH_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

struct launch {
	const char *path; /* what to execute; not looked up */
	char *const *arguments;
	char *const *environment;

	pid_t pid;
	uint64_t start_ticks; /* as in process.h */
	sigset_t watched, old_mask;
	struct sigaction old_child;
};

/* Starts the program. Returns 0, or the errno value of fork or exec: then nothing runs. */
int launch_start(struct launch *launch);

/*
 * Waits for the end and returns the status of waitpid(). Signals sent to this process meanwhile
 * go on to the program; those of the terminal do not, because it gets them itself.
 */
int launch_wait(struct launch *launch);

/* Ends this process as the program ended: the same exit status, or killed by the same signal. */
_Noreturn void launch_end_like(int wait_status);

#endif
