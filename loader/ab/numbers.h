/*
 * Numbers in options.
 */
#ifndef LOADER_AB_NUMBERS_H
#define LOADER_AB_NUMBERS_H

#include <stdbool.h>

/* A decimal number from least to most, nothing behind it. */
bool number_read(const char *text, unsigned long least, unsigned long most, unsigned long *value);

/* A positive number of seconds: "30", "0.5". */
bool number_read_seconds(const char *text, double *seconds);

/* "1%" or "0.5%" as 0.01, 0.005. */
bool number_read_percent(const char *text, double *ratio);

#endif
