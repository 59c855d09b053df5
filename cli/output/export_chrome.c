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
#include "cli/output/export_threads.h"
#include "cli/output/exports.h"

#define CHROME_CATEGORY "disabled-by-default-v8.cpu_profiler"
#define CHROME_CHUNK 2000

struct profiles {
	struct chrome chrome;
	struct export_threads by;
};

/* ---- events ----------------------------------------------------------------------------------------- */

static int profiles_names(struct profiles *profiles, const struct exporter *exporter)
{
	u32 node;

	for (node = 0; node < profiles->by.tree.nodes.nchains; node++) {
		const struct samples_row *row = &exporter->samples->rows[profiles->by.rows[node]];
		char *name;

		if (!export_threads_root(&profiles->by, node))
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
	const struct samples_string *name = export_tree_name(&profiles->by.tree, node);
	FILE *file = profiles->chrome.file;
	u32 parent = export_tree_parent(&profiles->by.tree, node);

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
	u32 i = profiles->by.node_starts[thread], end = profiles->by.node_starts[thread + 1], n;

	while (i < end) {
		profile_event(profiles, "ProfileChunk", thread, row, 0);
		fputs("\"cpuProfile\":{\"nodes\":[", profiles->chrome.file);
		for (n = 0; n < CHROME_CHUNK && i < end; n++, i++)
			profile_node(profiles, profiles->by.node_order[i], n);
		fputs("],\"samples\":[]},\"timeDeltas\":[]", profiles->chrome.file);
		profile_event_end(profiles);
	}
}

/* Differences are whole microseconds, of times that were cut: so nothing adds up. */
static void profile_chunk(struct profiles *profiles, const struct samples *samples, u32 thread, u32 i, u32 end)
{
	FILE *file = profiles->chrome.file;
	const struct samples_event *first = &samples->events[profiles->by.event_order[i]];
	u64 before_us = i > profiles->by.event_starts[thread] ?
		samples->events[profiles->by.event_order[i - 1]].time_ns / 1000 : 0;
	u32 k;

	profile_event(profiles, "ProfileChunk", thread, &samples->rows[first->row], first->time_ns);
	fputs("\"cpuProfile\":{\"samples\":[", file);
	for (k = i; k < end; k++)
		fprintf(file, "%s%u", k > i ? "," : "",
			profiles->by.tree.rows[samples->events[profiles->by.event_order[k]].row] + 1);
	fputs("]},\"timeDeltas\":[", file);
	for (k = i; k < end; k++) {
		u64 us = samples->events[profiles->by.event_order[k]].time_ns / 1000;

		fprintf(file, "%s%llu", k > i ? "," : "", (unsigned long long)(us - before_us));
		before_us = us;
	}
	fprintf(file, "],\"endTime\":%llu", (unsigned long long)before_us);
	profile_event_end(profiles);
}

static void profile_thread(struct profiles *profiles, const struct samples *samples, u32 thread)
{
	const struct samples_row *row = &samples->rows[profiles->by.rows[thread]];
	u32 i = profiles->by.event_starts[thread], end = profiles->by.event_starts[thread + 1];

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
	for (node = 0; node < profiles->by.tree.nodes.nchains && !err && !ferror(exporter->file); node++)
		if (export_threads_root(&profiles->by, node))
			profile_thread(profiles, exporter->samples, node);
	chrome_end(&profiles->chrome);
	return err;
}

int chrome_export(const struct exporter *exporter)
{
	struct profiles profiles = { .chrome = { .file = NULL } };
	int err = export_threads_build(&profiles.by, exporter);

	err = err ? err : profiles_write(&profiles, exporter);
	export_threads_free(&profiles.by);
	return err;
}
