/* SPDX-License-Identifier: MIT */
/* h_plugin.so: a library that is loaded, run and unloaded again and again; see h_loaded.c. */
#include <spark/spark.h>

void plugin_run(void);

void plugin_run(void)
{
	static struct spark_region handle = SPARK_REGION("plugin-aaaa-handle");

	spark_region_begin("plugin-aaaa");
	spark_begin(&handle);
	spark_end(&handle);
	spark_region_end("plugin-aaaa");
}
