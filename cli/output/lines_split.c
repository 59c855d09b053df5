/* SPDX-License-Identifier: MIT */
/* A sentence for each of the hottest rows: on a CPU, waiting for one, and blocked, where and by what. */
#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/lines.h"

enum { SPLIT_CAUSES = 3, SPLIT_WAKERS = 2, SPLIT_NAME_MAX = 32 };

static void split_percent(const struct lines *lines, char *out, double ns, const struct report_split *split)
{
	struct cell cell = { .value = split->whole > 0 ? 100 * ns / split->whole : 0 };

	format_share(out, &cell, 0, " %", lines->options->utf8);
}

static double split_ns(const struct report_split *split, u32 first, u32 last)
{
	double sum = 0;
	u32 i;

	for (i = first; i <= last; i++)
		sum += cell_has_value(&split->part[i].cell) ? split->part[i].cell.value : 0;
	return sum;
}

/* "read in fill_buffer", "futex", "disk in main"; to be freed. */
static char *cause_text(const struct lines *lines, const struct report_cause *cause)
{
	const char *kind = strchr(report_part_names[cause->kind], '.') + 1;
	char *function = cause->function ? lines_function(cause->function, lines_name_most(lines)) : NULL;
	char *call = lines_name(cause->call ? cause->call : kind, lines_name_most(lines)), *text = NULL;
	int len;

	if (cause->kind == REPORT_OTHER && !cause->call && !function)
		len = asprintf(&text, "cause not seen");
	else if (function)
		len = asprintf(&text, "%s in %s", call ? call : kind, function);
	else
		len = asprintf(&text, "%s", call ? call : kind);
	free(function);
	free(call);
	return len < 0 ? NULL : text;
}

static void split_hot(const struct lines *lines, FILE *out, const struct report_split *split)
{
	char *hot = split->hot ? lines_function(split->hot, lines_name_most(lines)) : NULL;
	char *into = split->hot_into ? lines_function(split->hot_into, lines_name_most(lines)) : NULL;
	const char *slash = split->hot_file ? strrchr(split->hot_file, '/') : NULL;
	char *file = split->hot_file ? lines_name_middle(slash ? slash + 1 : split->hot_file, 28) : NULL;

	if (hot)
		fprintf(out, " (hot: %s", hot);
	if (hot && file && split->hot_line)
		fprintf(out, " %s:%u", file, split->hot_line);
	if (hot)
		fprintf(out, into ? ", inlined into %s)" : ")", into);
	free(hot);
	free(into);
	free(file);
}

static void split_blocked(const struct lines *lines, FILE *out, const struct report_split *split)
{
	char share[FORMAT_SIZE];
	const char *before = " (";
	size_t i;

	split_percent(lines, share, split_ns(split, REPORT_DISK, REPORT_OTHER), split);
	fprintf(out, "blocked %s", share);
	for (i = 0; i < split->ncauses && i < SPLIT_CAUSES && split->causes[i].ns >= 0.005 * split->whole; i++) {
		char *text = cause_text(lines, &split->causes[i]);

		split_percent(lines, share, split->causes[i].ns, split);
		fprintf(out, "%s%s %s", before, text ? text : "", share);
		before = ", ";
		free(text);
	}
	if (i)
		fputc(')', out);
	split_percent(lines, share, split->disk_delay.cell.value, split);
	if (cell_has_value(&split->disk_delay.cell) && split->disk_delay.cell.value >= 0.005 * split->whole)
		fprintf(out, ", of that for block devices %s", share);
}

/* "producer in push", "an interrupt"; to be freed. */
static char *waker_text(const struct lines *lines, const struct report_waker *waker)
{
	static const char *const words[] = {
		[SAMPLES_WAKER_THREAD] = "a thread", [SAMPLES_WAKER_OUTSIDE] = "another program",
		[SAMPLES_WAKER_INTERRUPT] = "interrupts", [SAMPLES_WAKER_SOFTIRQ] = "soft interrupts",
		[SAMPLES_WAKER_OTHERS] = "others",
	};
	const char *name = waker->name ? waker->name : words[MIN(waker->by, (u32)SAMPLES_WAKER_OTHERS)];
	char *who = lines_name(name, lines_name_most(lines)), *text = NULL;
	char *function = waker->function ? lines_function(waker->function, lines_name_most(lines)) : NULL;
	int len;

	if (function)
		len = asprintf(&text, "%s in %s", who ? who : "?", function);
	else
		len = asprintf(&text, "%s", who ? who : "?");
	free(who);
	free(function);
	return len < 0 ? NULL : text;
}

