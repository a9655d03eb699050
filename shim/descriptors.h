/*
 * Keeps low descriptors out of the way of code of others that the shim calls and that opens files
 * for good: the program may count on the numbers.
 */
#ifndef SHIM_DESCRIPTORS_H
#define SHIM_DESCRIPTORS_H

#include <stdint.h>

#define DESCRIPTORS_FLOOR 1000u

/* The numbers that were free and are taken for a while. */
struct descriptors {
	uint64_t taken[(DESCRIPTORS_FLOOR + 63) / 64];
};

/* Takes all free descriptors below DESCRIPTORS_FLOOR, or below a number near the process's limit if
 * that is lower. */
void descriptors_take(struct descriptors *descriptors);

void descriptors_give_back(const struct descriptors *descriptors);

#endif
