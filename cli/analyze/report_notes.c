/* SPDX-License-Identifier: MIT */
/* What a report says beside its rows: losses, diagnoses of the markers' use, what the markers cost. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/calls.h"
#include "cli/analyze/report_build.h"

static const double report_warn_share = 5;   /* percent of wall */
static const double report_fine_pairs = 20;  /* a region's mean, in pairs of markers */
enum { REPORT_FINE_NAMED = 4 };

/* ---- losses ---------------------------------------------------------------------------------------- */

static int report_add_loss(struct report *report, const char *name, const char *text, u64 count)
{
	struct report_loss *losses;

	if (!count)
		return 0;
	losses = report_grow(report->losses, report->nlosses, sizeof(*losses));
	if (!losses)
		return -1;
	report->losses = losses;
	losses[report->nlosses++] = (struct report_loss){ name, text, count };
	return 0;
}

int report_add_losses(struct report *report, const struct profile *profile)
{
	const struct session_facts *facts = report->facts;
	size_t i;
	u32 k;

	for (k = 0; k < PROFILE_LOSS_COUNT; k++)
		if (report_add_loss(report, profile_loss_name(k), profile_loss_text(k),
				    profile->losses[k]) != 0)
			return -1;
	for (i = 0; i < facts->nlosses; i++)
		if (report_add_loss(report, facts->losses[i].name, facts->losses[i].text,
				    facts->losses[i].count) != 0)
			return -1;
	return report_add_loss(report, "client-metrics", "values of the program's own left out: more than 64 metrics",
			       report->client_left_out);
}

/* ---- diagnostics ----------------------------------------------------------------------------------- */

static const struct diagnosis_row {
	const char *kind, *text;
} report_diagnoses[WIRE_DIAG_MAX] = {
	[WIRE_DIAG_UNMATCHED] = { "unmatched-end", "ended without a begin on the same thread" },
	[WIRE_DIAG_UNENDED] = { "unended", "closed by the end of an enclosing region: its own never came" },
	[WIRE_DIAG_SKIPPED] = { "skipped", "left without an end, by longjmp or the like" },
	[WIRE_DIAG_OVERLAP] = { "overlap", "ended after a region that encloses its begin" },
	[WIRE_DIAG_DEEP] = { "deep", "begun deeper than 255 regions: counted into the last of them" },
	[WIRE_DIAG_NAME_CUT] = { "name-cut", "the name is longer than 1024 bytes and was cut" },
	[WIRE_DIAG_UNIT] = { "unit", "units given with another unit than before" },
	[WIRE_DIAG_NO_REGION] = { "no-region", "units given for a region that is not known here" },
	[WIRE_DIAG_WINDOW] = { "window", "the end of a window that was not begun in this process" },
	[WIRE_DIAG_THREAD_END] = { "open", "open when its thread ended" },
	[WIRE_DIAG_PART] = { "window-part", "a part of a window that is out of its order, or of no window that was open" },
	[WIRE_DIAG_LATE] = { "late-end", "ended after it had been given up as left without an end" },
};

const char *report_diagnosis_name(u32 kind)
{
	return kind < WIRE_DIAG_MAX ? report_diagnoses[kind].kind : NULL;
}

struct diagnosis_builder {
	struct report *report;
	const struct profile *profile;
	struct profile_diag *begun;  /* unended or open, sorted by process, name, thread */
	size_t nbegun;
};

static int report_add_diagnosis(struct report *report, const char *kind, const struct profile_name *region,
				u64 count, const char *text)
{
	struct report_diagnosis *all = report_grow(report->diagnostics, report->ndiagnostics, sizeof(*all));

	if (!all || !text)
		return -1;
	report->diagnostics = all;
	all[report->ndiagnostics++] = (struct report_diagnosis){
		.kind = kind, .region = region ? region->bytes : NULL, .len = region ? region->len : 0,
		.count = count, .text = text,
	};
	return 0;
}

