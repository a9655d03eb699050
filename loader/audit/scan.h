/*
 * Counts the atomic instructions of a file.
 */
#ifndef LOADER_AUDIT_SCAN_H
#define LOADER_AUDIT_SCAN_H

#include "symbols.h"

/* Each fills in the row's counts, its method, and notes of what was left out. */
void scan_a64(struct audit_file *row, const struct image *image, const struct code *code,
        const struct audit_symbols *symbols);
void scan_x86(struct audit_file *row, const struct image *image, const struct code *code);

/* Whether so much of the code lies in functions that unwind tables name that the rest is taken for
 * something else. */
bool scan_trusts_coverage(const struct code *code, uint64_t covered);

#endif
