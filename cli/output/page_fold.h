/* SPDX-License-Identifier: MIT */
/*
 * Which nodes of a call tree a page draws by themselves: the heaviest, where there are more than a browser can open
 * at once. What is called by a node and too light is one node below it.
 */
#ifndef CLI_OUTPUT_PAGE_FOLD_H
#define CLI_OUTPUT_PAGE_FOLD_H

#include "cli/output/export_tree.h"

#define PAGE_TOO_SMALL "[too small to draw]"

struct page_fold {
	u32 *shown;                  /* by node: the node of the tree that stands for it */
	u32 *number;                 /* by node: its number among those that are drawn, or SAMPLES_NONE */
	u32 ndrawn;
};

/*
 * Draws at most that many nodes; total has the weight of each of the first n with all below, from page_fold_totals(),
 * and the tree gets nodes behind these. 0, or -1 when memory is short. May be called again to draw fewer.
 */
int page_fold(struct page_fold *fold, struct export_tree *tree, const u64 *total, u32 n, u32 most);
void page_fold_free(struct page_fold *fold);

/* By node, to be freed; NULL when memory is short. */
u64 *page_fold_totals(const struct export_tree *tree);

#endif
