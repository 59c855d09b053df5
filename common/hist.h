/* SPDX-License-Identifier: MIT */
/*
 * The log-linear histogram: which of 64 x 32 buckets a duration falls into, and back.
 *
 * Values below 32 have a bucket each; above, every power of two is split into 32 buckets, so that
 * the middle of a bucket is within 1/64 of each value in it. The inline functions are pure
 * arithmetic, for the agent's markers too; hist.c is used by sparkctl and is free of libc as well.
 */
#ifndef SPARK_COMMON_HIST_H
#define SPARK_COMMON_HIST_H

#include "wire.h"

#define HIST_BUCKETS (WIRE_HIST_OCTAVES * WIRE_HIST_SUB)

/* octave * 32 + sub; the last octave that a u64 reaches is 59. */
static inline u32 hist_index(u64 v)
{
	u32 msb;

	if (v < WIRE_HIST_SUB)
		return (u32)v;
	msb = 63 - (u32)__builtin_clzll(v);
	return (msb - 4) * WIRE_HIST_SUB + ((u32)(v >> (msb - 5)) & (WIRE_HIST_SUB - 1));
}

/* The least value of a bucket; ~0 for buckets that no u64 falls into. */
static inline u64 hist_lower(u32 index)
{
	u32 octave = index / WIRE_HIST_SUB, sub = index % WIRE_HIST_SUB;

	if (octave == 0)
		return sub;
	if (octave > 59)
		return ~0ULL;
	return (u64)(WIRE_HIST_SUB + sub) << (octave - 1);
}

/* The middle of a bucket: what it stands for. */
static inline u64 hist_mid(u32 index)
{
	u32 octave = index / WIRE_HIST_SUB;

	if (octave < 2 || octave > 59)
		return hist_lower(index);
	return hist_lower(index) + (1ULL << (octave - 2));
}

/* A sum of histograms.  The owner provides each octave's 32 counts when they are first needed. */
struct hist {
	u64 *octave[WIRE_HIST_OCTAVES]; /* NULL: all zero */
};

/* All that was counted. */
u64 hist_total(const struct hist *hist);

/*
 * The value below or at which per_mille / 1000 of the counts lie (500: the median), as the middle
 * of its bucket; 0 if nothing was counted. The caller clamps it to the least and greatest value
 * seen.
 */
u64 hist_quantile(const struct hist *hist, u32 per_mille);

#endif
