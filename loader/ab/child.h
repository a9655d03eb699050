/*
 * Programs that an experiment starts: in groups of their own, with limits, and never left behind.
 */
#ifndef LOADER_AB_CHILD_H
#define LOADER_AB_CHILD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct child_program {
	const char *path; /* looked up when it has no slash */
	char *const *arguments;
	char *const *environment;
	const char *out, *err; /* files for its output, appended to; err NULL: the same */
};

struct child {
	pid_t pid; /* and process group */
	bool ended;
	int status; /* of waitpid() */
	struct rusage usage;
	double seconds; /* from its start to its end */
	double started; /* by the monotonic clock */
};

/*
 * From here on signals that would end this process are kept for children_interrupted(), the
 * terminal's stop is ignored, and orphans of children become this process's own.
 */
void children_begin(void);

/* The opposite. */
void children_finish(void);

/* The signal that asks this process to end, 0: none has. */
int children_interrupted(void);

/* Forgets that signal for a time, so that one more can be told from it; returns it. */
int children_forget_interruption(void);
void children_recall_interruption(int signal);

/* Starts a program. It is killed when this process dies. Returns 0, or an errno value. */
int child_start(struct child *child, const struct child_program *program);

enum child_wait { CHILD_ENDED, CHILD_LATE, CHILD_INTERRUPTED };

/* Waits for the end for that many seconds. */
enum child_wait child_wait(struct child *child, double seconds);

/*
 * Ends a child: by the signal, sent to all its group or to itself alone, and after so many seconds,
 * or when this process is asked once more to end, by SIGKILL. What is left of its group is killed.
 */
void child_end(struct child *child, int signal, bool group, double grace);

/* Kills what children have left behind, other than the one given (NULL: none). */
void children_end_strays(const struct child *except);

/* Sleeps, less when asked to end. */
void children_sleep(double seconds);

double children_clock(void);

#endif
