/* SPDX-License-Identifier: MIT */
/* Paths of regions as text. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/report_build.h"

char *report_path(const struct profile *profile, u32 i)
{
	size_t len = 0;
	char *path, *at;
	u32 k;

	for (k = i; profile->rows[k].parent != PROFILE_NONE; k = profile->rows[k].parent)
		len += profile->names[profile->rows[k].name].len + 1;
	path = malloc(len + 1);
	if (!path || !len)
		return path;
	at = path + len - 1;
	*at = '\0';
	for (k = i; profile->rows[k].parent != PROFILE_NONE; k = profile->rows[k].parent) {
		const struct profile_name *name = &profile->names[profile->rows[k].name];

		at -= name->len;
		memcpy(at, name->bytes, name->len);
		if (at > path)
			*--at = ';';
	}
	return path;
}
