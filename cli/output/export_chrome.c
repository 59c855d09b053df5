/* SPDX-License-Identifier: MIT */
/*
 * The format chrome: trace events, with a sampling profile of each thread in the form in which Chrome
 * writes those of its JavaScript engine (Profile, ProfileChunk). Perfetto, the Firefox profiler,
 * speedscope and Chrome read it. Chunks are small, since readers look for the end of each.
 *
 * Nodes have numbers of their own over all threads, without gaps: the Firefox profiler needs both.
 */
#include <stdlib.h>

#include "cli/output/chrome.h"
#include "cli/output/export_tree.h"
#include "cli/output/exports.h"

#define CHROME_CATEGORY "disabled-by-default-v8.cpu_profiler"
#define CHROME_CHUNK 2000

/* Threads have the number of their root node. */
struct profiles {
	struct chrome chrome;
	struct export_tree tree;
	u32 *threads;                /* by node */
	u32 *node_order, *node_starts; /* nodes by thread */
	u32 *event_order, *event_starts; /* events by thread */
	u32 *rows;                   /* by thread: its last */
};

/* The name is to be unique: "(root)" is what everybody reads. */
static u32 chrome_root(struct export_tree *tree, const struct samples_row *row)
{
	char thread[32];

	snprintf(thread, sizeof(thread), "%u/%u", row->pid, row->tid);
	return export_tree_node(tree, SAMPLES_NONE, export_name(thread, "", 0));
}

/* ---- what belongs to a thread ----------------------------------------------------------------------- */

static int profiles_room(struct profiles *profiles, u32 nnodes, u32 nevents)
{
	profiles->threads = calloc((size_t)nnodes + 1, sizeof(u32));
	profiles->rows = calloc((size_t)nnodes + 1, sizeof(u32));
	profiles->node_order = calloc((size_t)nnodes + 1, sizeof(u32));
	profiles->node_starts = calloc((size_t)nnodes + 2, sizeof(u32));
	profiles->event_order = calloc((size_t)nevents + 1, sizeof(u32));
	profiles->event_starts = calloc((size_t)nnodes + 2, sizeof(u32));
	return profiles->threads && profiles->rows && profiles->node_order && profiles->node_starts &&
	       profiles->event_order && profiles->event_starts ? 0 : export_no_memory();
}

static int profiles_group(struct profiles *profiles, const struct samples *samples)
{
	const struct samples_chain *nodes = profiles->tree.nodes.chains;
	u32 nnodes = profiles->tree.nodes.nchains, *keys = malloc(((size_t)samples->nevents + 1) * sizeof(*keys)), i;

	if (!keys)
		return export_no_memory();
	for (i = 0; i < nnodes; i++)
		profiles->threads[i] = nodes[i].parent == SAMPLES_NONE ? i : profiles->threads[nodes[i].parent];
	for (i = 0; i < samples->nrows; i++)
		profiles->rows[profiles->threads[profiles->tree.rows[i]]] = i;
	for (i = 0; i < samples->nevents; i++)
		keys[i] = profiles->threads[profiles->tree.rows[samples->events[i].row]];
	export_order(profiles->threads, nnodes, 0, profiles->node_starts, nnodes, profiles->node_order);
	export_order(keys, samples->nevents, 0, profiles->event_starts, nnodes, profiles->event_order);
	free(keys);
	return 0;
}

/* ---- events ----------------------------------------------------------------------------------------- */

static int profiles_names(struct profiles *profiles, const struct exporter *exporter)
{
	u32 node;

	for (node = 0; node < profiles->tree.nodes.nchains; node++) {
		const struct samples_row *row = &exporter->samples->rows[profiles->rows[node]];
		char *name;

		if (profiles->threads[node] != node)
			continue;
		name = export_process_name(export_process(exporter, row->process), row->pid);
		if (!name)
			return export_no_memory();
		chrome_name(&profiles->chrome, "process_name", row->pid, row->pid, name);
		chrome_name(&profiles->chrome, "thread_name", row->pid, row->tid, name);
		free(name);
	}
	return 0;
}

static void profile_event(struct profiles *profiles, const char *name, u32 thread, const struct samples_row *row,
			  u64 time_ns)
{
	chrome_event(&profiles->chrome, 'P', name, CHROME_CATEGORY, row->pid, row->tid, time_ns);
	fprintf(profiles->chrome.file, ",\"id\":\"0x%x\",\"args\":{\"data\":{", thread + 1);
}

static void profile_event_end(struct profiles *profiles)
{
	fputs("}}", profiles->chrome.file);
	chrome_event_end(&profiles->chrome);
}

