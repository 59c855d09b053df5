/* SPDX-License-Identifier: MIT */
/*
 * Metrics that are computed from others by a formula (formula.h): the rows that are built in, and
 * those that somebody defines for a report. Inputs are columns of regions, or totals, by name.
 */
#ifndef CLI_ANALYZE_DERIVED_H
#define CLI_ANALYZE_DERIVED_H

#include "cli/analyze/formula.h"
#include "cli/analyze/metric.h"

enum { DERIVED_WAYS = 2, DERIVED_DEFINITIONS_MAX = 256 };

/* What a table says in another form, so that it does not show the metric unless it is asked for. */
enum derived_told {
	DERIVED_IN_REGIONS = 1,      /* by a column */
	DERIVED_IN_RATIOS = 2,       /* by a ratio, beside a total */
	DERIVED_IN_TOTALS = 4,       /* by the header, or a total */
};

struct derived_row {
	struct metric metric;        /* without a function */
	/* Formulas, the first whose inputs are all there; NULL: it makes no sense for one of the two. */
	const char *regions[DERIVED_WAYS], *totals[DERIVED_WAYS];
	u32 told;                    /* mask of enum derived_told */
};

const struct derived_row *derived_table(size_t *count);
const struct derived_row *derived_find(const char *name);

/* Metrics that somebody defined, in order: each may use those before it. */
struct definition {
	struct formula formula;
	bool aside;                  /* in a table only if --metrics names it */
};

struct definitions {
	struct definition *item;
	size_t n;
};

const struct definition *definitions_find(const struct definitions *definitions, const char *name);
/* Takes and appends one, or puts it in the place of that with its name. 0, or -1 with the mistake. */
int definitions_add(struct definitions *definitions, struct formula *formula, bool aside, struct formula_error *error);
void definitions_free(struct definitions *definitions);

/* ---- in a report: one metric, with what it takes its inputs from */

#define DERIVED_ABSENT SIZE_MAX

struct derived_use {
	const struct formula *formula; /* NULL: it makes no sense here */
	struct formula own;          /* of a row */
	size_t input[FORMULA_INPUTS_MAX]; /* column, or total; DERIVED_ABSENT: there is none */
	bool complete;               /* all are there */
	bool user;                   /* of user mode only: an input's column is */
	bool sided;                  /* it counts what a program does: see enum formula_side */
};

struct derived {
	struct metric metric;
	const struct derived_row *row; /* NULL: defined by somebody */
	bool aside;
	struct derived_use regions, totals;
	struct cell absent;          /* of all rows, where an input is no column */
	const char *note;            /* the newest: those of many rows are the same */
};

#endif
