/* SPDX-License-Identifier: MIT */
/*
 * The format firefox: the Firefox profiler's processed profile, version 48, which newer ones read. It has
 * tables by columns, of each thread its own. Regions are frames, and categories of what was sampled in
 * them, so that the profiler's colours and sums are those of regions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/export_called.h"
#include "cli/output/export_threads.h"
#include "cli/output/exports.h"

enum { FIREFOX_VERSION = 48, FIREFOX_GECKO = 30 };

struct firefox {
	const struct exporter *exporter;
	FILE *file;
	struct export_threads by;
	struct export_called *called; /* by name */
	u32 *categories;             /* by node: 0, outside of regions, or the number of a region's name + 1 */
	u32 *regions;                /* by name: the same number, if it is one's; 0 */
	u32 ncategories;
	u32 *local;                  /* by node and by name: numbers in the tables of the thread, + 1 */
	u32 *names;                  /* by local number */
	u32 nnames;
	u32 *printed;                /* by row: events of it */
};

/* What one column of a table has for entry i. */
typedef void firefox_put(const struct firefox *f, u32 i);

static void firefox_column(const struct firefox *f, const char *key, u32 n, firefox_put *put)
{
	fprintf(f->file, "\"%s\":[", key);
	for (u32 i = 0; i < n; i++) {
		if (i)
			putc_unlocked(',', f->file);
		put(f, i);
	}
	fputs("],", f->file);
}

/* A column in which all are the same. */
static void firefox_same(const struct firefox *f, const char *key, u32 n, const char *value)
{
	fprintf(f->file, "\"%s\":[", key);
	for (u32 i = 0; i < n; i++)
		fprintf(f->file, "%s%s", i ? "," : "", value);
	fputs("],", f->file);
}

static void put_number(const struct firefox *f, u32 i)
{
	fprintf(f->file, "%u", i);
}

/* ---- of all threads --------------------------------------------------------------------------------- */

/* A name that is a region's is no function's: brackets and a blank are in none. */
static void firefox_categories(struct firefox *f)
{
	const struct samples *nodes = &f->by.tree.nodes;
	size_t front = strlen(EXPORT_REGION);

	for (u32 i = 0; i < nodes->nstrings; i++)
		if ((nodes->strings[i].length >= front && !memcmp(nodes->strings[i].bytes, EXPORT_REGION, front)) ||
		    !strcmp(nodes->strings[i].bytes, EXPORT_NO_REGION))
			f->regions[i] = ++f->ncategories;
	for (u32 i = 0; i < nodes->nchains; i++) {
		u32 parent = nodes->chains[i].parent, region = f->regions[nodes->chains[i].frame];

		f->categories[i] = region ? region : parent == SAMPLES_NONE ? 0 : f->categories[parent];
	}
}

static void firefox_meta(const struct firefox *f)
{
	static const char *const colours[] = {
		"blue", "green", "orange", "purple", "yellow", "red", "lightblue", "magenta", "brown"
	};
	const struct samples *samples = f->exporter->samples, *names = &f->by.tree.nodes;
	const struct provenance *provenance = f->exporter->facts->provenance;
	char *product = export_process_name(export_process(f->exporter, 1), 1);
	u32 n = 0;

	fprintf(f->file, "{\"meta\":{\"interval\":%.6f,\"startTime\":%" PRIu64 ",\"processType\":0,\"stackwalk\":1,"
		"\"version\":%d,\"preprocessedProfileVersion\":%d,\"symbolicated\":true,\"importedFrom\":\"sparkctl\","
		"\"platform\":\"Linux\",\"oscpu\":\"Linux\","
		"\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
		"\"sourceCodeIsNotOnSearchfox\":true,\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
		"\"markerSchema\":[],\"product\":",
		samples->frequency ? 1000.0 / (double)samples->frequency : 1.0, provenance ? provenance->started_ns / 1000000 : 0,
		FIREFOX_GECKO, FIREFOX_VERSION);
	export_json(f->file, product ? product : "", product ? strlen(product) : 0);
	free(product);
	fputs(",\"categories\":[{\"name\":\"outside of regions\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}", f->file);
	for (u32 i = 0; i < names->nstrings; i++) {
		if (!f->regions[i])
			continue;
		fputs(",\n{\"name\":", f->file);
		export_json(f->file, names->strings[i].bytes, names->strings[i].length);
		fprintf(f->file, ",\"color\":\"%s\",\"subcategories\":[\"Other\"]}", colours[n++ % ARRAY_SIZE(colours)]);
	}
	fputs("]},\n", f->file);
}

