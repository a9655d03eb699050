/*
 * Which arm runs when: blocks that hold each arm once.
 */
#ifndef LOADER_AB_ORDER_H
#define LOADER_AB_ORDER_H

#include <stdbool.h>
#include <stddef.h>

enum order_kind {
	ORDER_ABBA,   /* forwards, backwards, forwards, ... */
	ORDER_RANDOM, /* shuffled in each block, by the seed */
	ORDER_FIXED,  /* always forwards */
};

extern const char *const order_names[];

/* The kind of that name. False when there is none. */
bool order_by_name(const char *name, enum order_kind *kind);

/* The arm at a place (from 0) of a block (from 0); the same whenever it is asked. */
size_t order_arm(
        enum order_kind kind, unsigned long seed, size_t arms, unsigned block, size_t place);

#endif
