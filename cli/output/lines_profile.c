/* SPDX-License-Identifier: MIT */
/* The lines on samples: the hottest functions of each region, and what is missing from the samples. */
#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/lines.h"
#include "cli/text.h"

enum { LINES_PARTS = 8, LINES_HOT = 3, LINES_REGION_MAX = 40, LINES_PLACE_MAX = 28 };

double lines_share(const struct stacks_sum *sum, const struct stacks_sum *of)
{
	if (of->weight)
		return 100 * ((double)sum->weight / (double)of->weight);
	return of->count ? 100 * ((double)sum->count / (double)of->count) : 0;
}

void lines_place(const struct lines *lines, const struct stacks_place *place, char *out, size_t size)
{
	const char *file = stacks_string(lines->report->stacks, place->file), *slash;
	size_t width = lines->options->width;
	char *name;

	out[0] = '\0';
	if (!file)
		return;
	slash = strrchr(file, '/');
	name = lines_name_middle(slash ? slash + 1 : file, width ? MIN((size_t)LINES_PLACE_MAX, MAX(width / 4, (size_t)8)) :
				 LINES_PLACE_MAX);
	if (name && place->line)
		snprintf(out, size, "%s:%u", name, place->line);
	else
		snprintf(out, size, "%s", name ? name : "");
	free(name);
}

/* ---- regions --------------------------------------------------------------------------------------- */

/* Another region of the same name would be taken for it. */
static bool lines_part_ambiguous(const struct report *report, const struct stacks_part *part)
{
	const struct samples_region *regions = report->facts->samples->regions;
	u32 region = part->scope.region - 1;
	size_t i;

	for (i = 0; i < report->nparts; i++) {
		u32 other = report->parts[i].scope.region;

		if (other && other - 1 != region && regions[other - 1].name == regions[region].name)
			return true;
	}
	return false;
}

/* A region's name, or its path where the name does not say which it is; to be freed. */
static char *lines_region(const struct lines *lines, const struct stacks_part *part)
{
	const struct report *report = lines->report;
	const struct samples *samples = report->facts->samples;
	const char *name = samples->strings[samples->regions[part->scope.region - 1].name].bytes;
	size_t width = lines->options->width, most = width ? MIN((size_t)LINES_REGION_MAX, width / 2) : LINES_REGION_MAX;
	u32 i = samples->regions[part->scope.region - 1].parent;
	char *path = strdup(*name ? name : "\"\""), *longer, *cut;

	for (; lines_part_ambiguous(report, part) && i != SAMPLES_NONE && path; i = samples->regions[i].parent) {
		if (asprintf(&longer, "%s;%s", samples->strings[samples->regions[i].name].bytes, path) < 0)
			longer = NULL;
		free(path);
		path = longer;
	}
	cut = path ? lines_name_middle(path, most) : NULL;
	free(path);
	return cut;
}

char *lines_part(const struct lines *lines, const struct stacks_part *part, const char *word)
{
	const struct report *report = lines->report;
	char *region = part->scope.region ? lines_region(lines, part) : NULL, *text = NULL, pid[32] = "";
	int len;

	if (part->pid && report->facts->nprocesses > 1)
		snprintf(pid, sizeof(pid), " [%u]", part->pid);
	if (part->scope.region)
		len = asprintf(&text, "%s in %s%s", word, region ? region : "", pid);
	else if (part->scope.unattributed)
		len = asprintf(&text, "%s, region unknown%s", word, pid);
	else
		len = asprintf(&text, "%s%s%s", word, report->has_regions ? " outside" : "", pid);
	free(region);
	return len < 0 ? NULL : text;
}

/* ---- the hottest ----------------------------------------------------------------------------------- */

static void lines_hot_entry(const struct lines *lines, struct lines_row *row, const struct stacks_entry *entry,
			    const struct stacks_part *part)
{
	char place[4 * LINES_PLACE_MAX + 16], share[FORMAT_SIZE];
	char *name = stacks_function_name(lines->report->stacks, entry->function);
	char *cut = name ? lines_function(name, lines_name_most(lines)) : NULL;

	lines_place(lines, &entry->place, place, sizeof(place));
	format_share(share, &(struct cell){ .value = lines_share(&entry->self, &part->sum) }, 0, " %", lines->options->utf8);
	lines_piece(row, "%s %s%s%s", share, cut ? cut : "", *place ? " " : "", place);
	free(cut);
	free(name);
}

static void lines_hot_part(const struct lines *lines, const struct stacks_part *part)
{
	const char *gap = lines->options->utf8 ? " · " : ", ";
	char *label = lines_part(lines, part, "hot");
	struct stacks_entry *entries;
	struct lines_row row;
	size_t i, n;

	if (stacks_flat(lines->report->stacks, &part->scope, &entries, &n) != 0) {
		free(label);
		return;
	}
	row = lines_begin(lines, label ? label : "hot", gap);
	/* What would be 0 % tells nothing. */
	for (i = 0; i < n && i < LINES_HOT && (!i || lines_share(&entries[i].self, &part->sum) >= 0.5); i++)
		lines_hot_entry(lines, &row, &entries[i], part);
	if (!i)
		lines_piece(&row, "nothing is known of where");
	else if (i < n && entries[i].self.count)
		lines_piece(&row, "%s", lines->options->utf8 ? "…" : "...");
	lines_end(&row);
	free(entries);
	free(label);
}

/* Those with a hundredth of the samples, the greatest first; there is always one. */
static size_t lines_parts_shown(const struct lines *lines)
{
	const struct report *report = lines->report;
	struct stacks_sum all = stacks_sum(report->stacks, &(struct stacks_scope){ .whole = true });
	size_t n;

	if (lines->options->verbose > 0)
		return report->nparts;
	for (n = 0; n < report->nparts && n < LINES_PARTS; n++)
		if (n && lines_share(&report->parts[n].sum, &all) < 1)
			break;
	return n;
}

