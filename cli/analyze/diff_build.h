/* SPDX-License-Identifier: MIT */
/* What the files of diff*.c share; nothing else may use it. */
#ifndef CLI_ANALYZE_DIFF_BUILD_H
#define CLI_ANALYZE_DIFF_BUILD_H

#include <stdio.h>

#include "cli/analyze/diff.h"

/* diff_rows.c: a copy with nothing in it that steers a terminal; NULL when memory is short. */
char *diff_printable(const char *bytes);
/* The unit as it was made printable is that of the bytes. */
bool diff_same_unit(const char *unit, const char *bytes);
/* Each finds or adds; DIFF_NONE when memory is short. */
u32 diff_metric(struct diff *diff, enum diff_kind kind, const char *name, const char *unit, enum metric_format format,
		bool diagnostic);
u32 diff_row(struct diff *diff, enum diff_kind kind, u32 parent, const char *name, size_t len, const char *origin);
/* What a name of the first side is called on the others; *len is its length. run is the one that is being added. */
const char *diff_renamed(const struct diff *diff, const struct diff_run *run, const char *name, size_t *len);
/* 0, or -1 when memory is short. */
int diff_put(struct diff *diff, struct diff_run *run, enum diff_kind kind, u32 metric, u32 row, const struct cell *cell);

/* A region that the run has, whatever is known of it. */
int diff_put_region(struct diff *diff, struct diff_run *run, u32 row, bool renamed);
bool diff_has_region(const struct diff_run *run, u32 row);
/* The weight of samples within a function, which is added to what is there. */
int diff_put_within(struct diff *diff, struct diff_run *run, u32 row, double weight);

/* diff.c: nothing was asked for, or this was, or a gate is on it. */
bool diff_wanted(const struct diff *diff, const char *metric);

/* diff_functions.c: 0, or -1 when memory is short. */
int diff_add_functions(struct diff *diff, struct diff_run *run, const struct session_facts *facts);

/* Which figure; and room for its values by rounds, twice as much in scratch. */
struct diff_row_at {
	enum diff_kind kind;
	u32 metric, row;
};

struct diff_rounds {
	double *values[2], *scratch;
	size_t n;
};

/* diff_rounds.c: what is told by rounds beside what is by ranks, if there are enough of them for this rate. */
void diff_rounds_compare(struct rank *rank, const struct diff_side *a, const struct diff_side *b,
			 const struct diff_row_at *at, double rate, struct diff_rounds *rounds);

/* diff_regime.c */
int diff_regime_read(struct diff_run *run, const struct profile *profile, const struct session_facts *facts);
/* A process ran this file. */
bool diff_is_image(const struct session_facts *facts, const char *path);
/* Writes n lines in order, each once, and frees them and the array. */
void diff_lines_write(FILE *f, char **lines, size_t n);
/* Fills what is refused of each side, and notes. */
void diff_regime_judge(struct diff *diff);

/* diff_gate.c: 0, or -1 when memory is short. */
int diff_gates_judge(struct diff *diff, u32 side);

/* diff_notes.c: what is to be said when all is judged. */
void diff_notes_make(struct diff *diff);

#endif
