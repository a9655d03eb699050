/*
 * The arms of an experiment: settings that turn one environment into several.
 */
#ifndef LOADER_AB_ARMS_H
#define LOADER_AB_ARMS_H

#include "../environment.h"
#include "../message.h"
#include "texts.h"

struct arm {
	char *name;
	struct texts settings; /* KEY=VALUE, KEY+=VALUE, KEY-=VALUE */
};

/* The first one is the reference. */
struct arms {
	struct arm *items;
	size_t count;
};

/* Adds a setting to the arm of that name, which is made where there is none. False with a reason
 * when the name or the setting is malformed. */
bool arms_add(struct arms *arms, const char *name, const char *setting, char why[WHY_SIZE]);

/* The same from NAME:KEY=VALUE. */
bool arms_add_named(struct arms *arms, const char *text, char why[WHY_SIZE]);

/*
 * Makes the arms ready once all options are read: a and b come first, an experiment of one arm gets
 * its copy (A/A). False with a reason when two arms come to the same environment, what the library
 * does by default included.
 */
bool arms_complete(struct arms *arms, const struct environment *base, char why[WHY_SIZE]);

/* Whether there are two arms with the same settings. */
bool arms_are_same(const struct arms *arms);

/* The settings of an arm with a blank between them; the caller's to free. NULL: no memory. */
char *arm_text(const struct arm *arm);

void arms_free(struct arms *arms);

#endif