void lines_hot(const struct lines *lines)
{
	const struct report *report = lines->report;
	size_t i, most = lines_parts_shown(lines);

	if (lines->options->verbose < 0)
		return;
	for (i = 0; i < most; i++)
		lines_hot_part(lines, &report->parts[i]);
	if (most < report->nparts)
		fprintf(lines->file, "and %zu more region%s with samples; -v shows all\n", report->nparts - most,
			report->nparts - most == 1 ? "" : "s");
}

/* ---- what is missing ------------------------------------------------------------------------------- */

static void lines_samples_count(struct lines_row *row, const char *what, u64 count)
{
	char text[FORMAT_SIZE];

	format_count(text, (double)count);
	if (count)
		lines_piece(row, "%s %s", what, text);
}

static void lines_unresolved(struct lines_row *row, const struct stacks_gaps *gaps)
{
	static const char *const reasons[] = {
		[SAMPLES_STRIPPED] = "stripped", [SAMPLES_DELETED] = "deleted", [SAMPLES_UNREADABLE] = "unreadable",
		[SAMPLES_NO_MAP] = "JIT without a map", [SAMPLES_HIDDEN] = "kernel hidden", [SAMPLES_UNMAPPED] = "not mapped",
		[SAMPLES_NOT_ASKED] = "not looked up",
	};
	char what[64];
	u32 i;

	for (i = SAMPLES_RESOLVED + 1; i < SAMPLES_UNRESOLVED_KINDS; i++) {
		snprintf(what, sizeof(what), "without name (%s)", reasons[i]);
		lines_samples_count(row, what, gaps->unresolved[i]);
	}
}

static void lines_truncated(struct lines_row *row, const struct stacks_gaps *gaps)
{
	static const char *const reasons[] = {
		[SAMPLES_SHORT_COPY] = "stack copy too small", [SAMPLES_OTHER_STACK] = "a handler's own stack",
		[SAMPLES_NO_CFI] = "no CFI", [SAMPLES_BAD_CFI] = "broken CFI", [SAMPLES_NO_MAPPING] = "not mapped",
		[SAMPLES_NO_UNWINDER] = "CFI for libunwind", [SAMPLES_TOO_DEEP] = "too deep",
		[SAMPLES_NO_REGISTERS] = "no registers",
	};
	char what[64];
	u32 i;

	lines_samples_count(row, "truncated", gaps->truncations[SAMPLES_NO_REASON]);
	for (i = SAMPLES_NO_REASON + 1; i < SAMPLES_TRUNCATIONS; i++) {
		snprintf(what, sizeof(what), "truncated (%s)", reasons[i]);
		lines_samples_count(row, what, gaps->truncations[i]);
	}
}

static void lines_samples_rate(struct lines_row *row, const struct samples *samples)
{
	char *event = samples->event ? lines_name(samples->event, 40) : NULL;
	char *stacks = samples->stacks ? lines_name(samples->stacks, 20) : NULL;

	if (samples->effective > 0)
		lines_piece(row, "%.0f a second of CPU time", samples->effective);
	if (samples->frequency)
		lines_piece(row, "%llu asked for", (unsigned long long)samples->frequency);
	if (event)
		lines_piece(row, "by %s", event);
	if (stacks)
		lines_piece(row, "stacks %s", stacks);
	if (samples->note)
		lines_piece(row, "%s", samples->note);
	free(event);
	free(stacks);
}

static void lines_gap_pieces(struct lines_row *row, const struct stacks_gaps *gaps)
{
	lines_samples_count(row, "lost", gaps->lost);
	lines_samples_count(row, "throttled", gaps->throttled);
	lines_samples_count(row, "unattributed", gaps->unattributed);
	lines_truncated(row, gaps);
	lines_samples_count(row, "without place", gaps->no_chain);
	lines_unresolved(row, gaps);
}

void lines_part_missing(const struct lines *lines, const struct stacks_part *part, const struct stacks_scope *scope)
{
	struct stacks_gaps gaps = stacks_gaps(lines->report->stacks, scope), none = { .samples = gaps.samples };
	struct lines_row row;
	char *label;

	/* Its title says already that its region is not known. */
	gaps.unattributed = 0;
	if (!memcmp(&gaps, &none, sizeof(gaps)))
		return;
	label = lines_part(lines, part, "missing");
	row = lines_begin(lines, label ? label : "missing", "   ");
	lines_gap_pieces(&row, &gaps);
	lines_end(&row);
	free(label);
}

void lines_samples(const struct lines *lines)
{
	const struct samples *samples = lines->report->facts->samples;
	struct stacks_gaps gaps = stacks_gaps(lines->report->stacks, &(struct stacks_scope){ .whole = true });
	double taken = (double)gaps.samples + (double)samples->lost;
	char text[FORMAT_SIZE];
	struct lines_row row;

	if (lines->options->verbose >= 0) {
		row = lines_begin(lines, "samples", "   ");
		format_count(text, (double)gaps.samples);
		lines_piece(&row, "%s", text);
		lines_samples_rate(&row, samples);
		lines_gap_pieces(&row, &gaps);
		lines_end(&row);
	}
	if ((double)samples->lost > 0.01 * taken) {
		format_percent(text, 100 * (double)samples->lost / taken);
		lines_print(lines, STYLE_BAD, "lost", "%s of the samples: shares may be wrong by as much; a lower rate loses fewer",
			    text);
	}
}
