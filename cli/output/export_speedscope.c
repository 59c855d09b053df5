/* SPDX-License-Identifier: MIT */
/*
 * The format speedscope: of each thread a profile of its samples in the order of time, with what each
 * stands for. A frame is a function with a file and a line, as a region is one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/export_called.h"
#include "cli/output/export_threads.h"
#include "cli/output/exports.h"

struct speedscope {
	const struct exporter *exporter;
	struct export_threads by;
	struct export_called *called; /* by name */
	u32 *printed;                /* by row: events of it */
	u32 *path;                   /* room for the longest stack */
};

/* Its path; NULL when memory is short. */
static char *scope_object(const struct speedscope *scope, u32 object)
{
	const char *path = scope->exporter->samples->objects[object].path;

	return export_name("", path, strlen(path));
}

static int scope_frames(const struct speedscope *scope)
{
	const struct samples *names = &scope->by.tree.nodes, *samples = scope->exporter->samples;
	FILE *file = scope->exporter->file;

	fputs("\"shared\":{\"frames\":[", file);
	for (u32 i = 0; i < names->nstrings; i++) {
		const struct export_called *called = &scope->called[i];
		char *source = called->file == SAMPLES_NONE ? NULL : export_string_name(scope->exporter, called->file);

		if (called->file != SAMPLES_NONE && !source)
			return export_no_memory();
		if (!source && called->object < samples->nobjects)
			source = scope_object(scope, called->object);
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", file);
		export_json(file, names->strings[i].bytes, names->strings[i].length);
		if (source) {
			fputs(",\"file\":", file);
			export_json(file, source, strlen(source));
		}
		if (called->line)
			fprintf(file, ",\"line\":%u", called->line);
		putc_unlocked('}', file);
		free(source);
	}
	fputs("\n]}", file);
	return 0;
}

/* The root is the thread itself. */
static void scope_stack(const struct speedscope *scope, u32 node)
{
	FILE *file = scope->exporter->file;
	u32 n = 0, parent;

	for (; (parent = export_tree_parent(&scope->by.tree, node)) != SAMPLES_NONE; node = parent)
		scope->path[n++] = scope->by.tree.nodes.chains[node].frame;
	putc_unlocked('[', file);
	while (n--)
		fprintf(file, n ? "%u," : "%u", scope->path[n]);
	putc_unlocked(']', file);
}

static int scope_thread(const struct speedscope *scope, u32 thread)
{
	const struct exporter *exporter = scope->exporter;
	const struct samples *samples = exporter->samples;
	const struct samples_row *row = &samples->rows[scope->by.rows[thread]];
	char *command = export_process_name(export_process(exporter, row->process), row->pid), *name = NULL;
	u32 first = scope->by.event_starts[thread], end = scope->by.event_starts[thread + 1], i;
	u64 sum = 0;

	if (command && asprintf(&name, "%s %u/%u", command, row->pid, row->tid) < 0)
		name = NULL;
	free(command);
	if (!name)
		return export_no_memory();
	fputs("{\"type\":\"sampled\",\"name\":", exporter->file);
	export_json(exporter->file, name, strlen(name));
	fprintf(exporter->file, ",\"unit\":\"%s\",\"startValue\":0,\n\"samples\":[", samples->clock ? "nanoseconds" : "none");
	for (i = first; i < end; i++) {
		fputs(i > first ? ",\n" : "\n", exporter->file);
		scope_stack(scope, scope->by.tree.rows[samples->events[scope->by.event_order[i]].row]);
	}
	fputs("],\n\"weights\":[", exporter->file);
	for (i = first; i < end; i++) {
		u64 period = export_period(exporter, samples->events[scope->by.event_order[i]].row, scope->printed);

		fprintf(exporter->file, i > first ? ",%" PRIu64 : "%" PRIu64, period);
		sum += period;
	}
	fprintf(exporter->file, "],\"endValue\":%" PRIu64 "}", sum);
	free(name);
	return 0;
}

static int scope_write(const struct speedscope *scope)
{
	const struct exporter *exporter = scope->exporter;
	bool more = false;
	int err;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"sparkctl\",\n",
	      exporter->file);
	err = scope_frames(scope);
	fputs(",\n\"profiles\":[", exporter->file);
	for (u32 node = 0; node < scope->by.tree.nodes.nchains && !err && !ferror(exporter->file); node++) {
		if (!export_threads_root(&scope->by, node))
			continue;
		fputs(more ? ",\n" : "\n", exporter->file);
		more = true;
		err = scope_thread(scope, node);
	}
	fputs("\n]}\n", exporter->file);
	return err;
}

int speedscope_export(const struct exporter *exporter)
{
	struct speedscope scope = { .exporter = exporter };
	int err = export_threads_build(&scope.by, exporter);

	if (!err) {
		scope.called = export_called(&scope.by.tree);
		scope.printed = calloc((size_t)exporter->samples->nrows + 1, sizeof(*scope.printed));
		scope.path = calloc((size_t)scope.by.tree.nodes.nchains + 1, sizeof(*scope.path));
		err = scope.called && scope.printed && scope.path ? scope_write(&scope) : export_no_memory();
	}
	export_threads_free(&scope.by);
	free(scope.called);
	free(scope.printed);
	free(scope.path);
	return err;
}
