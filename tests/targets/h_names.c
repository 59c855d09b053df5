/* SPDX-License-Identifier: MIT */
/*
 * h_names: reads names, each ended by a NUL, from its standard input; name i is used 1 + i % 3 times,
 * every second time by a handle.
 */
#include "target.h"

#define MOST (4 << 20)

int main(void)
{
	char *all = malloc(MOST + 1), *name;
	struct spark_region *handle;
	size_t size = 0;
	ssize_t got;
	int i, k;

	while (size < MOST && (got = read(0, all + size, MOST - size)) > 0)
		size += (size_t)got;
	all[size] = '\0';
	for (i = 0, name = all; name < all + size; i++, name += strlen(name) + 1) {
		handle = calloc(1, sizeof(*handle));
		handle->name = name;
		for (k = 0; k < 1 + i % 3; k++) {
			if (k % 2) {
				spark_begin(handle);
				spark_end(handle);
			} else {
				spark_region_begin(name);
				spark_region_end(name);
			}
		}
	}
	return 0;
}
