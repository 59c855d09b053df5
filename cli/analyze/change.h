/* SPDX-License-Identifier: MIT */
/*
 * A series of measurements in the order in which they were made: whether their level changed at some place, and where.
 * Nothing is assumed about the form of their scatter, but that without a change any order of them is as likely.
 * The same values always give the same answer.
 */
#ifndef CLI_ANALYZE_CHANGE_H
#define CLI_ANALYZE_CHANGE_H

#include <stddef.h>

#define CHANGE_LEAST 4               /* values on either side of a change */
#define CHANGE_MOST 1000             /* values in a series */

/* What is worked out once for all series of a length. Zero-initialized; change_orders_free() at the end. */
struct change_orders {
	struct change_length *lengths;
	size_t n;
};

struct change {
	size_t at;                   /* the first value of the new level */
	double p;                    /* of such a change, or a clearer one, anywhere in the series by chance alone; 1: none */
};

/* n is at most CHANGE_MOST. */
void change_find(struct change *change, const double *values, size_t n, struct change_orders *orders);
void change_orders_free(struct change_orders *orders);

#endif
