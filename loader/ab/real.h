/*
 * The launcher that starts programs.
 */
#ifndef LOADER_AB_REAL_H
#define LOADER_AB_REAL_H

#include "launcher.h"

struct real_launcher {
	struct launcher launcher;
	struct environment base; /* this process's own environment, without variables AB_... */
	char *library;
	char *records; /* a directory in tmpfs */
	char sanitizer[256];
};

/*
 * Prepares runs of the design and looks whether its programs can be run at all. Returns 0, or an
 * exit status with a reason; real_finish() is due in both cases.
 */
int real_prepare(struct real_launcher *real, const struct design *design, char why[WHY_SIZE]);
void real_finish(struct real_launcher *real);

/* Copies this process's environment, without variables that runs set themselves. */
bool real_base_environment(struct environment *environment);

#endif
