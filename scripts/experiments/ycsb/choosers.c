/*
 * The zipfian generator is that of Gray et al., Quickly Generating Billion-Record Synthetic
 * Databases (SIGMOD 1994); how it is scattered and turned around is YCSB's.
 */
#include "choosers.h"

#include <math.h>

#define FNV_BASIS 0xcbf29ce484222325U
#define FNV_PRIME 1099511628211U

/* Terms of zeta that are added up one by one; the rest follows by Euler and Maclaurin's formula. */
#define EXACT_TERMS 1000

/* YCSB draws from this many items, whatever the number of records, and scatters them by hash. */
#define SCATTERED_ITEMS 10000000000U

uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15U;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
	z = (z ^ z >> 27) * 0x94d049bb133111ebU;
	return z ^ z >> 31;
}

double random_share(uint64_t *state)
{
	return (double)(random_next(state) >> 11) * 0x1p-53;
}

uint64_t random_below(uint64_t *state, uint64_t count)
{
	return (uint64_t)((unsigned __int128)random_next(state) * count >> 64);
}

uint64_t fnv_hash(uint64_t value)
{
	uint64_t hash = FNV_BASIS;
	for (int i = 0; i < 8; i++) {
		hash = (hash ^ (value & 0xff)) * FNV_PRIME;
		value >>= 8;
	}
	return hash >> 63 ? -hash : hash;
}

double zeta(uint64_t count, double theta)
{
	double sum = 0;
	uint64_t exact = count < EXACT_TERMS ? count : EXACT_TERMS;
	for (uint64_t i = 1; i <= exact; i++)
		sum += pow((double)i, -theta);
	if (count == exact)
		return sum;
	double low = (double)exact, high = (double)count;
	return sum + (pow(high, 1 - theta) - pow(low, 1 - theta)) / (1 - theta) +
	       (pow(high, -theta) - pow(low, -theta)) / 2 -
	       theta * (pow(high, -theta - 1) - pow(low, -theta - 1)) / 12;
}

static void zipfian_set(struct zipfian *zipfian, uint64_t count, double sum)
{
	double theta = zipfian->theta;
	zipfian->count = count;
	zipfian->zeta = sum;
	zipfian->eta = (1 - pow(2 / (double)count, 1 - theta)) / (1 - zeta(2, theta) / sum);
}

void zipfian_init(struct zipfian *zipfian, uint64_t count, double theta)
{
	zipfian->theta = theta;
	zipfian_set(zipfian, count, zeta(count, theta));
}

void zipfian_grow(struct zipfian *zipfian, uint64_t count)
{
	if (count == zipfian->count)
		return;
	double sum = zipfian->zeta;
	for (uint64_t i = zipfian->count + 1; i <= count; i++)
		sum += pow((double)i, -zipfian->theta);
	zipfian_set(zipfian, count, sum);
}

uint64_t zipfian_draw(const struct zipfian *zipfian, uint64_t *random)
{
	double u = random_share(random), uz = u * zipfian->zeta;
	if (uz < 1 || zipfian->count == 1)
		return 0;
	if (uz < 1 + pow(0.5, zipfian->theta) || zipfian->count == 2)
		return 1;
	double item = (double)zipfian->count *
	              pow(zipfian->eta * u - zipfian->eta + 1, 1 / (1 - zipfian->theta));
	uint64_t whole = (uint64_t)item;
	return whole < zipfian->count ? whole : zipfian->count - 1;
}

void chooser_init(
        struct chooser *chooser, enum distribution distribution, uint64_t records, uint64_t inserts)
{
	chooser->distribution = distribution;
	chooser->space = records + inserts;
	if (distribution == DISTRIBUTION_LATEST)
		zipfian_init(&chooser->zipfian, records, ZIPFIAN_THETA);
	else
		zipfian_init(&chooser->zipfian, SCATTERED_ITEMS, ZIPFIAN_THETA);
}

uint64_t chooser_draw(struct chooser *chooser, uint64_t records, uint64_t *random)
{
	uint64_t item;
	switch (chooser->distribution) {
	case DISTRIBUTION_LATEST:
		if (records > chooser->zipfian.count)
			zipfian_grow(&chooser->zipfian, records);
		item = zipfian_draw(&chooser->zipfian, random);
		return item < records ? records - 1 - item : 0;
	case DISTRIBUTION_ZIPFIAN:
		/* One that is not there yet gives way to another draw. */
		do
			item = fnv_hash(zipfian_draw(&chooser->zipfian, random)) % chooser->space;
		while (item >= records);
		return item;
	default:
		return random_below(random, records);
	}
}