/* Without its folder. */
static void put_object(const struct firefox *f, u32 object)
{
	const char *path = f->exporter->samples->objects[object].path, *slash = strrchr(path, '/');
	const char *last = slash ? slash + 1 : path;
	char *name = export_name("", last, strlen(last));

	export_json(f->file, name ? name : "", name ? strlen(name) : 0);
	free(name);
}

static void firefox_libs(const struct firefox *f)
{
	const struct samples *samples = f->exporter->samples;

	fputs("\"libs\":[", f->file);
	for (u32 i = 0; i < samples->nobjects; i++) {
		const struct samples_object *object = &samples->objects[i];
		char *path = export_name("", object->path, strlen(object->path));
		const char *texts[] = { "name", "path", "debugName", "debugPath" };

		fprintf(f->file, "%s\n{\"arch\":\"\",\"breakpadId\":\"\",\"codeId\":", i ? "," : "");
		if (object->build_id)
			export_json(f->file, object->build_id, strlen(object->build_id));
		else
			fputs("null", f->file);
		for (u32 k = 0; k < ARRAY_SIZE(texts); k++) {
			fprintf(f->file, ",\"%s\":", texts[k]);
			if (k % 2 == 0)
				put_object(f, i);
			else
				export_json(f->file, path ? path : "", path ? strlen(path) : 0);
		}
		putc_unlocked('}', f->file);
		free(path);
	}
	fputs("\n],\n", f->file);
}

/* ---- of one thread: strings are its names, then files, then objects ------------------------------------ */

static const struct export_called *called(const struct firefox *f, u32 i)
{
	return &f->called[f->names[i]];
}

/* Libraries and resources have the numbers of objects, in every thread. */
static void put_resource(const struct firefox *f, u32 i)
{
	if (called(f, i)->object < f->exporter->samples->nobjects)
		fprintf(f->file, "%u", called(f, i)->object);
	else
		fputs("-1", f->file);
}

/* What is below a region inherits its category. */
static void put_category(const struct firefox *f, u32 i)
{
	if (f->regions[f->names[i]])
		fprintf(f->file, "%u", f->regions[f->names[i]]);
	else
		fputs("null", f->file);
}

static void put_subcategory(const struct firefox *f, u32 i)
{
	fputs(f->regions[f->names[i]] ? "0" : "null", f->file);
}

/* The file of name i is string n + i. */
static void put_file(const struct firefox *f, u32 i)
{
	if (called(f, i)->file != SAMPLES_NONE)
		fprintf(f->file, "%u", f->nnames + i);
	else
		fputs("null", f->file);
}

static void put_line(const struct firefox *f, u32 i)
{
	if (called(f, i)->line)
		fprintf(f->file, "%u", called(f, i)->line);
	else
		fputs("null", f->file);
}

static void firefox_functions(const struct firefox *f)
{
	u32 n = f->nnames;

	fputs("\"frameTable\":{", f->file);
	firefox_same(f, "address", n, "-1");
	firefox_same(f, "inlineDepth", n, "0");
	firefox_column(f, "category", n, put_category);
	firefox_column(f, "subcategory", n, put_subcategory);
	firefox_column(f, "func", n, put_number);
	firefox_same(f, "nativeSymbol", n, "null");
	firefox_same(f, "innerWindowID", n, "0");
	firefox_same(f, "implementation", n, "null");
	firefox_column(f, "line", n, put_line);
	firefox_same(f, "column", n, "null");
	fprintf(f->file, "\"length\":%u},\n\"funcTable\":{", n);
	firefox_column(f, "name", n, put_number);
	firefox_same(f, "isJS", n, "false");
	firefox_same(f, "relevantForJS", n, "false");
	firefox_column(f, "resource", n, put_resource);
	firefox_column(f, "fileName", n, put_file);
	firefox_same(f, "lineNumber", n, "null");
	firefox_same(f, "columnNumber", n, "null");
	fprintf(f->file, "\"length\":%u},\n", n);
}

