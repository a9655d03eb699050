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

/*
 * The number of ways to draw each U of na and nb values: Mann and Whitney 1947, by the recurrence
 * f(a, b, u) = f(a - 1, b, u - b) + f(a, b - 1, u). Returns P(U <= u).
 */
static double exact_tail(size_t na, size_t nb, size_t u)
{
	size_t most = na * nb, row = most + 1;
	double *ways = cleared((na + 1) * (nb + 1) * row, sizeof(*ways)), below = 0;
	for (size_t a = 0; a <= na; a++)
		for (size_t b = 0; b <= nb; b++) {
			double *here = &ways[(a * (nb + 1) + b) * row];
			if (a == 0 || b == 0) {
				here[0] = 1;
				continue;
			}
			for (size_t v = 0; v <= a * b; v++)
				here[v] =
				        ways[(a * (nb + 1) + b - 1) * row + v] +
				        (v >= b ? ways[((a - 1) * (nb + 1) + b) * row + v - b] : 0);
		}
	const double *last = &ways[(na * (nb + 1) + nb) * row];
	for (size_t v = 0; v <= u; v++)
		below += last[v];
	free(ways);
	return below / gsl_sf_choose((unsigned)(na + nb), (unsigned)na);
}

/* The sum of a's ranks among all, ties at their mean; *ties becomes the sum of t^3 - t. */
static double rank_sum(struct stats_values a, struct stats_values b, double *ties)
{
	size_t n = a.n + b.n;
	double *all = cleared(n, sizeof(*all)), sum = 0;
	size_t *order = cleared(n, sizeof(*order));
	memcpy(all, a.values, a.n * sizeof(*all));
	memcpy(all + a.n, b.values, b.n * sizeof(*all));
	gsl_sort_index(order, all, 1, n);
	*ties = 0;
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && all[order[next]] == all[order[i]]; next++)
			;
		double equal = (double)(next - i), rank = (double)(i + 1 + next) / 2;
		*ties += equal * equal * equal - equal;
		for (size_t k = i; k < next; k++)
			sum += order[k] < a.n ? rank : 0;
	}
	free(all);
	free(order);
	return sum;
}

double stats_mann_whitney(struct stats_values a, struct stats_values b)
{
	if (a.n == 0 || b.n == 0)
		return NAN;
	double ties, na = (double)a.n, nb = (double)b.n, n = na + nb;
	double u = rank_sum(a, b, &ties) - na * (na + 1) / 2;
	double smaller = u < na * nb - u ? u : na * nb - u;
	if (ties == 0 && a.n <= EXACT_MOST && b.n <= EXACT_MOST) {
		double p = 2 * exact_tail(a.n, b.n, (size_t)smaller);
		return p < 1 ? p : 1;
	}
	double variance = na * nb / 12 * (n + 1 - ties / (n * (n - 1)));
	if (variance <= 0) /* all values are equal */
		return 1;
	double z = (na * nb / 2 - smaller - 0.5) / sqrt(variance);
	return z <= 0 ? 1 : 2 * gsl_cdf_ugaussian_Q(z);
}