/* Of the time blocked that a wake-up ended. */
static void split_wakers(const struct lines *lines, FILE *out, const struct report_split *split)
{
	const char *before = "; woken by ";
	char share[FORMAT_SIZE];
	double all = 0;
	size_t i;

	for (i = 0; i < split->nwakers; i++)
		all += split->wakers[i].ns;
	if (all < 0.005 * split->whole)
		return;
	for (i = 0; i < split->nwakers && i < SPLIT_WAKERS && split->wakers[i].ns >= 0.05 * all; i++) {
		struct cell cell = { .value = 100 * split->wakers[i].ns / all };
		char *text = waker_text(lines, &split->wakers[i]);

		format_share(share, &cell, 0, " %", lines->options->utf8);
		fprintf(out, "%s%s %s", before, text ? text : "", share);
		before = ", ";
		free(text);
	}
}

static char *split_sentence(const struct lines *lines, const struct report_row *row)
{
	const struct report_split *split = row->split;
	char share[FORMAT_SIZE], *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (!row->root) {
		format_share(share, &row->wall_share, 0, " %", lines->options->utf8);
		fprintf(out, "%s of wall; ", share);
	}
	split_percent(lines, share, split_ns(split, REPORT_USER, REPORT_KERNEL), split);
	fprintf(out, "on-CPU %s", share);
	split_hot(lines, out, split);
	split_percent(lines, share, split_ns(split, REPORT_RUNNABLE, REPORT_RUNNABLE), split);
	fprintf(out, ", run-queue %s, ", share);
	split_blocked(lines, out, split);
	split_percent(lines, share, split_ns(split, REPORT_RESIDUAL, REPORT_RESIDUAL), split);
	if (split_ns(split, REPORT_RESIDUAL, REPORT_RESIDUAL) >= 0.005 * split->whole)
		fprintf(out, ", not known %s", share);
	split_wakers(lines, out, split);
	fclose(out);
	return text;
}

/* How it was found out, and what is missing. */
static void split_notes(const struct lines *lines)
{
	const struct samples *samples = lines->report->facts->samples;
	char lost[FORMAT_SIZE];

	if (samples->off_polled)
		lines_print(lines, STYLE_PLAIN, "off-cpu", "no switch was recorded: estimates by a look into /proc each 10 ms");
	if (samples->off_note)
		lines_print(lines, STYLE_PLAIN, "off-cpu", "%s", samples->off_note);
	if (samples->off_no_delay && lines->options->verbose > 0)
		lines_print(lines, STYLE_PLAIN, "off-cpu", "how long block devices were waited for is not accounted: %s",
			    samples->off_no_delay);
	if (samples->off_no_waker && lines->options->verbose > 0)
		lines_print(lines, STYLE_PLAIN, "off-cpu", "who ends waits is not known: %s", samples->off_no_waker);
	format_count(lost, (double)samples->off_unwoken);
	if (samples->off_unwoken)
		lines_print(lines, STYLE_BAD, "off-cpu", "%s wake-ups were lost: who made them, and the waits for a CPU after them, are"
			    " not known", lost);
	format_count(lost, (double)samples->off_lost);
	if (samples->off_lost)
		lines_print(lines, STYLE_BAD, "off-cpu", "%s switches or their partners were lost: the times around them are not known",
			    lost);
}

void lines_splits(const struct lines *lines)
{
	const struct report *report = lines->report;
	size_t i;

	if (!report->facts->samples || !report->facts->samples->off)
		return;
	for (i = 0; i < report->nrows; i++) {
		const struct report_row *row = &report->rows[i];
		char *name, *label, *text;

		if (!row->split || !row->split->causes || !(row->split->whole > 0) ||
		    !cell_has_value(&row->split->part[REPORT_RESIDUAL].cell))
			continue;
		name = row->root ? strndup(row->name, strcspn(row->name, " ")) : strdup(row->name);
		label = name ? lines_name(name, SPLIT_NAME_MAX) : NULL;
		text = split_sentence(lines, row);
		lines_print(lines, STYLE_PLAIN, label ? label : "?", "%s", text ? text : "");
		free(label);
		free(name);
		free(text);
	}
	if (lines->options->verbose >= 0)
		split_notes(lines);
}
