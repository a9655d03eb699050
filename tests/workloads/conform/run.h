/*
 * How the program runs its cases; not for the cases themselves.
 */
#ifndef CONFORM_RUN_H
#define CONFORM_RUN_H

#include "conform.h"

#define PARTNER_OPTION "--partner"

/* Prints what the case says, when it has ended, hung or crashed. */
void run_case(const struct conform_case *one);

/* From now on a signal that means a crash, or too long a case, is printed. */
void watch_cases(void);

/* Whether the process is a forked child. */
bool is_child(void);

/* The other process of the cases that are about two: fd holds the memory that both share. */
int be_partner(int fd, const char *task);

#endif
