/* SPDX-License-Identifier: MIT */
/*
 * See discovery.h. The method is that of Benjamini and Hochberg (Controlling the False Discovery Rate: A Practical
 * and Powerful Approach to Multiple Testing, J. R. Stat. Soc. B 57, 1995); it holds for tests that depend on each other
 * as times of one run do, all longer or all shorter (Benjamini and Yekutieli, Ann. Stat. 29, 2001).
 */
#include "cli/analyze/discovery.h"

#include <stdlib.h>

static int discovery_order(const void *a, const void *b)
{
	const double *x = *(const double *const *)a, *y = *(const double *const *)b;

	return *x != *y ? (*x > *y) - (*x < *y) : (x > y) - (x < y);
}

void discovery_adjust(double *p, size_t n, const double **order)
{
	double least = 1;

	for (size_t i = 0; i < n; i++)
		order[i] = &p[i];
	if (n)
		qsort(order, n, sizeof(*order), discovery_order);
	for (size_t i = n; i--;) {
		double adjusted = *order[i] * (double)n / (double)(i + 1);

		least = adjusted < least ? adjusted : least;
		p[order[i] - p] = least;
	}
}
