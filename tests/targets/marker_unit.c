/* SPDX-License-Identifier: MIT */
/*
 * Every marker of spark.h in every form, a known number of times; legal C89 and C++98.
 *
 * Built in all ways that header.test knows, as (part of) a program and as a shared object, alone
 * or with a second file (marker_main.c). It includes nothing else, so that warnings within spark.h
 * can be asked for with -Wsystem-headers. One call of marker_work(n) makes, n times:
 * 11 begins and 11 ends: 2 by handle, 4 by site, 5 by name; and 5 other markers.
 */
#include <spark/spark.h>

#ifdef __GNUC__
#define MARKER_EXPORT __attribute__((visibility("default")))
#else
#define MARKER_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern struct spark_region marker_shared MARKER_EXPORT;
MARKER_EXPORT void marker_work(int n);
void marker_twice(const char *name);

struct spark_region marker_shared = SPARK_REGION("shared");
static struct spark_region own = SPARK_REGION("own");
static char changing[] = "changing";
static const char array[] = "array";

static __inline__ void named(const char *name)
{
	spark_region_begin(name);
	spark_region_end(name);
}

/* Two scopes in one block; the second name is no literal. */
void marker_twice(const char *name)
{
	SPARK_SCOPE("scope");
	SPARK_SCOPE(name);

	if (name[0] == 'r')
		return;
	spark_frame(name);
}

static void once(void)
{
	void (*begin)(const char *) = &spark_region_begin;

	spark_begin(&marker_shared);
	spark_begin(&own);
	spark_region_begin("literal");
	spark_region_begin(changing);
	spark_region_begin(array);
	spark_region_units("literal", 4096, "B");
	spark_metric("depth", 1.5);
	spark_frame("frame");
	spark_region_end(array);
	spark_region_end(changing);
	spark_region_end("literal");
	spark_end(&own);
	spark_end(&marker_shared);

	if (changing[0])
		spark_region_begin("comma"), spark_region_end("comma");
	else
		spark_region_end("never");
	named("inlined");
	begin("pointer");
	(spark_region_end)("pointer");
	spark_window_begin("window");
	spark_window_part("window", SPARK_MEASURED);
	spark_region_begin("" "joined");
	spark_region_end("" "joined");
	spark_window_end("window");
	marker_twice("return");
}

void marker_work(int n)
{
	while (n-- > 0)
		once();
}

#ifdef __cplusplus
}
#endif
