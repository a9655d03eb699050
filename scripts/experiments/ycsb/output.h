/*
 * Results as YCSB 0.17 prints them, which is what `abshim compare` reads.
 */
#ifndef YCSB_OUTPUT_H
#define YCSB_OUTPUT_H

#include <stdio.h>

#include "client.h"

/* The summary. */
void output_summary(FILE *file, const struct measured *measured);

/* A status line on standard error; `before` operations had been done `period` seconds ago. */
void output_status(
        double seconds, uint64_t operations, uint64_t wanted, uint64_t before, double period);

#endif
