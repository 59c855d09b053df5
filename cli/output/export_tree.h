/* SPDX-License-Identifier: MIT */
/*
 * Call trees by name, for formats that know no more of a frame: processes or threads as the format has
 * them, regions below, functions below these, inlined ones as others. Nothing is there twice.
 */
#ifndef CLI_OUTPUT_EXPORT_TREE_H
#define CLI_OUTPUT_EXPORT_TREE_H

#include "cli/output/export.h"

struct export_tree {
	const struct exporter *exporter;
	struct samples nodes;        /* names are its strings, nodes its chains */
	u32 *functions, *regions;    /* names, by string; SAMPLES_NONE: not needed yet */
	u32 *objects;                /* by object */
	u32 *rows;                   /* the innermost node of each row of the samples */
};

/* The node that a row stands in, made by export_tree_node(); SAMPLES_NONE: in none. */
typedef u32 export_root(struct export_tree *tree, const struct samples_row *row);

/* 0, or -1 after a message. Free it in any case. */
int export_tree_build(struct export_tree *tree, const struct exporter *exporter, export_root *root);
void export_tree_free(struct export_tree *tree);

/* Finds or makes; name is freed. SAMPLES_NONE when memory is short, and for NULL. */
u32 export_tree_node(struct export_tree *tree, u32 parent, char *name);

static inline u32 export_tree_parent(const struct export_tree *tree, u32 node)
{
	return tree->nodes.chains[node].parent;
}

static inline const struct samples_string *export_tree_name(const struct export_tree *tree, u32 node)
{
	return &tree->nodes.strings[tree->nodes.chains[node].frame];
}

#endif
