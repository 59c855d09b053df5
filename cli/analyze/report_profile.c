/* SPDX-License-Identifier: MIT */
/* The samples of a report, by the regions that it shows. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/report_build.h"

/* The path of a region, its names with semicolons between; to be freed. */
static char *profile_path(const struct samples *samples, u32 region)
{
	const struct samples_string *name;
	size_t length = 0;
	char *path, *at;
	u32 i;

	for (i = region; i != SAMPLES_NONE; i = samples->regions[i].parent)
		length += samples->strings[samples->regions[i].name].length + 1;
	path = malloc(length + 1);
	if (!path)
		return NULL;
	at = path + length - (length > 0);
	*at = '\0';
	for (i = region; i != SAMPLES_NONE; i = samples->regions[i].parent) {
		name = &samples->strings[samples->regions[i].name];
		at -= name->length;
		memcpy(at, name->bytes, name->length);
		if (at > path)
			*--at = ';';
	}
	return path;
}

/* Whether --regions shows it. 1, 0, or -1 when memory is short. */
static int profile_matches(const struct report *report, const struct stacks_part *part)
{
	const struct samples *samples = report->facts->samples;
	const char *globs = report->options.regions;
	char *path;
	int matches;

	if (!globs)
		return 1;
	if (!part->scope.region)
		return 0;
	if (metric_glob(globs, samples->strings[samples->regions[part->scope.region - 1].name].bytes))
		return 1;
	path = profile_path(samples, part->scope.region - 1);
	matches = path ? metric_glob(globs, path) : -1;
	free(path);
	return matches;
}

int report_add_profile(struct report *report)
{
	size_t i, n;
	int matches;

	if (!report->facts->samples || !samples_taken(report->facts->samples))
		return 0;
	report->stacks = stacks_new(report->facts->samples);
	if (!report->stacks ||
	    stacks_parts(report->stacks, report->group != PROFILE_BY_REGION, &report->parts, &n) != 0)
		return -1;
	for (i = 0; i < n; i++) {
		matches = profile_matches(report, &report->parts[i]);
		if (matches < 0)
			return -1;
		if (matches)
			report->parts[report->nparts++] = report->parts[i];
	}
	return 0;
}
