/* SPDX-License-Identifier: MIT */
/* Choosing what lies in some regions; see inside.h. */
#define _GNU_SOURCE
#include "cli/analyze/inside.h"

#include <stdlib.h>
#include <string.h>

#include "cli/analyze/profile_build.h"
#include "cli/log.h"

/* Names of a path from its end; moves on to the region around. False: there is none any more. */
typedef bool (*inside_name)(const void *paths, u32 *at, const char **bytes, size_t *len);

static bool name_of_row(const void *paths, u32 *at, const char **bytes, size_t *len)
{
	const struct profile *profile = paths;
	const struct profile_row *row = &profile->rows[*at];

	if (row->parent == PROFILE_NONE)
		return false;
	*bytes = profile->names[row->name].bytes;
	*len = profile->names[row->name].len;
	*at = row->parent;
	return true;
}

static bool name_of_sampled(const void *paths, u32 *at, const char **bytes, size_t *len)
{
	const struct samples *samples = paths;
	const struct samples_region *region;

	if (*at == SAMPLES_NONE)
		return false;
	region = &samples->regions[*at];
	*bytes = samples->strings[region->name].bytes;
	*len = samples->strings[region->name].length;
	*at = region->parent;
	return true;
}

/* The path ends with that of the text. */
static bool path_ends(const char *text, inside_name name, const void *paths, u32 at)
{
	const char *bytes, *end = text + strlen(text), *cut;
	size_t len;

	while (name(paths, &at, &bytes, &len)) {
		/* A name may have semicolons of its own. */
		if (len == (size_t)(end - text) && !memcmp(bytes, text, len))
			return true;
		cut = memrchr(text, ';', (size_t)(end - text));
		if (!cut || len != (size_t)(end - cut - 1) || memcmp(bytes, cut + 1, len) != 0)
			return false;
		end = cut;
	}
	return false;
}

static bool path_chosen(const struct inside *inside, inside_name name, const void *paths, u32 at)
{
	for (size_t i = 0; i < inside->n; i++)
		if (path_ends(inside->region[i], name, paths, at))
			return true;
	return false;
}

bool inside_sampled(const struct inside *inside, const struct samples *samples, u32 region)
{
	for (; region != SAMPLES_NONE; region = samples->regions[region].parent)
		if (path_chosen(inside, name_of_sampled, samples, region))
			return true;
	return false;
}

/* What stands around a region that is kept has no figures. */
static void row_empty(struct profile_row *row)
{
	for (u32 k = 0; k < WIRE_HIST_OCTAVES; k++)
		free(row->hist.octave[k]);
	free(row->cells);
	*row = (struct profile_row){
		.parent = row->parent, .name = row->name, .process = row->process, .pid = row->pid, .tid = row->tid,
		.depth = row->depth, .min = ~0ULL, .unit = PROFILE_NONE, .values = row->values,
	};
}

/* Of frames still open, which have no path, those whose region is open inside. */
static void opens_keep(struct profile *profile, const bool *keep)
{
	bool *open = calloc((size_t)profile->nnames + 1, sizeof(*open));
	u32 n = 0;

	for (u32 i = 0; open && i < profile->nrows; i++)
		if (keep[i] && profile->rows[i].open)
			open[profile->rows[i].name] = true;
	for (u32 i = 0; open && i < profile->nopens; i++)
		if (open[profile->opens[i].name])
			profile->opens[n++] = profile->opens[i];
	profile->nopens = n;
	free(open);
}

static double rows_keep(const struct inside *inside, struct profile *profile, bool *keep, u64 *calls)
{
	double finished = 0;

	*calls = 0;
	for (u32 i = 0; i < profile->nrows; i++) {
		struct profile_row *row = &profile->rows[i];

		keep[i] = row->parent != PROFILE_NONE &&
			  (keep[row->parent] || path_chosen(inside, name_of_row, profile, i));
		if (!keep[i]) {
			row_empty(row);
			continue;
		}
		*calls += row->calls + row->open;
		finished += (double)row->calls;
	}
	return finished;
}

int inside_keep(const struct inside *inside, struct profile *profile, u64 *calls)
{
	bool *keep = calloc((size_t)profile->nrows + 1, sizeof(*keep));
	struct profile kept;
	double finished;
	int err;

	profile_init(&kept, profile->group);
	kept.threads_most = profile->threads_most;
	if (!keep)
		return error("out of memory for the regions");
	finished = rows_keep(inside, profile, keep, calls);
	for (u32 i = 0; i < profile->nvalues; i++)
		if (!keep[profile->values[i].row])
			profile->values[i].count = 0;
	opens_keep(profile, keep);
	profile->nwindows = 0;
	profile->pair_cost *= profile->pairs > 0 ? MIN(finished / profile->pairs, 1) : 0;
	profile->pairs = finished;
	err = profile_merge_rows(&kept, profile, keep);
	free(keep);
	if (err) {
		profile_fini(&kept);
		return -1;
	}
	profile_fini(profile);
	*profile = kept;
	return 0;
}
