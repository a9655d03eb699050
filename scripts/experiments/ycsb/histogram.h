/*
 * Latencies by their size, within 1/128 of it: enough for any percentile, in a fixed amount of
 * memory.
 */
#ifndef YCSB_HISTOGRAM_H
#define YCSB_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BUCKETS (128 * 42)

/* Microseconds. */
struct histogram {
	uint64_t count, sum, min, max;
	uint32_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, uint64_t us);

/* Adds the latencies of another thread. */
void histogram_join(struct histogram *histogram, const struct histogram *other);

/* The highest latency of the bucket in which that share of the latencies, such as 0.99, is reached;
 * never more than the longest. 0 where there are none. */
uint64_t histogram_percentile(const struct histogram *histogram, double share);

#endif
