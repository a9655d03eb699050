/*
 * 128 buckets of width 1, and then 128 for each power of two.
 */
#include "histogram.h"

#include <math.h>

#define FINE      128
#define FINE_BITS 7

static unsigned bucket_of(uint64_t us)
{
	if (us < FINE)
		return (unsigned)us;
	unsigned power = 63U - (unsigned)__builtin_clzll(us);
	unsigned bucket =
	        (power - FINE_BITS + 1) * FINE + (unsigned)(us >> (power - FINE_BITS)) - FINE;
	return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

static uint64_t highest_of(unsigned bucket)
{
	if (bucket < FINE)
		return bucket;
	if (bucket == HISTOGRAM_BUCKETS - 1)
		return UINT64_MAX;
	unsigned shift = bucket / FINE - 1;
	return ((uint64_t)(bucket % FINE + FINE + 1) << shift) - 1;
}

void histogram_add(struct histogram *histogram, uint64_t us)
{
	if (histogram->count == 0 || us < histogram->min)
		histogram->min = us;
	if (us > histogram->max)
		histogram->max = us;
	histogram->count++;
	histogram->sum += us;
	histogram->buckets[bucket_of(us)]++;
}

void histogram_join(struct histogram *histogram, const struct histogram *other)
{
	if (other->count == 0)
		return;
	if (histogram->count == 0 || other->min < histogram->min)
		histogram->min = other->min;
	if (other->max > histogram->max)
		histogram->max = other->max;
	histogram->count += other->count;
	histogram->sum += other->sum;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		histogram->buckets[i] += other->buckets[i];
}

uint64_t histogram_percentile(const struct histogram *histogram, double share)
{
	uint64_t wanted = (uint64_t)ceil(share * (double)histogram->count), seen = 0;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS && wanted > 0; i++) {
		seen += histogram->buckets[i];
		if (seen >= wanted)
			return highest_of(i) < histogram->max ? highest_of(i) : histogram->max;
	}
	return histogram->max;
}
