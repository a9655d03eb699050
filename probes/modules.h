/*
 * Which file an address of the program belongs to, written down while the process still knows.
 */
#ifndef PROBES_MODULES_H
#define PROBES_MODULES_H

#include <stdint.h>

/* Entry of REGION_MODULES + 1 that holds the code address, or 0. Reads /proc/self/maps when the
 * address is new, at most every tenth of a second: takes no lock, so it may be called while the
 * program holds any. */
uint32_t record_module_of(uint64_t address);

/* Reads /proc/self/maps now, for a process that will not be able to later. */
void record_modules_refresh(void);

#endif
