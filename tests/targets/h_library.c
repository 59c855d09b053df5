/* SPDX-License-Identifier: MIT */
/* h_library.so: a library with markers in its constructor and destructor; see h_loaded.c. */
#include <spark/spark.h>

static void pairs(const char *name)
{
	int i;

	for (i = 0; i < 10; i++) {
		spark_region_begin(name);
		spark_region_end(name);
	}
}

__attribute__((constructor)) static void library_begin(void)
{
	pairs("library-constructor");
	spark_region_begin("library-literal");
	spark_region_end("library-literal");
}

__attribute__((destructor)) static void library_end(void)
{
	pairs("library-destructor");
}
