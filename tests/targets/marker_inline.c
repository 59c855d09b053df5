/* SPDX-License-Identifier: MIT */
/*
 * Markers in a function that is inline but not static (C99 6.7.4): compilers warn there of static
 * functions and variables unless a header takes care. A shared object for marker_main. One call of
 * marker_work(n) makes, n times, 3 begins and 3 ends, 1 by handle and 2 by site, and 2 others.
 *
 * With -DMARKER_DEFINE the file holds the function's external definition and the handle.
 */
#include "marker_inline.h"

#ifdef MARKER_DEFINE
extern inline int inlined(int x);

struct spark_region inlined_region = SPARK_REGION("handle");
#else
void marker_work(int n);
void marker_work(int n)
{
	while (n-- > 0)
		inlined(n);
}
#endif
