/*
 * Who is asked for next: the distributions of YCSB's core workloads, from a generator of random
 * numbers of each thread's own.
 */
#ifndef YCSB_CHOOSERS_H
#define YCSB_CHOOSERS_H

#include <stdint.h>

/* YCSB's zipfian constant. */
#define ZIPFIAN_THETA 0.99

/* The next number of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
 * Generators, 2014); every seed is a good one. */
uint64_t random_next(uint64_t *state);

/* From 0 up to and without 1. */
double random_share(uint64_t *state);

/* From 0 up to and without count, which is not 0. */
uint64_t random_below(uint64_t *state, uint64_t count);

/* FNV-1a of the eight bytes of value, the lowest first, without its sign, as YCSB has it. */
uint64_t fnv_hash(uint64_t value);

/* The sum of 1 / i^theta for i from 1 to count. */
double zeta(uint64_t count, double theta);

/* Items 0, 1, 2 ... of falling popularity. */
struct zipfian {
	uint64_t count;
	double theta, zeta, eta;
};

void zipfian_init(struct zipfian *zipfian, uint64_t count, double theta);

/* The same with one more item, or more; count does not fall. */
void zipfian_grow(struct zipfian *zipfian, uint64_t count);

uint64_t zipfian_draw(const struct zipfian *zipfian, uint64_t *random);

enum distribution { DISTRIBUTION_UNIFORM, DISTRIBUTION_ZIPFIAN, DISTRIBUTION_LATEST };

/* Chooses among records that have been inserted, of each thread its own. */
struct chooser {
	enum distribution distribution;
	uint64_t space; /* zipfian: the records there will be, so that the popular ones stay */
	struct zipfian zipfian;
};

/* records are there at first, and at most `inserts` come to them. */
void chooser_init(struct chooser *chooser, enum distribution distribution, uint64_t records,
        uint64_t inserts);

/* One of the first `records`. */
uint64_t chooser_draw(struct chooser *chooser, uint64_t records, uint64_t *random);

#endif
