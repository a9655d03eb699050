/*
 * What is to be done: YCSB's properties of core workloads, from its own property files.
 */
#ifndef YCSB_WORKLOAD_H
#define YCSB_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "choosers.h"

enum operation {
	OPERATION_READ,
	OPERATION_UPDATE,
	OPERATION_INSERT,
	OPERATION_SCAN,
	OPERATION_READ_MODIFY_WRITE,
	OPERATIONS
};

/* Whole numbers are long, as their properties' bounds say. */
struct workload {
	long records, operations;
	long threads, fields, field_size, shortest_scan, longest_scan;
	long most_seconds; /* 0: no limit */
	long status_seconds;
	long cache_mib, seed;
	double proportions[OPERATIONS];
	enum distribution distribution;
	bool write_all;
};

#define KEY_SIZE 32

/* The values that YCSB has where nothing is said, and a seed of 1. */
void workload_init(struct workload *workload);

/* Takes "NAME=VALUE". False with the reason in why when that is nothing that can be done here. */
bool workload_set(struct workload *workload, const char *text, char why[200]);

/* Takes a file of such lines, as far as they are properties; '#' begins a comment. */
bool workload_read(struct workload *workload, const char *path, char why[200]);

/* False when the properties do not go together. */
bool workload_check(const struct workload *workload, char why[200]);

/* By the proportions, which need not add up to 1. */
enum operation workload_draw(const struct workload *workload, uint64_t *random);

/* Of the record with that number: its hash, so that records lie in no order of insertion. */
void workload_key(uint64_t number, char key[KEY_SIZE]);

/* Bytes that can be printed. */
void workload_fill(char *bytes, unsigned long size, uint64_t *random);

#endif
