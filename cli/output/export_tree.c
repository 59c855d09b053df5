/* SPDX-License-Identifier: MIT */
/* Call trees by name; see export_tree.h. */
#include "cli/output/export_tree.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output/exports.h"

/* ---- names ------------------------------------------------------------------------------------------ */

/* The number of a name, which is freed. */
static u32 tree_name(struct export_tree *tree, char *name)
{
	u32 string = SAMPLES_NONE;

	if (name)
		string = samples_string(&tree->nodes, name, strlen(name));
	else
		tree->nodes.no_memory = true;
	free(name);
	return string;
}

static u32 tree_function(struct export_tree *tree, u32 string)
{
	u32 *name = &tree->functions[string];

	if (*name == SAMPLES_NONE)
		*name = tree_name(tree, export_string_name(tree->exporter, string));
	return *name;
}

static u32 tree_object(struct export_tree *tree, u32 object)
{
	u32 *name = &tree->objects[object];

	if (*name == SAMPLES_NONE)
		*name = tree_name(tree, export_object_name(tree->exporter, object));
	return *name;
}

static u32 tree_region(struct export_tree *tree, u32 string)
{
	const struct samples_string *bytes = &tree->exporter->samples->strings[string];
	u32 *name = &tree->regions[string];

	if (*name == SAMPLES_NONE)
		*name = tree_name(tree, export_name(EXPORT_REGION, bytes->bytes, bytes->length));
	return *name;
}

u32 export_tree_node(struct export_tree *tree, u32 parent, char *name)
{
	return samples_chain(&tree->nodes, parent, tree_name(tree, name));
}

/* ---- nodes ------------------------------------------------------------------------------------------ */

static u32 tree_regions(struct export_tree *tree, u32 parent, u32 region)
{
	const struct samples_region *regions = tree->exporter->samples->regions;

	if (region == SAMPLES_NONE)
		return parent;
	parent = tree_regions(tree, parent, regions[region].parent);
	return samples_chain(&tree->nodes, parent, tree_region(tree, regions[region].name));
}

/* What is around the functions of a row. */
static u32 tree_base(struct export_tree *tree, u32 root, const struct samples_row *row)
{
	u32 base = root;

	if (!tree->exporter->options->no_regions) {
		base = tree_regions(tree, base, row->region);
		if (row->flags & SAMPLES_UNATTRIBUTED)
			base = export_tree_node(tree, base, strdup(EXPORT_NO_REGION));
	}
	if (row->chain == SAMPLES_NONE)
		return export_tree_node(tree, base, strdup(EXPORT_NO_FRAME));
	return row->flags & SAMPLES_TRUNCATED ? export_tree_node(tree, base, strdup(EXPORT_TRUNCATED)) : base;
}

/* The functions of one frame, the one that was called first. */
static u32 tree_frame(struct export_tree *tree, u32 parent, u32 number)
{
	const struct samples *samples = tree->exporter->samples;
	const struct samples_frame *frame = &samples->frames[number];
	u32 i;

	for (i = frame->nlines; i--;) {
		u32 function = samples->lines[frame->first_line + i].function;

		parent = samples_chain(&tree->nodes, parent, function == SAMPLES_NONE ?
				       tree_object(tree, frame->object) : tree_function(tree, function));
	}
	return frame->nlines ? parent : samples_chain(&tree->nodes, parent, tree_object(tree, frame->object));
}

/* What was found last for each chain, and below which base. */
struct tree_memo {
	u32 base, node;
};

/* Most chains of a base have a part in common, which is looked up once. */
static u32 tree_chain(struct export_tree *tree, struct tree_memo *memo, u32 *path, u32 base, u32 chain)
{
	const struct samples_chain *chains = tree->exporter->samples->chains;
	u32 n = 0, node = base;

	for (; chain != SAMPLES_NONE && memo[chain].base != base + 1; chain = chains[chain].parent)
		path[n++] = chain;
	if (chain != SAMPLES_NONE)
		node = memo[chain].node;
	while (n--) {
		node = tree_frame(tree, node, chains[path[n]].frame);
		memo[path[n]] = (struct tree_memo){ base + 1, node };
	}
	return node;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static void tree_rows(struct export_tree *tree, u32 *order, struct tree_memo *memo, u32 *path)
{
	const struct samples *samples = tree->exporter->samples;
	u32 i;

	for (i = 0; i < samples->nrows && !tree->nodes.no_memory; i++)
		if (samples->rows[order[i]].chain != SAMPLES_NONE)
			tree->rows[order[i]] = tree_chain(tree, memo, path, tree->rows[order[i]],
							  samples->rows[order[i]].chain);
}

/* tree->rows has bases when it begins. */
static void tree_descend(struct export_tree *tree)
{
	const struct samples *samples = tree->exporter->samples;
	u32 nbases = tree->nodes.nchains + 1;
	u32 *order = calloc((size_t)samples->nrows + 1, sizeof(*order));
	u32 *starts = calloc((size_t)nbases + 2, sizeof(*starts));
	u32 *path = calloc((size_t)samples->nchains + 1, sizeof(*path));
	struct tree_memo *memo = calloc((size_t)samples->nchains + 1, sizeof(*memo));

	if (order && starts && path && memo) {
		/* SAMPLES_NONE becomes 0. */
		export_order(tree->rows, samples->nrows, 1, starts, nbases, order);
		memset(memo, 0xff, ((size_t)samples->nchains + 1) * sizeof(*memo));
		tree_rows(tree, order, memo, path);
	} else {
		tree->nodes.no_memory = true;
	}
	free(order);
	free(starts);
	free(path);
	free(memo);
}

static u32 *tree_names(size_t n)
{
	u32 *names = malloc((n + 1) * sizeof(*names));

	return names ? memset(names, 0xff, (n + 1) * sizeof(*names)) : NULL;
}

int export_tree_build(struct export_tree *tree, const struct exporter *exporter, export_root *root)
{
	const struct samples *samples = exporter->samples;
	u32 i;

	*tree = (struct export_tree){ .exporter = exporter };
	samples_init(&tree->nodes);
	tree->functions = tree_names(samples->nstrings);
	tree->regions = tree_names(samples->nstrings);
	tree->objects = tree_names(samples->nobjects);
	tree->rows = tree_names(samples->nrows);
	if (!tree->functions || !tree->regions || !tree->objects || !tree->rows)
		return export_no_memory();
	for (i = 0; i < samples->nrows && !tree->nodes.no_memory; i++)
		tree->rows[i] = tree_base(tree, root(tree, &samples->rows[i]), &samples->rows[i]);
	if (!tree->nodes.no_memory)
		tree_descend(tree);
	return tree->nodes.no_memory ? export_no_memory() : 0;
}

void export_tree_free(struct export_tree *tree)
{
	samples_fini(&tree->nodes);
	free(tree->functions);
	free(tree->regions);
	free(tree->objects);
	free(tree->rows);
}
