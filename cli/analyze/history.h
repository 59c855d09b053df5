/* SPDX-License-Identifier: MIT */
/*
 * Runs of one command over time: what each has measured of a row, whether that changed, and whether something else than
 * the program changed with it. A reader adds runs and values to struct history.runs, in the order in which they were
 * made; history_judge() finds where the level changed, and histories are handed to an output.
 *
 * Runs are compared within a regime: all that are alike in what refuses a comparison, the CPU, the kernel, the state of
 * the page cache, what was measured and how, whatever runs of other regimes stand between. A stretch is as many of one
 * regime as follow on each other; the step from one to the next is told as one, and not of the program.
 */
#ifndef CLI_ANALYZE_HISTORY_H
#define CLI_ANALYZE_HISTORY_H

#include "cli/analyze/diff.h"

/* What is known of a run beside its values: enum diff_field, and the programs that ran, with their builds. */
enum { HISTORY_PROGRAM = DIFF_FIELDS, HISTORY_FIELDS };

/* What else may change, of one row alone: its values are of user mode alone, or estimates. Behind the fields, where bits of those are. */
enum { HISTORY_WAY = HISTORY_FIELDS, HISTORY_ALL };

/* The word for a field in the file and in JSON, and the one for people. */
const char *history_field_key(u32 field);
const char *history_field_word(u32 field);

/* One of these fields, a bit each, makes figures those of another regime. */
bool history_fields_part(u32 mask);

struct history_run {
	char *program;               /* "name\tbuild id", printable, a line each, sorted */
	int status, signal;
	bool unfinished;             /* it was still going on, or was cut short */
	bool left_out;               /* it ended otherwise than most */
	u32 stretch;
	u32 regime;                  /* a number by the first run that had it */
};

/* A place where something is another than in the run before. */
struct history_turn {
	u32 run;
	u32 fields;                  /* a bit for each */
	bool parts;                  /* a stretch begins */
};

/* One row of one metric. */
struct history_series {
	enum diff_kind kind;
	u32 metric, row;
	u32 n;                       /* runs that have a value */
	u32 newest;                  /* the last of them */
	u32 nchanges;
	bool mixed;                  /* not all are counted in one way; they are compared with their like */
};

struct history_change {
	u32 series;
	u32 run;                     /* the first of the new level */
	u32 former;                  /* the last one of the old level */
	bool outside;                /* another stretch begins there, if only of this row */
	u32 fields;                  /* what else changed with it */
	double before, after;        /* medians, up to the changes next to it */
	double p;                    /* adjusted for all tests, but for a further one */
	bool further;                /* found beside another change of the row, at a quarter of the rate */
};

struct history {
	char *command;               /* raw bytes */
	struct diff runs;            /* one side */
	struct history_run *of;      /* one for each of its runs */
	u32 room;                    /* for as many */
	u32 nleft_out;
	u32 nregimes;
	u32 nshort;                  /* runs, of several regimes, in those of too few to be judged by themselves */
	u64 before;                  /* runs before these, which were not read */
	struct history_turn *turns;
	u32 nturns;
	u32 nstretches;
	struct history_series *series; /* totals, then regions by path */
	u32 nseries;
	struct history_change *changes; /* by series, then by run */
	u32 nchanges;
};

struct histories {
	const char *path;            /* of the file */
	struct history *item;
	u32 n;
	double rate;                 /* of reports in which a mark is false, if nothing changed: 0.01 */
	const char *metrics;         /* globs */
	const char *regions;         /* globs; NULL: all */
};

/* Room for a history of n runs. 0, or -1 when memory is short. */
int history_init(struct history *history, u32 n);
void histories_free(struct histories *all);

/* The programs of a run, as history_run.program has them; NULL when memory is short. */
char *history_program(const struct session_facts *facts);

/* What is wrong with the metrics: the glob that nothing has, in text; NULL: none. After history_judge(). */
const char *history_unknown_metric(const struct histories *all, char text[DIFF_NOTE]);

/* Fills all that is not read. 0, or -1 when memory is short. */
int history_judge(struct histories *all);

/* What a field is in a run; "" where it is not known. */
const char *history_field(const struct history *history, u32 run, u32 field);
/* NAN: there is none, or the run is left out. */
double history_value(const struct history *history, const struct history_series *series, u32 run);
/* How it was counted: DIFF_USER, and CELL_ESTIMATE where it is one. */
u8 history_way(const struct history *history, const struct history_series *series, u32 run);
/* The name of a total or a region's path, "[]" for the root, printable. */
const char *history_path(const struct history *history, const struct history_series *series);
const char *history_metric(const struct history *history, const struct history_series *series);
static inline const struct diff_run *history_at(const struct history *history, u32 run)
{
	return &history->runs.sides[0].runs[run];
}
static inline u32 history_nruns(const struct history *history)
{
	return history->runs.sides[0].nruns;
}

#endif
