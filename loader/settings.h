/*
 * The variables of libabshim.so as the command knows them, and the -s KEY=VALUE that sets them or
 * any other variable of the environment.
 */
#ifndef LOADER_SETTINGS_H
#define LOADER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "environment.h"
#include "message.h"
#include "probes/choices.h"

struct setting_variable {
	const char *key; /* of -s KEY=VALUE; NULL: set by its own name only */
	const char *name;
	const char *values, *fallback; /* fallback: what holds when it is not set */
	const char *help;
};

extern const struct setting_variable setting_variables[];
extern const size_t setting_variable_count;

struct setting_strategy {
	const char *name;
	unsigned count;    /* default N; 0: it takes none */
	unsigned families; /* bits of enum choice_family */
	const char *help;
};

/* Those of mutexes come first. */
extern const struct setting_strategy setting_strategies[];
extern const size_t setting_strategy_count;

/* The keys that take the strategy ("rwlock, sem"); returns buffer. */
const char *setting_families(unsigned families, char *buffer, size_t size);

/*
 * Applies KEY=VALUE, KEY+=VALUE or KEY-=VALUE to an environment. Lower-case keys are the shim's,
 * their values are checked; others are variables. False with a reason when it is malformed.
 */
bool setting_apply(struct environment *environment, const char *setting, char why[WHY_SIZE]);

#endif