static void put_resource_name(const struct firefox *f, u32 i)
{
	fprintf(f->file, "%u", 2 * f->nnames + i);
}

static void put_library(const struct firefox *f, u32 i)
{
	(void)i;
	fputs("1", f->file);
}

static void put_string(const struct firefox *f, u32 i)
{
	const struct samples_string *name;
	char *file;

	if (i >= 2 * f->nnames) {
		put_object(f, i - 2 * f->nnames);
	} else if (i >= f->nnames) {
		u32 number = called(f, i - f->nnames)->file;

		file = number == SAMPLES_NONE ? NULL : export_string_name(f->exporter, number);
		export_json(f->file, file ? file : "", file ? strlen(file) : 0);
		free(file);
	} else {
		name = &f->by.tree.nodes.strings[f->names[i]];
		export_json(f->file, name->bytes, name->length);
	}
}

static void firefox_objects(const struct firefox *f)
{
	u32 n = f->exporter->samples->nobjects;

	fputs("\"resourceTable\":{", f->file);
	firefox_column(f, "lib", n, put_number);
	firefox_column(f, "name", n, put_resource_name);
	firefox_same(f, "host", n, "null");
	firefox_column(f, "type", n, put_library);
	fprintf(f->file, "\"length\":%u},\n", n);
	fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n"
	      "\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[],"
	      "\"length\":0},\n", f->file);
	firefox_column(f, "stringArray", 2 * f->nnames + n, put_string);
}

/* Numbers the thread's nodes but its root, which is no frame, and the names in them. The number of nodes. */
static u32 firefox_number(struct firefox *f, u32 thread)
{
	u32 *names = f->local + f->by.tree.nodes.nchains;
	u32 first = f->by.node_starts[thread], n = f->by.node_starts[thread + 1] - first;

	memset(names, 0, f->by.tree.nodes.nstrings * sizeof(*names));
	f->nnames = 0;
	f->local[thread] = 0;
	for (u32 i = 1; i < n; i++) {
		u32 node = f->by.node_order[first + i], name = f->by.tree.nodes.chains[node].frame;

		f->local[node] = i;
		if (names[name])
			continue;
		f->names[f->nnames] = name;
		names[name] = ++f->nnames;
	}
	return n - 1;
}

static void firefox_stacks(const struct firefox *f, u32 thread, u32 n)
{
	static const char *const keys[] = { "frame", "prefix", "category", "subcategory" };
	const u32 *names = f->local + f->by.tree.nodes.nchains, *nodes = f->by.node_order + f->by.node_starts[thread] + 1;

	fputs("\"stackTable\":{", f->file);
	for (u32 k = 0; k < ARRAY_SIZE(keys); k++) {
		fprintf(f->file, "\"%s\":[", keys[k]);
		for (u32 i = 0; i < n; i++) {
			u32 prefix = f->local[export_tree_parent(&f->by.tree, nodes[i])];

			if (i)
				putc_unlocked(',', f->file);
			if (k == 1 && !prefix)
				fputs("null", f->file);
			else
				fprintf(f->file, "%u", k == 0 ? names[f->by.tree.nodes.chains[nodes[i]].frame] - 1 : k == 1 ? prefix - 1 :
					k == 2 ? f->categories[nodes[i]] : 0);
		}
		fputs("],", f->file);
	}
	fprintf(f->file, "\"length\":%u},\n", n);
}

