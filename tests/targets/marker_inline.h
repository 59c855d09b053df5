/* SPDX-License-Identifier: MIT */
/* The inline function of marker_inline.c. In a header: clang is milder about the main file. */
#include <spark/spark.h>

extern struct spark_region inlined_region;
inline int inlined(int x);

inline int inlined(int x)
{
	SPARK_SCOPE("scope");
	spark_begin(&inlined_region);
	spark_region_begin("literal");
	spark_metric("metric", 1.5);
	spark_region_units("literal", 4096, "B");
	spark_region_end("literal");
	spark_end(&inlined_region);
	return x + 1;
}
