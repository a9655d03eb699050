/*
 * What lies where in the process's memory, by /proc/self/maps.
 */
#ifndef SHIM_ATOMICS_MAPS_H
#define SHIM_ATOMICS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The protection (PROT_) of the page that holds the address; -1 when there is none. */
int maps_protection(uint64_t address);

/*
 * Free room of size bytes, all of it within reach of all of [low, high): the nearest below, or else
 * above, as far from the heap as can be, which may lie there. Multiples of 64 KiB, the largest size
 * of a page. 0: none.
 */
uint64_t maps_find_room(uint64_t low, uint64_t high, uint64_t size, uint64_t reach);

#endif