static void firefox_samples(const struct firefox *f, u32 thread)
{
	const struct samples *samples = f->exporter->samples;
	const u32 *order = f->by.event_order + f->by.event_starts[thread];
	u32 n = f->by.event_starts[thread + 1] - f->by.event_starts[thread], i;

	fputs("\"samples\":{\"weight\":null,\"weightType\":\"samples\",\"stack\":[", f->file);
	for (i = 0; i < n; i++)
		fprintf(f->file, i ? ",%u" : "%u", f->local[f->by.tree.rows[samples->events[order[i]].row]] - 1);
	fputs("],\"time\":[", f->file);
	for (i = 0; i < n; i++) {
		u64 ns = samples->events[order[i]].time_ns;

		fprintf(f->file, "%s%" PRIu64 ".%06" PRIu64, i ? "," : "", ns / 1000000, ns % 1000000);
	}
	fputs("],", f->file);
	if (samples->clock)
		fputs("\"threadCPUDelta\":[", f->file);
	for (i = 0; i < n && samples->clock; i++)
		fprintf(f->file, i ? ",%" PRIu64 : "%" PRIu64, export_period(f->exporter, samples->events[order[i]].row, f->printed));
	fprintf(f->file, "%s\"length\":%u},\n", samples->clock ? "]," : "", n);
}

static int firefox_thread(struct firefox *f, u32 thread)
{
	const struct samples_row *row = &f->exporter->samples->rows[f->by.rows[thread]];
	const struct process_facts *process = export_process(f->exporter, row->process);
	char *name = export_process_name(process, row->pid);
	u32 n = firefox_number(f, thread);

	if (!name)
		return export_no_memory();
	fputs("{\"name\":", f->file);
	export_json(f->file, name, strlen(name));
	fputs(",\"processName\":", f->file);
	export_json(f->file, name, strlen(name));
	fprintf(f->file, ",\"processType\":\"default\",\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,\"pausedRanges\":[],"
		"\"processStartupTime\":%.6f,\"processShutdownTime\":null,\"registerTime\":%.6f,\"unregisterTime\":null,\n",
		row->pid == row->tid ? "true" : "false", row->pid, row->tid, process ? (double)process->start_ns / 1e6 : 0,
		process ? (double)process->start_ns / 1e6 : 0);
	free(name);
	firefox_samples(f, thread);
	firefox_stacks(f, thread, n);
	firefox_functions(f);
	firefox_objects(f);
	fputs("\"showMarkersInTimeline\":false}", f->file);
	return 0;
}

static int firefox_write(struct firefox *f)
{
	bool more = false;
	int err = 0;

	firefox_categories(f);
	firefox_meta(f);
	firefox_libs(f);
	fputs("\"pages\":[],\"threads\":[", f->file);
	for (u32 node = 0; node < f->by.tree.nodes.nchains && !err && !ferror(f->file); node++) {
		if (!export_threads_root(&f->by, node))
			continue;
		fputs(more ? ",\n" : "\n", f->file);
		more = true;
		err = firefox_thread(f, node);
	}
	fputs("\n]}\n", f->file);
	return err;
}

static int firefox_room(struct firefox *f)
{
	size_t nodes = f->by.tree.nodes.nchains, names = f->by.tree.nodes.nstrings;

	f->called = export_called(&f->by.tree);
	f->categories = calloc(nodes + 1, sizeof(*f->categories));
	f->regions = calloc(names + 1, sizeof(*f->regions));
	f->local = calloc(nodes + names + 1, sizeof(*f->local));
	f->names = calloc(names + 1, sizeof(*f->names));
	f->printed = calloc((size_t)f->exporter->samples->nrows + 1, sizeof(*f->printed));
	return f->called && f->categories && f->regions && f->local && f->names && f->printed ? 0 : export_no_memory();
}

int firefox_export(const struct exporter *exporter)
{
	struct firefox f = { .exporter = exporter, .file = exporter->file };
	int err = export_threads_build(&f.by, exporter);

	err = err ? err : firefox_room(&f);
	err = err ? err : firefox_write(&f);
	export_threads_free(&f.by);
	free(f.called);
	free(f.categories);
	free(f.regions);
	free(f.local);
	free(f.names);
	free(f.printed);
	return err;
}
