/*
 * How the command says that something is wrong: one line on stderr.
 */
#ifndef LOADER_MESSAGE_H
#define LOADER_MESSAGE_H

#include <stddef.h>

/* Writes "abshim: TEXT\n" with control characters escaped, in one write. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Puts a reason, cut to fit, where the caller of a failing function will look for it. */
#define WHY_SIZE 512
void why_set(char why[WHY_SIZE], const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
