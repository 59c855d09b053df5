/* SPDX-License-Identifier: MIT */
/* Sums and quantiles of histograms; called by sparkctl when it builds a report. */
#include "hist.h"

u64 hist_total(const struct hist *hist)
{
	u64 total = 0;
	u32 i, k;

	for (i = 0; i < WIRE_HIST_OCTAVES; i++)
		for (k = 0; hist->octave[i] && k < WIRE_HIST_SUB; k++)
			total += hist->octave[i][k];
	return total;
}

/* The rank of the value looked for, counted from 1: ceil(total * per_mille / 1000), without overflow. */
static u64 hist_rank(u64 total, u32 per_mille)
{
	u64 rank = total / 1000 * per_mille + (total % 1000 * per_mille + 999) / 1000;

	return rank ? MIN(rank, total) : 1;
}

u64 hist_quantile(const struct hist *hist, u32 per_mille)
{
	u64 total = hist_total(hist), rank, seen = 0;
	u32 i, k;

	if (!total)
		return 0;
	rank = hist_rank(total, per_mille);
	for (i = 0; i < WIRE_HIST_OCTAVES; i++) {
		for (k = 0; hist->octave[i] && k < WIRE_HIST_SUB; k++) {
			seen += hist->octave[i][k];
			if (seen >= rank)
				return hist_mid(i * WIRE_HIST_SUB + k);
		}
	}
	return 0;
}
