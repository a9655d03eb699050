/*
 * ABSHIM_ALLOC: where the process's threads get their memory, and what of it is in force.
 */
#ifndef SHIM_ALLOC_ARM_H
#define SHIM_ALLOC_ARM_H

#include <stdbool.h>

/* In the constructor, before the record is made: puts the arm and the counters of allocations in
 * force, for which the program may be executed again, or ends the process with the reason why they
 * cannot act. Notes what serves it with memory. */
void alloc_begin(char *const *environment);

/* Writes the notes into the record. */
void alloc_put(void);

/* The value of JAVA_TOOL_OPTIONS for the Java virtual machine of this process, which has asked for
 * it: value (NULL: not set), and behind it the arm's option. */
char *alloc_java_options(char *value);

/* A thread is about to be made: once a virtual machine has read its options, it shows whether it
 * obeys. */
extern bool alloc_java_asked __attribute__((visibility("hidden")));
void alloc_java_check(void);

#endif
