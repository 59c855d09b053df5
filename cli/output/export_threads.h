/* SPDX-License-Identifier: MIT */
/*
 * Call trees by name with a root for each thread, for formats that have a profile of each: which nodes are a
 * thread's, and its samples in the order of time. A thread has the number of its root.
 */
#ifndef CLI_OUTPUT_EXPORT_THREADS_H
#define CLI_OUTPUT_EXPORT_THREADS_H

#include "cli/output/export_tree.h"

struct export_threads {
	struct export_tree tree;
	u32 *threads;                /* by node */
	u32 *node_order, *node_starts; /* nodes by thread */
	u32 *event_order, *event_starts; /* events by thread */
	u32 *rows;                   /* by thread: its last */
};

/* 0, or -1 after a message. Free it in any case. */
int export_threads_build(struct export_threads *threads, const struct exporter *exporter);
void export_threads_free(struct export_threads *threads);

static inline bool export_threads_root(const struct export_threads *threads, u32 node)
{
	return threads->threads[node] == node;
}

#endif
