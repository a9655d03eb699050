/*
 * Lets the atomics that a survey found be done by trampolines.
 */
#ifndef SHIM_ATOMICS_REWRITE_H
#define SHIM_ATOMICS_REWRITE_H

#include "survey.h"

/* Returns how many instructions have been rewritten; those that could not be get their reason in
 * their sites. Nothing may execute the object's code meanwhile. */
uint32_t rewrite(struct survey *survey);

#endif
