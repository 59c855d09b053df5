/* SPDX-License-Identifier: MIT */
/* Samples by thread; see export_threads.h. */
#include "cli/output/export_threads.h"

#include <stdlib.h>

#include "cli/output/exports.h"

/* The name is nobody's to read, and to be unique. */
static u32 thread_root(struct export_tree *tree, const struct samples_row *row)
{
	char name[32];

	snprintf(name, sizeof(name), "%u/%u", row->pid, row->tid);
	return export_tree_node(tree, SAMPLES_NONE, export_name(name, "", 0));
}

static int threads_room(struct export_threads *threads, u32 nnodes, u32 nevents)
{
	threads->threads = calloc((size_t)nnodes + 1, sizeof(u32));
	threads->rows = calloc((size_t)nnodes + 1, sizeof(u32));
	threads->node_order = calloc((size_t)nnodes + 1, sizeof(u32));
	threads->node_starts = calloc((size_t)nnodes + 2, sizeof(u32));
	threads->event_order = calloc((size_t)nevents + 1, sizeof(u32));
	threads->event_starts = calloc((size_t)nnodes + 2, sizeof(u32));
	return threads->threads && threads->rows && threads->node_order && threads->node_starts &&
	       threads->event_order && threads->event_starts ? 0 : export_no_memory();
}

static int threads_group(struct export_threads *threads, const struct samples *samples)
{
	const struct samples_chain *nodes = threads->tree.nodes.chains;
	u32 nnodes = threads->tree.nodes.nchains, *keys = malloc(((size_t)samples->nevents + 1) * sizeof(*keys)), i;

	if (!keys)
		return export_no_memory();
	for (i = 0; i < nnodes; i++)
		threads->threads[i] = nodes[i].parent == SAMPLES_NONE ? i : threads->threads[nodes[i].parent];
	for (i = 0; i < samples->nrows; i++)
		threads->rows[threads->threads[threads->tree.rows[i]]] = i;
	for (i = 0; i < samples->nevents; i++)
		keys[i] = threads->threads[threads->tree.rows[samples->events[i].row]];
	export_order(threads->threads, nnodes, 0, threads->node_starts, nnodes, threads->node_order);
	export_order(keys, samples->nevents, 0, threads->event_starts, nnodes, threads->event_order);
	free(keys);
	return 0;
}

int export_threads_build(struct export_threads *threads, const struct exporter *exporter)
{
	int err;

	*threads = (struct export_threads){ .threads = NULL };
	err = export_tree_build(&threads->tree, exporter, thread_root);
	err = err ? err : threads_room(threads, threads->tree.nodes.nchains, exporter->samples->nevents);
	return err ? err : threads_group(threads, exporter->samples);
}

void export_threads_free(struct export_threads *threads)
{
	export_tree_free(&threads->tree);
	free(threads->threads);
	free(threads->rows);
	free(threads->node_order);
	free(threads->node_starts);
	free(threads->event_order);
	free(threads->event_starts);
}
