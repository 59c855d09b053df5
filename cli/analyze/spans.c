/* SPDX-License-Identifier: MIT */
/* Times in which a run was measured. */
#include "cli/analyze/report.h"

u64 spans_overlap(const struct span_fact *spans, size_t n, u64 begin_ns, u64 end_ns)
{
	size_t low = 0, high = n;
	u64 sum = 0;

	/* The first one that ends later. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans[middle].end_ns <= begin_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < n && spans[low].begin_ns < end_ns; low++) {
		u64 begin = MAX(spans[low].begin_ns, begin_ns), end = MIN(spans[low].end_ns, end_ns);

		sum += end > begin ? end - begin : 0;
	}
	return sum;
}
