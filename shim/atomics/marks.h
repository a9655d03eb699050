/*
 * What an object's file says of its code, where it has not been stripped: mapping symbols tell
 * data among code ($d) from code ($x). ELF for the Arm 64-bit Architecture, "Mapping symbols".
 */
#ifndef SHIM_ATOMICS_MARKS_H
#define SHIM_ATOMICS_MARKS_H

#include "survey.h"

/* Sites that are data by the file at path get that reason. Does nothing where the file is not the
 * one that is loaded, or has no symbols. */
void marks_check(struct survey *survey, const char *path);

#endif
