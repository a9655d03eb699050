/*
 * Which settings take a row of strategies.def or pollings.def: bits that both sides read the tables
 * with.
 */
#ifndef PROBES_CHOICES_H
#define PROBES_CHOICES_H

enum choice_family {
	FOR_RWLOCK = 1,
	FOR_SPINLOCK = 2,
	FOR_SEM = 4,
	FOR_FUTEX = 8,
	FOR_MUTEX = 16, /* strategies.def, not pollings.def */
};

#endif
