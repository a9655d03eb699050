/*
 * Which file an address of the program belongs to, written down while the process still knows.
 */
#ifndef PROBES_MODULES_H
#define PROBES_MODULES_H

#include <stdbool.h>
#include <stdint.h>

/* Entry of REGION_MODULES + 1 that holds the code address, or 0. Reads /proc/self/maps when the
 * address is new, after a call of record_modules_mapping or a tenth of a second: takes no lock, so
 * it may be called while the program holds any. */
uint32_t record_module_of(uint64_t address);

/* Entry of REGION_MODULES + 1 of the file whose image the address lies in, as far as is known, or
 * 0. */
uint32_t record_module_around(uint64_t address);

/* Whether the file of an entry + 1 is mapped no more, so that its addresses may be those of another
 * one. */
bool record_module_is_gone(uint32_t module);

/* Reads /proc/self/maps now, for a process that will not be able to later. */
void record_modules_refresh(void);

/* A file is about to be mapped: code that is not known may be its. */
void record_modules_mapping(void);

/* A file may have been unmapped: to be called when it has. */
void record_modules_unmapped(void);

/* Does what record_modules_unmapped made necessary: marks what is mapped no more, and the locks in
 * it. Cheap otherwise. */
void record_modules_settle(void);

#endif
