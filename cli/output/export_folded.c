/* SPDX-License-Identifier: MIT */
/*
 * The format folded: "[region] parse;main;lookup 42", a line for each stack, outermost first, and the
 * number of samples in it or their sum. flamegraph.pl, speedscope and the Firefox profiler read it.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/output/export_tree.h"
#include "cli/output/exports.h"

#define FOLDED_PROCESS "[process] "
#define FOLDED_THREAD "[thread] "

/* A front, a name, which is freed, and a number behind it. */
static char *folded_numbered(const char *front, char *name, u32 number)
{
	size_t size = name ? strlen(front) + strlen(name) + 16 : 0;
	char *numbered = name ? malloc(size) : NULL;

	if (numbered)
		snprintf(numbered, size, "%s%s%u", front, name, number);
	free(name);
	return numbered;
}

static char *folded_process(const struct exporter *exporter, const struct samples_row *row)
{
	char *name = export_process_name(export_process(exporter, row->process), row->pid), *spaced;

	spaced = name ? realloc(name, strlen(name) + 2) : NULL;
	if (!spaced) {
		free(name);
		return NULL;
	}
	return folded_numbered(FOLDED_PROCESS, strcat(spaced, " "), row->pid);
}

static u32 folded_root(struct export_tree *tree, const struct samples_row *row)
{
	enum profile_group group = tree->exporter->options->group;
	u32 root;

	if (group == PROFILE_BY_REGION)
		return SAMPLES_NONE;
	root = export_tree_node(tree, SAMPLES_NONE, folded_process(tree->exporter, row));
	if (group == PROFILE_BY_THREAD)
		root = export_tree_node(tree, root, folded_numbered(FOLDED_THREAD, strdup(""), row->tid));
	return root;
}

/* A semicolon in a name would be another frame. */
static void folded_clean(struct export_tree *tree)
{
	u32 i;

	for (i = 0; i < tree->nodes.nstrings; i++)
		export_colons(tree->nodes.strings[i].bytes);
}

static void folded_line(const struct export_tree *tree, u32 node, u64 weight, u32 *path)
{
	FILE *file = tree->exporter->file;
	u32 n = 0;

	for (; node != SAMPLES_NONE; node = export_tree_parent(tree, node))
		path[n++] = node;
	while (n--) {
		const struct samples_string *name = export_tree_name(tree, path[n]);

		fwrite_unlocked(name->bytes, 1, name->length, file);
		putc_unlocked(n ? ';' : ' ', file);
	}
	fprintf(file, "%llu\n", (unsigned long long)weight);
}

static void folded_lines(const struct export_tree *tree, u64 *weights, u32 *path)
{
	const struct exporter *exporter = tree->exporter;
	u32 i;

	for (i = 0; i < exporter->samples->nrows; i++)
		weights[tree->rows[i]] += exporter->options->weight == EXPORT_TIME ?
			exporter->samples->rows[i].weight : exporter->samples->rows[i].count;
	for (i = 0; i < tree->nodes.nchains && !ferror(exporter->file); i++)
		if (weights[i])
			folded_line(tree, i, weights[i], path);
}

int folded_export(const struct exporter *exporter)
{
	struct export_tree tree;
	u64 *weights = NULL;
	u32 *path = NULL;
	int err = export_tree_build(&tree, exporter, folded_root);

	if (!err) {
		folded_clean(&tree);
		weights = calloc((size_t)tree.nodes.nchains + 1, sizeof(*weights));
		path = calloc((size_t)tree.nodes.nchains + 1, sizeof(*path));
		if (weights && path)
			folded_lines(&tree, weights, path);
		else
			err = export_no_memory();
	}
	free(weights);
	free(path);
	export_tree_free(&tree);
	return err;
}
