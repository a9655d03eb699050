/*
 * Several tests at once.
 */
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "stats.h"

/* Holm 1979: the k-th smallest of m is multiplied by m - k + 1; none falls below the one before. */
void stats_holm(const double *p, size_t n, double *adjusted)
{
	size_t *order = calloc(n + 1, sizeof(*order)), m = 0;
	double *keys = calloc(n + 1, sizeof(*keys));
	if (order == NULL || keys == NULL)
		abort();
	for (size_t i = 0; i < n; i++) {
		keys[i] = isnan(p[i]) ? INFINITY : p[i];
		m += !isnan(p[i]);
		adjusted[i] = p[i];
	}
	gsl_sort_index(order, keys, 1, n);
	double least = 0;
	for (size_t k = 0; k < m; k++) {
		double value = p[order[k]] * (double)(m - k);
		least = value > least ? value : least;
		adjusted[order[k]] = least < 1 ? least : 1;
	}
	free(order);
	free(keys);
}
