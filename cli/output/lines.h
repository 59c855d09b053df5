/* SPDX-License-Identifier: MIT */
/* Labelled lines of text below a table, wrapped to the width of the terminal. */
#ifndef CLI_OUTPUT_LINES_H
#define CLI_OUTPUT_LINES_H

#include "cli/analyze/report.h"
#include "cli/output/output.h"
#include "cli/term.h"

/* Where lines go, and what they look like. */
struct lines {
	FILE *file;
	const struct report *report;
	const struct output_options *options;
};

/* "label             text"; on a narrow terminal the text begins on a line of its own. */
void lines_print(const struct lines *lines, enum term_style style, const char *label, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A line of short pieces that are not broken, such as "faults 12 345". */
struct lines_row {
	const struct lines *lines;
	const char *gap;             /* between pieces */
	size_t indent, column;
	bool begun;
};

struct lines_row lines_begin(const struct lines *lines, const char *label, const char *gap);
void lines_piece(struct lines_row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lines_end(struct lines_row *row);

/* Text from strangers made printable and cut to some columns; to be freed, NULL when memory is short. */
char *lines_name(const char *text, size_t columns);
/* The same, cut in the middle: of a long path the end tells most. */
char *lines_name_middle(const char *text, size_t columns);
/* lines_function.c: the same for a name of a function, of which arguments go first, then those of templates. */
char *lines_function(const char *text, size_t columns);
/* Without what is in brackets: "std::vector::push_back"; to be freed. */
char *lines_function_plain(const char *name);
/* Columns of a name within a line: a word is not broken, so it must fit beside the label. */
size_t lines_name_most(const struct lines *lines);

/* lines_agent.c: one line for each reason. */
void lines_without_agent(const struct lines *lines);
void lines_no_marker(const struct lines *lines);
/* What markers cost. */
void lines_markers(const struct lines *lines);

/* lines_portion.c: of the header, for how long it was measured, if not all the time; and in which regions. */
void lines_measured(struct lines_row *row, const struct session_facts *facts, bool utf8);
void lines_inside(const struct lines *lines);

/* lines_report.c: what stands above and below the tables. */
void lines_header(const struct lines *lines);
void lines_totals(const struct lines *lines);
void lines_total_notes(const struct lines *lines);
void lines_missing(const struct lines *lines);
void lines_notes(const struct lines *lines);
/* lines_origin.c: when and from what it was recorded. */
void lines_origin(const struct lines *lines);

/* lines_profile.c: the hottest functions of each region, and how much of the samples can be told. */
void lines_hot(const struct lines *lines);
void lines_samples(const struct lines *lines);
/* What is missing of one region, where something is. */
void lines_part_missing(const struct lines *lines, const struct stacks_part *part, const struct stacks_scope *scope);
/* "41.2" percent of a sum; of its samples, where they have no weight. */
double lines_share(const struct stacks_sum *sum, const struct stacks_sum *of);
/* "hot in query [123]" of "hot" for a region of the samples; to be freed. */
char *lines_part(const struct lines *lines, const struct stacks_part *part, const char *word);
/* "vdbe.c:2104", "" where it is not known. */
void lines_place(const struct lines *lines, const struct stacks_place *place, char *out, size_t size);

/* lines_storage.c: the page cache that the command found, if that was asked, and what the run stood on. */
void lines_storage(const struct lines *lines);
/* The latter alone, where it is wanted, or the user declared something. */
void lines_storage_of(const struct lines *lines, const struct storage_fact *storage, bool wanted);
/* lines_group.c: figures of the run's own control group. */
void lines_group(const struct lines *lines);
bool lines_of_group(const struct total_fact *total);

/* lines_split.c: what the time of the hottest rows was spent on. */
void lines_splits(const struct lines *lines);

/* lines_window.c: what stands out in a window, to be freed; and the same of the first ones. */
char *window_sentence(const struct report_window *window, bool utf8);
void lines_windows(const struct lines *lines);
/* In percent of the time of its threads, or of its own where that is not known. */
double window_region_share(const struct window_fact *fact, u64 ns);
/* The regions with most time of their own: "parse 61 %, sort 20 %"; to be freed, "" where none are known. */
char *window_regions_text(const struct lines *lines, const struct window_fact *fact);
/* table_windows.c: single windows. Returns 0, or -1 when memory is short. */
int table_windows_print(const struct lines *lines);

/* table_cost.c: what calls of some regions cost. Returns 0, or -1 when memory is short. */
int table_costs_print(const struct lines *lines);

/* table_profile.c: tables of the samples. Returns 0, or -1 when memory is short. */
int table_profile_print(const struct lines *lines);

/* table_totals.c: one total a line. Returns 0, or -1 when memory is short. */
int table_totals_print(const struct lines *lines);
/* The same for each part. */
int table_parts_print(const struct lines *lines);
/* table_block.c: what devices did, and what is missing of it. Returns 0, or -1 when memory is short. */
int table_block_print(const struct lines *lines);
/* The second alone. */
void lines_block(const struct lines *lines);
/* table_calls.c: calls of the system, and whether a total is one of them. */
int table_calls_print(const struct lines *lines);
bool table_calls_have(const struct report *report, const struct total_fact *total);
/* It is of how often a call failed. */
bool table_calls_fail(const struct report *report, const struct total_fact *total);

#endif