static void profile_node(struct profiles *profiles, u32 node, bool more)
{
	const struct samples_string *name = export_tree_name(&profiles->tree, node);
	FILE *file = profiles->chrome.file;
	u32 parent = export_tree_parent(&profiles->tree, node);

	fprintf(file, "%s{\"id\":%u,", more ? "," : "", node + 1);
	if (parent != SAMPLES_NONE)
		fprintf(file, "\"parent\":%u,", parent + 1);
	fputs("\"callFrame\":{\"functionName\":", file);
	if (parent != SAMPLES_NONE)
		chrome_string(&profiles->chrome, name->bytes, name->length);
	else
		fputs("\"(root)\"", file);
	fputs(",\"scriptId\":0}}", file);
}

static void profile_nodes(struct profiles *profiles, u32 thread, const struct samples_row *row)
{
	u32 i = profiles->node_starts[thread], end = profiles->node_starts[thread + 1], n;

	while (i < end) {
		profile_event(profiles, "ProfileChunk", thread, row, 0);
		fputs("\"cpuProfile\":{\"nodes\":[", profiles->chrome.file);
		for (n = 0; n < CHROME_CHUNK && i < end; n++, i++)
			profile_node(profiles, profiles->node_order[i], n);
		fputs("],\"samples\":[]},\"timeDeltas\":[]", profiles->chrome.file);
		profile_event_end(profiles);
	}
}

/* Differences are whole microseconds, of times that were cut: so nothing adds up. */
static void profile_chunk(struct profiles *profiles, const struct samples *samples, u32 thread, u32 i, u32 end)
{
	FILE *file = profiles->chrome.file;
	const struct samples_event *first = &samples->events[profiles->event_order[i]];
	u64 before_us = i > profiles->event_starts[thread] ?
		samples->events[profiles->event_order[i - 1]].time_ns / 1000 : 0;
	u32 k;

	profile_event(profiles, "ProfileChunk", thread, &samples->rows[first->row], first->time_ns);
	fputs("\"cpuProfile\":{\"samples\":[", file);
	for (k = i; k < end; k++)
		fprintf(file, "%s%u", k > i ? "," : "",
			profiles->tree.rows[samples->events[profiles->event_order[k]].row] + 1);
	fputs("]},\"timeDeltas\":[", file);
	for (k = i; k < end; k++) {
		u64 us = samples->events[profiles->event_order[k]].time_ns / 1000;

		fprintf(file, "%s%llu", k > i ? "," : "", (unsigned long long)(us - before_us));
		before_us = us;
	}
	fprintf(file, "],\"endTime\":%llu", (unsigned long long)before_us);
	profile_event_end(profiles);
}

static void profile_thread(struct profiles *profiles, const struct samples *samples, u32 thread)
{
	const struct samples_row *row = &samples->rows[profiles->rows[thread]];
	u32 i = profiles->event_starts[thread], end = profiles->event_starts[thread + 1];

	profile_event(profiles, "Profile", thread, row, 0);
	fputs("\"startTime\":0", profiles->chrome.file);
	profile_event_end(profiles);
	profile_nodes(profiles, thread, row);
	for (; i < end; i += MIN(CHROME_CHUNK, end - i))
		profile_chunk(profiles, samples, thread, i, i + MIN(CHROME_CHUNK, end - i));
}

static int profiles_write(struct profiles *profiles, const struct exporter *exporter)
{
	u32 node;
	int err;

	chrome_begin(&profiles->chrome, exporter->file);
	err = profiles_names(profiles, exporter);
	for (node = 0; node < profiles->tree.nodes.nchains && !err && !ferror(exporter->file); node++)
		if (profiles->threads[node] == node)
			profile_thread(profiles, exporter->samples, node);
	chrome_end(&profiles->chrome);
	return err;
}

int chrome_export(const struct exporter *exporter)
{
	struct profiles profiles = { .chrome = { .file = NULL } };
	int err = export_tree_build(&profiles.tree, exporter, chrome_root);

	err = err ? err : profiles_room(&profiles, profiles.tree.nodes.nchains, exporter->samples->nevents);
	err = err ? err : profiles_group(&profiles, exporter->samples);
	err = err ? err : profiles_write(&profiles, exporter);
	export_tree_free(&profiles.tree);
	free(profiles.threads);
	free(profiles.rows);
	free(profiles.node_order);
	free(profiles.node_starts);
	free(profiles.event_order);
	free(profiles.event_starts);
	return err;
}