static int report_compare_begun(const void *a, const void *b)
{
	const struct profile_diag *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int report_collect_begun(struct diagnosis_builder *builder)
{
	const struct profile *profile = builder->profile;
	u32 i;

	builder->begun = calloc((size_t)profile->ndiags + profile->nopens + 1, sizeof(*builder->begun));
	if (!builder->begun)
		return -1;
	for (i = 0; i < profile->ndiags; i++)
		if (profile->diags[i].kind == WIRE_DIAG_UNENDED ||
		    profile->diags[i].kind == WIRE_DIAG_THREAD_END)
			builder->begun[builder->nbegun++] = profile->diags[i];
	for (i = 0; i < profile->nopens; i++)
		builder->begun[builder->nbegun++] = profile->opens[i];
	qsort(builder->begun, builder->nbegun, sizeof(*builder->begun), report_compare_begun);
	return 0;
}

/* Another thread of the process that has begun a region and not ended it; 0: none. */
static u32 report_begun_elsewhere(const struct diagnosis_builder *builder, const struct profile_diag *end)
{
	struct profile_diag key = *end;
	size_t low = 0, high = builder->nbegun, mid, round;

	/* The first thread, or the one after the thread that ended it. */
	for (round = 0, key.tid = 0; round < 2; round++, key.tid = end->tid + 1, high = builder->nbegun) {
		while (low < high) {
			mid = low + (high - low) / 2;
			if (report_compare_begun(&builder->begun[mid], &key) < 0)
				low = mid + 1;
			else
				high = mid;
		}
		if (low == builder->nbegun || builder->begun[low].process != end->process ||
		    builder->begun[low].name != end->name)
			return 0;
		if (builder->begun[low].tid != end->tid)
			return builder->begun[low].tid;
	}
	return 0;
}

static int report_diagnose(struct diagnosis_builder *builder, const struct profile_diag *diag)
{
	const struct diagnosis_row *row = &report_diagnoses[diag->kind];
	const struct profile_name *name = diag->name == PROFILE_NONE ? NULL
					: &builder->profile->names[diag->name];
	u32 begun = diag->kind == WIRE_DIAG_UNMATCHED ? report_begun_elsewhere(builder, diag) : 0;
	const char *text = row->text;

	if (begun)
		text = report_text(builder->report, "begun on thread %u, ended on thread %u", begun,
				   diag->tid);
	return report_add_diagnosis(builder->report, row->kind, name, diag->count, text);
}

static int report_diagnose_open(struct diagnosis_builder *builder, const struct profile_diag *open)
{
	const struct session_facts *facts = builder->report->facts;
	const char *end = "its process ended";
	size_t i;

	for (i = 0; i < facts->nprocesses; i++)
		if (facts->processes[i].id == open->process)
			end = report_process_end(builder->report, &facts->processes[i]);
	return end ? report_add_diagnosis(builder->report, "open", &builder->profile->names[open->name],
			open->count, report_text(builder->report, "open when %s", end)) : -1;
}

static int report_compare_diagnoses(const void *a, const void *b)
{
	const struct report_diagnosis *x = a, *y = b;
	int order = strcmp(x->kind, y->kind);

	if (!order)
		order = (x->region != NULL) - (y->region != NULL);
	if (!order && x->region)
		order = memcmp(x->region, y->region, MIN(x->len, y->len));
	if (!order && x->len != y->len)
		order = x->len < y->len ? -1 : 1;
	return order ? order : strcmp(x->text, y->text);
}

/* Adds up what is alike. */
static void report_merge_diagnoses(struct report *report)
{
	struct report_diagnosis *all = report->diagnostics;
	size_t i, n = 0;

	if (!report->ndiagnostics)
		return;
	qsort(all, report->ndiagnostics, sizeof(*all), report_compare_diagnoses);
	for (i = 1; i < report->ndiagnostics; i++) {
		if (report_compare_diagnoses(&all[n], &all[i]) == 0)
			all[n].count += all[i].count;
		else
			all[++n] = all[i];
	}
	report->ndiagnostics = n + 1;
}

/* Each probed function's name comes once, with the calls of all its rows. */
static int report_diagnose_probed(struct report *report, const struct profile *profile, const struct total_fact *pair)
{
	const struct session_facts *facts = report->facts;
	char *bytes = (char *)(uintptr_t)pair->name + strlen(CALLS_PAIR);
	const struct profile_name name = { .bytes = bytes, .len = (u32)strlen(bytes) };
	const char *some = "";
	u64 calls = 0;
	u32 i;

	for (i = 0; i < profile->nrows; i++)
		if (calls_below_root(profile, i) && !strcmp(profile->names[profile->rows[i].name].bytes, bytes))
			calls += profile->rows[i].calls + profile->rows[i].open;
	for (i = 0; i < facts->nlosses; i++)
		if (!strcmp(facts->losses[i].name, "uprobe") && facts->losses[i].count)
			some = "; calls are missing, and some last too long: see what was lost";
	return report_add_diagnosis(report, "uprobe", &name, calls,
		report_text(report, calls ? "each call costs about %.1f us more, since probes make it a region%s"
					  : "probes make it a region, about %.1f us for a call, but no call was seen%s",
			    pair->cell.value / 1e3, some));
}

/* sparkctl could not say so when it was. */
static int report_diagnose_starts(struct report *report)
{
	const struct session_facts *facts = report->facts;

	if (facts->start_waits && report_add_diagnosis(report, "start-wait", NULL, facts->start_waits,
		report_text(report, "a program waited for sparkctl when it started, at most %.0f ms: sparkctl was stopped or had no "
			    "CPU, and the program's times have that in them", (double)facts->start_longest_ns / 1e6)))
		return -1;
	return facts->start_unheard ? report_add_diagnosis(report, "start-wait", NULL, facts->start_unheard,
		"a program waited 2 s for sparkctl when it started, which was stopped or had no CPU, and went on unmeasured") : 0;
}

int report_add_diagnostics(struct report *report, const struct profile *profile)
{
	struct diagnosis_builder builder = { .report = report, .profile = profile };
	int err = report_collect_begun(&builder);
	u32 i;

	for (i = 0; !err && i < profile->ndiags; i++)
		err = report_diagnose(&builder, &profile->diags[i]);
	for (i = 0; !err && i < profile->nopens; i++)
		err = report_diagnose_open(&builder, &profile->opens[i]);
	for (i = 0; !err && i < report->facts->ntotals; i++)
		if (!strncmp(report->facts->totals[i].name, CALLS_PAIR, strlen(CALLS_PAIR)))
			err = report_diagnose_probed(report, profile, &report->facts->totals[i]);
	if (!err && profile->repaired)
		err = report_add_diagnosis(report, "repaired", NULL, profile->repaired,
			"calls that the end of their thread had torn were completed");
	if (!err && report->facts->unfinished)
		err = report_add_diagnosis(report, "unfinished", NULL, 1,
			"sparkctl ended before the run did: the figures are those of its last look");
	if (!err)
		err = report_diagnose_starts(report);
	free(builder.begun);
	if (!err)
		report_merge_diagnoses(report);
	return err;
}

/* ---- markers --------------------------------------------------------------------------------------- */

static double report_pair_ns(const struct report *report)
{
	const struct session_facts *facts = report->facts;
	u32 pair = 0;
	size_t i;

	for (i = 0; i < facts->nprocesses; i++)
		pair = MAX(pair, facts->processes[i].pair);
	return clock_map_duration(facts->clock_map, pair);
}

/* Time in which markers can have run: of the run, or of all measured threads if that is more. */
static double report_marker_wall(const struct report *report, const struct profile *profile)
{
	double threads = 0;
	u32 i;

	for (i = 0; i < profile->nthreads; i++)
		threads += clock_map_duration(report->facts->clock_map, (double)profile->threads[i].wall);
	return MAX(threads, (double)report->facts->duration_ns);
}

struct fine_region {
	u32 name;
	u64 calls;
};

static int report_compare_fine(const void *a, const void *b)
{
	const struct fine_region *x = a, *y = b;

	return x->calls > y->calls ? -1 : x->calls < y->calls;
}

/* Regions so short that their own markers are a good part of them, by name, most called first. */
static size_t report_find_fine(const struct report *report, const struct profile *profile,
			       struct fine_region *fine)
{
	const struct profile_row *row;
	size_t n = 0;
	double mean;
	u32 i;

	for (i = 0; i < profile->nnames; i++)
		fine[i].name = i;
	for (i = 0; i < profile->nrows; i++) {
		row = &profile->rows[i];
		if (!row->calls || row->name == PROFILE_NONE)
			continue;
		mean = clock_map_duration(report->facts->clock_map,
					  (double)row->raw_wall / (double)row->calls);
		if (mean < report_fine_pairs * report->markers.pair_ns)
			fine[row->name].calls += row->calls;
	}
	qsort(fine, profile->nnames, sizeof(*fine), report_compare_fine);
	while (n < profile->nnames && fine[n].calls)
		n++;
	return n;
}

static int report_name_fine(struct report *report, const struct profile *profile)
{
	struct fine_region *fine = calloc((size_t)profile->nnames + 1, sizeof(*fine));
	const char *text = "", *name;
	size_t i, n;

	if (!fine)
		return -1;
	n = report_find_fine(report, profile, fine);
	for (i = 0; text && i < MIN(n, REPORT_FINE_NAMED); i++) {
		name = report_name(report, &profile->names[fine[i].name]);
		text = name ? report_text(report, "%s%s%s", text, i ? ", " : "", name) : NULL;
	}
	if (text && n > REPORT_FINE_NAMED)
		text = report_text(report, "%s and %zu more", text, n - REPORT_FINE_NAMED);
	free(fine);
	report->markers.fine = n ? text : NULL;
	return text ? 0 : -1;
}

int report_add_markers(struct report *report, const struct profile *profile)
{
	struct report_markers *markers = &report->markers;
	double wall = report_marker_wall(report, profile);

	markers->pairs = profile->pairs;
	markers->pair_ns = report_pair_ns(report);
	markers->cost_ns = clock_map_duration(report->facts->clock_map, profile->pair_cost);
	markers->share = wall > 0 ? markers->cost_ns / wall * 100 : 0;
	markers->warn = markers->share > report_warn_share;
	return report_name_fine(report, profile);
}
