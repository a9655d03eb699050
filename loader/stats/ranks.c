/*
 * Mann and Whitney's test.
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

#define EXACT_MOST 20 /* values a sample */

static void *cleared(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);
	if (memory == NULL)
		abort();
	return memory;
}

/* All values in order, as the ranks that they share doubled: whole numbers. */
struct ranks {
	size_t *doubled; /* of a's values, then of b's */
	size_t n;
	double ties; /* the sum of t^3 - t over values that are equal */
};

static struct ranks rank(struct stats_values a, struct stats_values b)
{
	struct ranks to = { .n = a.n + b.n };
	double *all = cleared(to.n, sizeof(*all));
	size_t *order = cleared(to.n, sizeof(*order));
	to.doubled = cleared(to.n, sizeof(*to.doubled));
	memcpy(all, a.values, a.n * sizeof(*all));
	memcpy(all + a.n, b.values, b.n * sizeof(*all));
	gsl_sort_index(order, all, 1, to.n);
	for (size_t i = 0, next; i < to.n; i = next) {
		for (next = i + 1; next < to.n && all[order[next]] == all[order[i]]; next++)
			;
		double equal = (double)(next - i);
		to.ties += equal * equal * equal - equal;
		for (size_t k = i; k < next; k++)
			to.doubled[order[k]] = i + 1 + next;
	}
	free(all);
	free(order);
	return to;
}

/*
 * The share of all choices of na of the ranks whose sum lies as far from the middle as that of the
 * first na does. Choices are counted by size and sum, one rank after the other; whoever shares a
 * rank, so that this is exact with ties as well (Streitberg and Roehmel 1986).
 */
static double exact_p(const struct ranks *ranks, size_t na)
{
	size_t middle = na * (ranks->n + 1), sum = 0, row = 2 * middle + 1;
	double *ways = cleared((na + 1) * row, sizeof(*ways)), extreme = 0;
	ways[0] = 1;
	for (size_t i = 0; i < ranks->n; i++) {
		size_t rank = ranks->doubled[i];
		sum += i < na ? rank : 0;
		for (size_t size = na; size > 0; size--)
			for (size_t at = rank; at < row; at++)
				ways[size * row + at] += ways[(size - 1) * row + at - rank];
	}
	size_t distance = sum > middle ? sum - middle : middle - sum;
	for (size_t at = 0; at < row; at++)
		if ((at > middle ? at - middle : middle - at) >= distance)
			extreme += ways[na * row + at];
	free(ways);
	return extreme / gsl_sf_choose((unsigned)ranks->n, (unsigned)na);
}

static double normal_p(const struct ranks *ranks, size_t a, size_t b)
{
	double na = (double)a, nb = (double)b, n = na + nb, sum = 0;
	for (size_t i = 0; i < a; i++)
		sum += (double)ranks->doubled[i] / 2;
	double distance = fabs(sum - na * (n + 1) / 2);
	double variance = na * nb / 12 * (n + 1 - ranks->ties / (n * (n - 1)));
	if (variance <= 0) /* all values are equal */
		return 1;
	double z = (distance - 0.5) / sqrt(variance);
	return z <= 0 ? 1 : 2 * gsl_cdf_ugaussian_Q(z);
}

double stats_mann_whitney(struct stats_values a, struct stats_values b)
{
	if (a.n == 0 || b.n == 0)
		return NAN;
	struct ranks ranks = rank(a, b);
	bool exact = a.n <= EXACT_MOST && b.n <= EXACT_MOST;
	double p = exact ? exact_p(&ranks, a.n) : normal_p(&ranks, a.n, b.n);
	free(ranks.doubled);
	return p;
}
