/* SPDX-License-Identifier: MIT */
/* See profiled.h. */
#include "cli/cmd/profiled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"

enum { NEAR_MOST = 3 };

/* Names that have the word in them, or that end with it in front of their arguments. */
static int profiled_unknown(const struct samples *samples, const char *path, const char *word)
{
	char near[300] = "";
	bool *seen = calloc((size_t)samples->nstrings + 1, sizeof(*seen));
	u32 i, n = 0;

	for (i = 0; seen && i < samples->nlines && n < NEAR_MOST; i++) {
		u32 name = samples->lines[i].function;
		size_t len = strlen(near);

		if (name == SAMPLES_NONE || seen[name] || !*word || !strstr(samples->strings[name].bytes, word))
			continue;
		seen[name] = true;
		snprintf(near + len, sizeof(near) - len, "%s'%.80s'", n++ ? ", " : "", samples->strings[name].bytes);
	}
	free(seen);
	if (n)
		return error("%s has no samples in a function '%s'; near it: %s", path, word, near);
	return error("%s has no samples in a function '%s'; see sparkctl report --profile", path, word);
}

int profiled_check(const struct recording *recording, const char *path, const char *function)
{
	const struct samples *samples = recording->facts.samples;
	u32 i;

	if (!samples || !samples_taken(samples))
		return error("%s has no samples: it was not recorded with run --profile", path);
	for (i = 0; function && i < samples->nlines; i++)
		if (samples->lines[i].function != SAMPLES_NONE &&
		    !strcmp(samples->strings[samples->lines[i].function].bytes, function))
			return 0;
	return function ? profiled_unknown(samples, path, function) : 0;
}
