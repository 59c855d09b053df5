/* SPDX-License-Identifier: MIT */
/* What the files of report*.c share; nothing else may use it. */
#ifndef CLI_ANALYZE_REPORT_BUILD_H
#define CLI_ANALYZE_REPORT_BUILD_H

#include "cli/analyze/report.h"

struct report_text {
	struct report_text *next;
	char text[];
};

/* All return 0, or -1 when memory is short. */

/* report.c */
int report_add_column(struct report *report, const struct metric *metric);

/* report_rows.c: the rows of processes, threads and regions with their cells. */
int report_add_rows(struct report *report, const struct profile *profile);
int report_fill_cells(struct report *report, struct report_row *row, const struct metric_input *in);

/* report_origin.c: for the rows, so before them. */
int report_add_origins(struct report *report, const struct profile *profile);
void report_free_origins(struct report *report);
const struct report_origin *report_origin_of(const struct report *report, u32 name, bool probed);

/* report_totals.c: those of the session and the markers', with their ratios. */
int report_add_totals(struct report *report);
int report_add_total(struct report *report, const struct total_fact *total);
/* There is room for as many as report_add_derived_totals() may add. */
void report_add_part_total(const struct report *report, struct report_part *part, const struct total_fact *total);

/* report_calls.c: with options.all_calls. */
int report_add_calls(struct report *report);
/* It is of a call that was not made, or that nothing is known of. */
bool report_call_unmade(const struct session_facts *facts, const struct total_fact *total);

/* report_derived.c: what is computed from columns, or totals, that stand before it. */
int report_init_derived(struct report *report);
void report_free_derived(struct report *report);
int report_add_derived_columns(struct report *report);
int report_add_derived_totals(struct report *report);
/* The cell of a column in a row, where those of all columns before it are there. */
struct cell report_cell(struct report *report, size_t column, const struct cell *cells, const struct metric_input *in);

/* report_windows.c */
int report_add_windows(struct report *report, const struct profile *profile);

/* report_notes.c: losses, diagnostics, the cost of markers. */
int report_add_losses(struct report *report, const struct profile *profile);
int report_add_diagnostics(struct report *report, const struct profile *profile);
int report_add_markers(struct report *report, const struct profile *profile);

/* report_profile.c: the samples by region. */
int report_add_profile(struct report *report);

/* report_split.c: after the rows and the samples. */
int report_add_splits(struct report *report);
void report_free_splits(struct report *report);
/* report_cause.c: where it waited, and where most samples were taken, of one row. */
int report_add_causes(struct report *report, const struct report_row *row);
/* What a chain tells: the call in front, the first function of the program, or of the C library where there is none. */
struct report_cause report_cause_of(const struct samples *samples, u32 chain);
/* report_waker.c: who ended waits, of all rows: next[first[region + 1] - 1] and so on are those of a region, + 1. */
int report_add_wakers(struct report *report, const u32 *first, const u32 *next);
/* The region is that one or lies in it; SAMPLES_NONE is around all. */
bool report_region_within(const struct samples *samples, u32 region, u32 outer);

/* report_cost.c: what calls of regions cost, where that was asked for. */
int report_add_costs(struct report *report);
void report_free_costs(struct report *report);

/* An array of count + 1 items, the new one zeroed; NULL when memory is short (the old array stays). */
void *report_grow(void *array, size_t count, size_t size);

/* Appends to report.unknown. */
int report_add_unknown(struct report *report, const char *text);

const char *report_process_end(struct report *report, const struct process_facts *process);

/* report_path.c: the path "a;b;c" of a row, to be freed. */
char *report_path(const struct profile *profile, u32 row);

/* A name of the profile as it may be printed. */
const char *report_name(struct report *report, const struct profile_name *name);

#endif
