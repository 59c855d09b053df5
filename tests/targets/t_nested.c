/* SPDX-License-Identifier: MIT */
/*
 * t_nested [N]: N times a{ b{ c{} c{} c{} } b{ c{} } d{} }, each region by another form of marker.
 */
#include "target.h"

static struct spark_region region_a = SPARK_REGION("a");

static void c(void)
{
	SPARK_SCOPE("c");
}

static void b(int times)
{
	spark_region_begin("b");
	while (times--)
		c();
	spark_region_end("b");
}

static void d(const char *name)
{
	char copy[8];

	/* A name that is gone after the call: only a copy of it may be kept. */
	snprintf(copy, sizeof(copy), "%s", name);
	spark_region_begin(copy);
	spark_region_end(copy);
	memset(copy, 'x', sizeof(copy));
}

int main(int argc, char **argv)
{
	int64_t i, n = target_arg(argc, argv, 1, 1000);

	for (i = 0; i < n; i++) {
		spark_begin(&region_a);
		b(3);
		b(1);
		d("d");
		spark_end(&region_a);
	}
	target_region("a", n);
	target_region("a;b", 2 * n);
	target_region("a;b;c", 4 * n);
	target_region("a;d", n);
	return 0;
}
