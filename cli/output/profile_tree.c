/* SPDX-License-Identifier: MIT */
/*
 * The table of calls. A function that is all that its caller calls stands below it without being
 * indented: most of a stack is one long path.
 */
#include "cli/output/profile_tree.h"

#include <stdlib.h>
#include <string.h>

enum { TREE_LEVELS_MAX = 256, TREE_LEAST_PERMILLE = 5, TREE_OTHERS = 26 };

/* How a node is drawn. */
struct tree_mark {
	u32 children;                /* that are shown */
	u32 level;
	bool shown;
	bool last;                   /* of those that its caller calls */
	bool closed;                 /* the last one that it calls was met */
};

struct tree {
	const struct lines *lines;
	const struct stacks_node *nodes;
	struct tree_mark *marks;     /* the one behind the last: of all that nobody calls */
	size_t n;
	size_t levels;               /* drawn; deeper ones give their level as a number */
	bool more[TREE_LEVELS_MAX];
};

static struct tree_mark *tree_parent(struct tree *tree, size_t i)
{
	return &tree->marks[tree->nodes[i].parent == SAMPLES_NONE ? tree->n : tree->nodes[i].parent];
}

/* Which nodes are shown; how many are not. */
static size_t tree_choose(struct tree *tree, const struct stacks_sum *of)
{
	bool all = tree->lines->options->verbose > 0;
	size_t i, left_out = 0;

	tree->marks[tree->n].shown = true;
	for (i = 0; i < tree->n; i++) {
		struct tree_mark *mark = &tree->marks[i], *parent = tree_parent(tree, i);

		mark->shown = parent->shown &&
			      (all || lines_share(&tree->nodes[i].total, of) * 10 >= TREE_LEAST_PERMILLE);
		parent->children += mark->shown;
		left_out += !mark->shown;
	}
	return left_out;
}

/* Levels, and who is the last one below its caller: the first met from behind. */
static void tree_arrange(struct tree *tree)
{
	size_t i;

	for (i = 0; i < tree->n; i++)
		tree->marks[i].level = tree_parent(tree, i)->level + (tree_parent(tree, i)->children > 1);
	for (i = tree->n; i--;)
		if (tree->marks[i].shown) {
			tree->marks[i].last = !tree_parent(tree, i)->closed;
			tree_parent(tree, i)->closed = true;
		}
}

static void tree_indent(struct tree *tree, size_t i, bool branch, bool last, char *out, size_t size)
{
	bool utf8 = tree->lines->options->utf8;
	u32 level = MIN(tree->marks[i].level, (u32)TREE_LEVELS_MAX - 1), k;
	const char *mark;
	size_t length = 0;

	out[0] = '\0';
	if (branch)
		tree->more[level] = !last;
	if (level > tree->levels) {
		snprintf(out, size, "%s%u ", utf8 ? "…" : "..", level);
		return;
	}
	for (k = 1; k <= level; k++) {
		mark = !tree->more[k] ? "  " : utf8 ? "│ " : "| ";
		if (k == level && branch)
			mark = last ? (utf8 ? "└ " : "`-") : utf8 ? "├ " : "|-";
		length += (size_t)snprintf(out + length, size - length, "%s", mark);
	}
}

static int tree_row(struct tree *tree, struct grid *grid, size_t i, size_t row, const struct stacks_sum *of)
{
	char indent[256], self[32], total[32], samples[32];

	tree_indent(tree, i, tree_parent(tree, i)->children > 1, tree->marks[i].last, indent, sizeof(indent));
	snprintf(self, sizeof(self), "%.1f", lines_share(&tree->nodes[i].self, of));
	snprintf(total, sizeof(total), "%.1f", lines_share(&tree->nodes[i].total, of));
	snprintf(samples, sizeof(samples), "%llu", (unsigned long long)tree->nodes[i].total.count);
	return profile_name(tree->lines, grid, row, indent, TREE_OTHERS, tree->nodes[i].function) ||
	       grid_set_cell(grid, row, 0, total) || grid_set_cell(grid, row, 1, self) ||
	       grid_set_cell(grid, row, 2, samples) ? -1 : 0;
}

static int tree_fill(struct tree *tree, struct grid *grid, const struct stacks_sum *of)
{
	static const char *const titles[] = { "total %", "self %", "samples" };
	size_t i, row = 0, c;

	for (c = 0; c < ARRAY_SIZE(titles); c++) {
		if (grid_set_title(grid, c, titles[c]) != 0)
			return -1;
		grid->columns[c].importance = (unsigned int)(ARRAY_SIZE(titles) - c);
	}
	for (i = 0; i < tree->n; i++)
		if (tree->marks[i].shown && tree_row(tree, grid, i, row++, of) != 0)
			return -1;
	return 0;
}

static void tree_print(const struct tree *tree, struct grid *grid, size_t left_out)
{
	fputc('\n', tree->lines->file);
	grid_print(tree->lines->file, grid, tree->lines->options->width, tree->lines->options->color);
	if (left_out)
		fprintf(tree->lines->file, "and %zu more call%s below 0.5 %%; -v shows all\n", left_out,
			left_out == 1 ? "" : "s");
}

int profile_tree_print(const struct lines *lines, const struct stacks_scope *scope, const char *title,
		       const struct stacks_sum *of)
{
	size_t width = lines->options->width, left_out;
	struct tree tree = { .lines = lines, .levels = width ? MAX(width / 8, (size_t)3) : GRID_NAME_MAX / 4 };
	struct stacks_node *nodes;
	struct grid grid = { .nrows = 0 };
	int err = stacks_tree(lines->report->stacks, scope, &nodes, &tree.n);

	tree.nodes = nodes;
	tree.levels = MIN(tree.levels, (size_t)GRID_NAME_MAX / 4);
	tree.marks = err ? NULL : calloc(tree.n + 1, sizeof(*tree.marks));
	if (tree.marks) {
		left_out = tree_choose(&tree, of);
		tree_arrange(&tree);
		err = grid_init(&grid, title, tree.n - left_out, 3) || tree_fill(&tree, &grid, of) ? -1 : 0;
		if (!err)
			tree_print(&tree, &grid, left_out);
		grid_fini(&grid);
	}
	err = tree.marks ? err : -1;
	free(tree.marks);
	free(nodes);
	return err;
}
