/* SPDX-License-Identifier: MIT */
/* Many tests at once: which of them tell of something, if a part of what is told of may be chance. */
#ifndef CLI_ANALYZE_DISCOVERY_H
#define CLI_ANALYZE_DISCOVERY_H

#include <stddef.h>

/*
 * Adjusts n values of p, in place: those that are at most q afterwards are findings of which, on average, at most the
 * part q is false. order has room for as many.
 */
void discovery_adjust(double *p, size_t n, const double **order);

#endif
