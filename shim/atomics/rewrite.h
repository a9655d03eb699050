/*
 * Lets the atomics that a survey found be done by trampolines.
 */
#ifndef SHIM_ATOMICS_REWRITE_H
#define SHIM_ATOMICS_REWRITE_H

#include "survey.h"

/* Returns how many sites have been rewritten; those that could not be get their reason in
 * their sites. Nothing may execute the object's code meanwhile. */
uint32_t rewrite(struct survey *survey);

/* Lets the outline helpers go one way whatever their flag says, since an initialiser is to set it
 * that does not ask us. False where that cannot be, of all of them. */
bool rewrite_tests(const struct survey *survey);

#endif
