/* SPDX-License-Identifier: MIT */
/*
 * Samples in the HTML page: a tree of calls by name, which all threads and regions share, and for each
 * thread, region and node that has samples their number and weight. So the page can make a graph of any
 * region of any process, and its size grows with the places and not with the samples.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/export_called.h"
#include "cli/output/exports.h"
#include "cli/output/page.h"
#include "cli/output/page_fold.h"

/* What a browser opens in two seconds, and 10 MB hold. */
#define NODES_MOST 200000u
#define NODES_LEAST 1000u
#define ROWS_MOST 400000u

/* One or more rows that a page does not tell apart. */
struct sum {
	u32 process, pid, tid, region, node;
	u64 count, weight;
};

struct tables {
	struct export_tree tree;
	struct export_called *called; /* by name */
	struct page_fold fold;
	struct sum *sums;
	u32 nsums;
};

static u32 no_root(struct export_tree *tree, const struct samples_row *row)
{
	(void)tree;
	(void)row;
	return SAMPLES_NONE;
}

/* ---- names ----------------------------------------------------------------------------------------- */

static void called_write(struct page *page, const struct tables *tables, const struct samples *samples)
{
	const struct samples *names = &tables->tree.nodes;

	fputs(",\n\"objects\":[", page->file);
	for (u32 i = 0; i < samples->nobjects; i++) {
		fprintf(page->file, "%s[%u,", i ? "," : "", samples->objects[i].kind);
		page_word(page, samples->objects[i].path);
		fputc(']', page->file);
	}
	/* Of names, which are escaped already, the number; the object, -1 for several; file and line. */
	fputs("],\n\"names\":[", page->file);
	for (u32 i = 0; i < names->nstrings; i++) {
		const struct export_called *called = &tables->called[i];

		fprintf(page->file, "%s[", i ? ",\n" : "\n");
		page_text(page, names->strings[i].bytes, names->strings[i].length);
		if (called->object != SAMPLES_NONE)
			fprintf(page->file, ",%d,", called->object == EXPORT_SEVERAL ? -1 : (int)called->object);
		if (called->object != SAMPLES_NONE)
			page_number(page, called->file == SAMPLES_NONE ? NULL : samples->strings[called->file].bytes);
		if (called->object != SAMPLES_NONE && called->line)
			fprintf(page->file, ",%u", called->line);
		fputc(']', page->file);
	}
	fputs("]", page->file);
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static int sum_compare(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Regions: 0 for none, 1 for one that is not known, the others from 2 on. */
static void sums_make(struct tables *tables, const struct samples *samples)
{
	u32 i, n = 0;

	for (i = 0; i < samples->nrows; i++) {
		const struct samples_row *row = &samples->rows[i];

		tables->sums[i] = (struct sum){
			.process = row->process, .pid = row->pid, .tid = row->tid,
			.region = row->flags & SAMPLES_UNATTRIBUTED ? 1 : row->region == SAMPLES_NONE ? 0 : row->region + 2,
			.node = tables->fold.number[tables->fold.shown[tables->tree.rows[i]]], .count = row->count, .weight = row->weight,
		};
	}
	qsort(tables->sums, samples->nrows, sizeof(*tables->sums), sum_compare);
	for (i = 0; i < samples->nrows; i++) {
		if (n && !sum_compare(&tables->sums[n - 1], &tables->sums[i])) {
			tables->sums[n - 1].count += tables->sums[i].count;
			tables->sums[n - 1].weight += tables->sums[i].weight;
		} else {
			tables->sums[n++] = tables->sums[i];
		}
	}
	tables->nsums = n;
}

/* Sums of a thread follow each other. */
static bool sum_other(const struct tables *tables, u32 i)
{
	return !i || tables->sums[i].process != tables->sums[i - 1].process || tables->sums[i].tid != tables->sums[i - 1].tid;
}

/* What is the same in most rows that follow each other, or nearly, is told as the difference. */
static void sums_write(struct page *page, const struct tables *tables, u64 period)
{
	static const char *const keys[] = { "thread", "region", "node", "count", "weight" };
	struct page_pack pack;

	fprintf(page->file, ",\n\"rows\":%u,\"period\":%" PRIu64, tables->nsums, period);
	for (u32 k = 0; k < ARRAY_SIZE(keys); k++) {
		struct sum last = { .node = 0 };

		page_pack_begin(&pack, page->file, keys[k]);
		for (u32 i = 0; i < tables->nsums; i++) {
			const struct sum *sum = &tables->sums[i];

			if (k == 0)
				page_pack_add(&pack, i && sum_other(tables, i));
			else if (k == 1)
				page_pack_signed(&pack, (s64)sum->region - last.region);
			else if (k == 2)
				page_pack_signed(&pack, (s64)sum->node - last.node);
			else if (k == 3)
				page_pack_add(&pack, sum->count);
			else
				page_pack_signed(&pack, (s64)(sum->weight - sum->count * period));
			last = *sum;
		}
		page_pack_end(&pack);
	}
}

static void nodes_write(struct page *page, const struct tables *tables)
{
	const struct samples *nodes = &tables->tree.nodes;
	const u32 *number = tables->fold.number;
	struct page_pack pack;
	u32 i;

	fprintf(page->file, ",\n\"nodes\":%u", tables->fold.ndrawn);
	page_pack_begin(&pack, page->file, "parent"); /* how far up in the list; 0: none */
	for (i = 0; i < nodes->nchains; i++)
		if (number[i] != SAMPLES_NONE)
			page_pack_add(&pack, nodes->chains[i].parent == SAMPLES_NONE ? 0 : number[i] - number[nodes->chains[i].parent]);
	page_pack_end(&pack);
	page_pack_begin(&pack, page->file, "name");
	for (i = 0; i < nodes->nchains; i++)
		if (number[i] != SAMPLES_NONE)
			page_pack_add(&pack, nodes->chains[i].frame);
	page_pack_end(&pack);
}

static void threads_write(struct page *page, const struct tables *tables, const struct exporter *exporter)
{
	const struct samples *samples = exporter->samples;
	u32 i;

	fputs(",\n\"threads\":[", page->file);
	for (i = 0; i < tables->nsums; i++) {
		const struct sum *sum = &tables->sums[i];
		const struct process_facts *process = export_process(exporter, sum->process);

		if (!sum_other(tables, i))
			continue;
		fprintf(page->file, "%s[%u,%u,%u,", i ? "," : "", sum->process, sum->pid, sum->tid);
		page_number(page, process ? process->command : NULL);
		fputs("]", page->file);
	}
	fputs("],\n\"regions\":[", page->file);
	for (i = 0; i < samples->nregions; i++) {
		const struct samples_string *name = &samples->strings[samples->regions[i].name];

		fprintf(page->file, "%s[%d,", i ? "," : "",
			samples->regions[i].parent == SAMPLES_NONE ? -1 : (int)samples->regions[i].parent);
		page_text(page, name->bytes, name->length);
		fputs("]", page->file);
	}
	fputs("]", page->file);
}

/* ---- all of it ------------------------------------------------------------------------------------- */

/* Fewer nodes, until there are not too many rows either: each thread and region has its own. */
static int sums_fold(struct tables *tables, const struct samples *samples)
{
	u32 n = tables->tree.nodes.nchains, most = NODES_MOST;
	u64 *total = page_fold_totals(&tables->tree);
	int err = total ? 0 : -1;

	while (!err) {
		err = page_fold(&tables->fold, &tables->tree, total, n, most);
		if (err)
			break;
		sums_make(tables, samples);
		if (tables->nsums <= ROWS_MOST || most <= NODES_LEAST)
			break;
		most /= 2;
	}
	free(total);
	return err;
}

static int tables_make(struct tables *tables, const struct exporter *exporter)
{
	const struct samples *samples = exporter->samples;

	if (export_tree_build(&tables->tree, exporter, no_root))
		return -1;
	tables->sums = calloc((size_t)samples->nrows + 1, sizeof(*tables->sums));
	if (!tables->sums || sums_fold(tables, samples))
		return -1;
	tables->called = export_called(&tables->tree);
	return tables->called ? 0 : -1;
}

static void tables_write(struct page *page, const char *kind, const struct tables *tables,
			 const struct exporter *exporter)
{
	const struct samples *samples = exporter->samples;
	u64 count = 0, weight = 0;

	for (u32 i = 0; i < tables->nsums; i++) {
		count += tables->sums[i].count;
		weight += tables->sums[i].weight;
	}
	fprintf(page->file, "{\"kind\":\"%s\",\"event\":", kind);
	page_word(page, samples->event ? samples->event : "?");
	fprintf(page->file, ",\"clock\":%s,\"frequency\":%" PRIu64 ",\"effective\":%.1f,\"lost\":%" PRIu64
		",\"throttled\":%" PRIu64, samples->clock ? "true" : "false", samples->frequency, samples->effective,
		samples->lost, samples->throttled);
	fputs(",\"stacks\":", page->file);
	page_word(page, samples->stacks);
	fputs(",\"note\":", page->file);
	page_word(page, samples->note);
	called_write(page, tables, samples);
	threads_write(page, tables, exporter);
	nodes_write(page, tables);
	sums_write(page, tables, count ? weight / count : 0);
	fputs("}", page->file);
}

int page_samples(struct page *page, const char *kind, const struct samples *samples)
{
	const struct export_options options = { .group = PROFILE_BY_REGION, .no_regions = true };
	const struct exporter exporter = { .file = page->file, .samples = samples, .facts = page->report->facts,
					   .options = &options };
	struct tables tables = { .nsums = 0 };
	int err = tables_make(&tables, &exporter);

	if (!err)
		tables_write(page, kind, &tables, &exporter);
	export_tree_free(&tables.tree);
	page_fold_free(&tables.fold);
	free(tables.called);
	free(tables.sums);
	return err;
}
