/* SPDX-License-Identifier: MIT */
/* See page_fold.h. */
#include "cli/output/page_fold.h"

#include <stdlib.h>
#include <string.h>

u64 *page_fold_totals(const struct export_tree *tree)
{
	const struct samples *samples = tree->exporter->samples;
	u64 *total = calloc((size_t)tree->nodes.nchains + 1, sizeof(*total));
	u32 i;

	if (!total)
		return NULL;
	for (i = 0; i < samples->nrows; i++)
		total[tree->rows[i]] += samples->rows[i].weight;
	/* Who calls is made before what he calls. */
	for (i = tree->nodes.nchains; i--;)
		if (export_tree_parent(tree, i) != SAMPLES_NONE)
			total[export_tree_parent(tree, i)] += total[i];
	return total;
}

static int heavier(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Only what is heavier is drawn by itself: half of what may be drawn, since each may call what is too light. */
static int light_most(const u64 *total, u32 n, u32 most, u64 *light)
{
	u64 *sorted = malloc(((size_t)n + 1) * sizeof(*sorted));

	if (!sorted)
		return -1;
	memcpy(sorted, total, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), heavier);
	*light = sorted[most / 2];
	free(sorted);
	return 0;
}

/* The nodes that stand for the first n. */
static void shown_find(struct page_fold *fold, struct export_tree *tree, const u64 *total, u32 n, u64 light)
{
	for (u32 i = 0; i < n && !tree->nodes.no_memory; i++) {
		u32 parent = export_tree_parent(tree, i), above = parent == SAMPLES_NONE ? parent : fold->shown[parent];

		if (total[i] > light)
			fold->shown[i] = i;
		else if (above != parent)
			fold->shown[i] = above;
		else
			fold->shown[i] = export_tree_node(tree, parent, strdup(PAGE_TOO_SMALL));
	}
}

static int numbers_give(struct page_fold *fold, const struct export_tree *tree, u32 n)
{
	size_t size = ((size_t)tree->nodes.nchains + 1) * sizeof(*fold->number);
	u32 i;

	free(fold->number);
	fold->number = malloc(size);
	if (!fold->number)
		return -1;
	memset(fold->number, 0xff, size);
	for (i = 0; i < n; i++)
		fold->number[fold->shown[i]] = 0;
	for (i = fold->ndrawn = 0; i < tree->nodes.nchains; i++)
		if (fold->number[i] != SAMPLES_NONE)
			fold->number[i] = fold->ndrawn++;
	return 0;
}

int page_fold(struct page_fold *fold, struct export_tree *tree, const u64 *total, u32 n, u32 most)
{
	u64 light;

	free(fold->shown);
	fold->shown = malloc(((size_t)n + 1) * sizeof(*fold->shown));
	if (!fold->shown)
		return -1;
	if (n > most) {
		if (light_most(total, n, most, &light))
			return -1;
		shown_find(fold, tree, total, n, light);
	} else {
		for (u32 i = 0; i < n; i++)
			fold->shown[i] = i;
	}
	return tree->nodes.no_memory ? -1 : numbers_give(fold, tree, n);
}

void page_fold_free(struct page_fold *fold)
{
	free(fold->shown);
	free(fold->number);
}
