/* SPDX-License-Identifier: MIT */
/* Of each name of a region: of which kinds it is, which objects have the function, and which call it. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/report_build.h"

const char *const report_kind_words[] = {
	[0] = "marker", [WIRE_ORIGIN_CALL] = "call", [WIRE_ORIGIN_INSTRUMENTED] = "instrumented",
	[WIRE_ORIGIN_PROBED] = "uprobe", NULL,
};

static int path_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, each once. */
static size_t paths_sort(const char **paths, size_t n)
{
	size_t kept = 0;

	qsort(paths, n, sizeof(*paths), path_order);
	for (size_t i = 0; i < n; i++)
		if (!kept || strcmp(paths[kept - 1], paths[i]) != 0)
			paths[kept++] = paths[i];
	return kept;
}

/* "a+b"; the numbers of the kinds are those of bits. */
static const char *kinds_text(struct report *report, u32 kinds)
{
	const char *text = NULL;

	for (u32 i = 0; report_kind_words[i]; i++)
		if (kinds & 1u << i)
			text = text ? report_text(report, "%s+%s", text, report_kind_words[i]) : report_kind_words[i];
	return text;
}

/* As PATH has it; NULL: none is known. */
static const char *paths_text(struct report *report, const char **paths, size_t n)
{
	const char *text = NULL;

	for (size_t i = 0; i < n; i++)
		text = text ? report_text(report, "%s:%s", text, paths[i]) : paths[i];
	return text;
}

static int name_order(const void *a, const void *b)
{
	const struct profile_origin *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->kind == WIRE_ORIGIN_PROBED) - (y->kind == WIRE_ORIGIN_PROBED);
}

/* From n origins of one name, of probes or not. */
static int origin_make(struct report *report, const struct profile *profile, const struct profile_origin *all, u32 n)
{
	struct report_origin *o = &report->origins[report->norigins];
	const char **libraries = calloc(n, sizeof(*libraries));
	size_t nlibraries = 0;
	u32 kinds = 0;

	*o = (struct report_origin){ .name = all->name, .probed = all->kind == WIRE_ORIGIN_PROBED, .callers = calloc(n, sizeof(*o->callers)) };
	for (u32 i = 0; libraries && o->callers && i < n; i++) {
		const struct profile_origin *from = &all[i];

		kinds |= 1u << from->kind;
		if (from->library != PROFILE_NONE)
			libraries[nlibraries++] = profile->names[from->library].bytes;
		if (from->caller != PROFILE_NONE)
			o->callers[o->ncallers++] = profile->names[from->caller].bytes;
	}
	report->norigins++;
	if (!libraries || !o->callers) {
		free(libraries);
		return -1;
	}
	o->ncallers = paths_sort(o->callers, o->ncallers);
	o->kind = kinds_text(report, kinds);
	o->library = paths_text(report, libraries, paths_sort(libraries, nlibraries));
	free(libraries);
	return 0;
}

int report_add_origins(struct report *report, const struct profile *profile)
{
	struct profile_origin *all = calloc((size_t)profile->norigins + 1, sizeof(*all));
	u32 first = 0, n;
	int err = 0;

	report->origins = calloc((size_t)profile->norigins + 1, sizeof(*report->origins));
	if (!all || !report->origins) {
		free(all);
		return -1;
	}
	if (profile->norigins) {
		memcpy(all, profile->origins, profile->norigins * sizeof(*all));
		qsort(all, profile->norigins, sizeof(*all), name_order);
	}
	for (; !err && first < profile->norigins; first += n) {
		for (n = 1; first + n < profile->norigins && name_order(&all[first + n], &all[first]) == 0; n++)
			;
		err = origin_make(report, profile, all + first, n);
	}
	free(all);
	return err;
}

const struct report_origin *report_origin_of(const struct report *report, u32 name, bool probed)
{
	size_t low = 0, high = report->norigins;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct report_origin *o = &report->origins[middle];

		if (o->name == name && o->probed == probed)
			return o;
		if (o->name < name || (o->name == name && !o->probed))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

void report_free_origins(struct report *report)
{
	for (size_t i = 0; i < report->norigins; i++)
		free(report->origins[i].callers);
	free(report->origins);
}
