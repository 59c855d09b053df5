/* SPDX-License-Identifier: MIT */
/*
 * Runs against runs: what recordings of one side have measured beside what those of others have, row by row, and
 * which of the differences are more than noise. A row is a total, a region by its path and what begins it, or a
 * function that samples were taken in. The command adds run after run (diff_add()), each of which may be freed then,
 * has all judged (diff_judge()), and hands it to an output.
 */
#ifndef CLI_ANALYZE_DIFF_H
#define CLI_ANALYZE_DIFF_H

#include "cli/analyze/pass.h"
#include "cli/analyze/rank.h"
#include "cli/analyze/report.h"

#define DIFF_NONE (~0u)
#define DIFF_LABEL 8
#define DIFF_WHY 160

enum diff_kind { DIFF_TOTALS, DIFF_REGIONS, DIFF_FUNCTIONS, DIFF_KINDS };

extern const char *const diff_kind_words[DIFF_KINDS];

struct diff_metric {
	char *name;                  /* raw bytes */
	char *text, *unit;           /* printable */
	enum metric_format format;
	bool diagnostic;
	bool timed;                  /* of the time alone: no counter is needed for it */
	bool shown;                  /* a table of a run has it */
	bool units;                  /* another run has it in another one */
	u32 pass;                    /* + 1, that its values are of; 0: runs are not made in passes, or none has it */
};

struct diff_row {
	u32 parent;                  /* of a region; DIFF_NONE: a root, or no region */
	u32 depth;                   /* names of the path */
	char *name;                  /* raw bytes, terminated; of a function with its object, if that is not the program */
	size_t len;
	char *origin;                /* what begins the region, "" is a marker */
	char *text;                  /* the path, a total's or a function's name, printable */
	char *unit;                  /* of a total; NULL: the metric's */
	bool diagnostic;             /* of a total */
	bool timed;                  /* the same: no event is counted for it */
	bool units;                  /* of a total: another run has it in another one */
	u32 pass;                    /* of a total: as a metric's */
	u64 hash;
};

struct diff_table {
	struct diff_metric *metrics;
	u32 nmetrics;
	struct diff_row *rows;       /* parents before their children */
	u32 nrows, rows_room;
	u32 *slots;                  /* rows + 1 by hash */
	u32 nslots;
};

/* What figures depend on beside the program, as text; "" is one, too. */
enum diff_field {
	DIFF_CPU, DIFF_CACHE, DIFF_HOST, DIFF_KERNEL, DIFF_ENVIRONMENT, DIFF_COMMAND, DIFF_LIBRARIES, DIFF_SAMPLES,
	DIFF_WAITS, DIFF_SOURCES, DIFF_PORTION, DIFF_CLOCK, DIFF_VERSION, DIFF_LIMITS, DIFF_FIELDS
};

/* A metric's values in one run, by row; beyond the end there are none. */
struct diff_column {
	double *value;
	u8 *state;                   /* enum cell_state, and enum diff_flags */
	u32 n;
};

enum diff_flags {
	DIFF_STATE = 0x0f,
	DIFF_USER = 1 << 4,          /* user mode alone */
	DIFF_PRESENT = 1 << 5,       /* the run has the cell, if with no value */
};

struct diff_run {
	char *path;                  /* of the recording */
	char *field[DIFF_FIELDS];
	u64 started_ns;              /* CLOCK_REALTIME */
	u64 duration_ns;
	bool failed, unfinished;
	struct diff_column *columns[DIFF_KINDS];
	u32 ncolumns[DIFF_KINDS];
	struct diff_column regions;  /* 1: the run has the row; 2: under a name that --rename gave it */
	/* Of its functions, if any are wanted. */
	bool sampled;
	u64 samples;
	double weight;               /* of all samples */
	struct diff_column within;   /* the weight of those in the function, or in what it called */
};

enum diff_verdict {
	DIFF_MORE, DIFF_LESS,        /* beyond noise */
	DIFF_NEW, DIFF_GONE,         /* one side alone has the row */
	DIFF_REFUSED,                /* not comparable: why tells */
	DIFF_FEW,                    /* too few runs for any difference to be told from noise */
	DIFF_NOISE,                  /* no more than that */
	DIFF_EQUAL,                  /* every value is the same */
	DIFF_MISSING,                /* no value on a side */
	DIFF_VERDICTS
};

extern const char *const diff_verdict_words[DIFF_VERDICTS];

/* A row's metric on two sides. */
struct diff_result {
	struct diff_value {
		u32 n;               /* runs that have it; 0: there is no median */
		double median, mad, min, max;
		enum cell_state state; /* the worst */
		bool user;
	} side[2];
	struct rank rank;            /* if both have values; p is not adjusted */
	bool changed;                /* there is a change: both have values, the first side's are not 0 */
	double change;               /* of the ratio, or of the medians where there is no ratio: 0.07 is 7 % more */
	double adjusted;             /* p for all tests of the table; 1 where there was none */
	enum diff_verdict verdict;
	const char *why;             /* DIFF_REFUSED, or with force what it would be refused for; NULL */
	double weight;               /* how much it matters: by that tables are ordered, greatest first */
};

struct diff_side {
	char label[DIFF_LABEL];      /* "A" */
	const char *command;         /* that its runs are of; NULL: recordings tell */
	struct diff_run *runs;
	u32 nruns;
	/* To the first side; of the others alone. */
	struct diff_result *results[DIFF_KINDS]; /* by row, then by metric */
	u32 *order[DIFF_KINDS];      /* rows by metric, greatest weight first, as order[metric * nrows] */
	u32 counts[DIFF_KINDS][DIFF_VERDICTS];
	char refused[DIFF_WHY];      /* why nothing is comparable; "": it is */
	bool partly;                 /* something is not */
};

enum diff_gate_end { DIFF_PASSED, DIFF_FAILED, DIFF_UNDECIDED };

/* What --fail-on asks, of one side. */
struct diff_gate {
	const char *text;
	char *metric, *regions;      /* regions: globs; NULL: a total of that name, else all regions */
	bool more;                   /* ">": worse is more */
	double percent;
	/* Of each side but the first. */
	struct diff_gate_result {
		enum diff_gate_end end;
		u32 judged, failed;  /* rows */
		enum diff_kind kind; /* of the worst, if one was judged */
		u32 row, worst_metric;
		double adjusted;     /* its p, for all rows of all gates */
		char why[DIFF_WHY];  /* DIFF_UNDECIDED */
	} *results;
};

enum { DIFF_NOTES_MOST = 40, DIFF_NOTE = 320 };

struct diff {
	struct diff_side *sides;
	u32 nsides;
	struct diff_table tables[DIFF_KINDS];
	struct diff_gate *gates;
	u32 ngates;
	char (*notes)[DIFF_NOTE];
	u32 nnotes;
	u64 functions_left;          /* functions with so few samples that they were left out */
	bool no_memory;
	enum run_pass pass;          /* that is being added */
	u32 clash;                   /* a region + 1 whose name --rename gave to another one beside it; 0: none */

	/* Asked for; set before the first run is added. */
	const char *metrics;         /* globs; NULL: the usual ones */
	const char *regions;         /* globs; NULL: all */
	const struct opt_list *renames; /* "OLD=NEW"; NULL: none */
	const struct definitions *definitions;
	const char *also;            /* more metrics, where metrics is NULL; NULL: none */
	bool every;                  /* all totals, and all columns that a report of the run has */
	bool rounds;                 /* sides took turns: run i of each is of round i */
	const enum run_pass *passes; /* that each run is made in */
	u32 npasses;                 /* 0: it is made at one go */
	double rate;                 /* of false findings, as a part: 0.05 */
	bool force;                  /* compare what is not comparable, with a warning in each row */
};

/* Of so many sides. 0, or -1 when memory is short; diff_free() is due all the same. */
int diff_init(struct diff *diff, u32 sides);
void diff_free(struct diff *diff);

/* Takes a recording into a side; its profile may be grouped by region then. 0, or -1 after a message. */
int diff_add(struct diff *diff, u32 side, const char *path, struct profile *profile, const struct session_facts *facts);

/* The same of a run, from 0, that is made in passes: the first one of them adds it, the others what they are for. */
int diff_add_pass(struct diff *diff, u32 side, u32 run, enum run_pass pass, const char *path, struct profile *profile,
		  const struct session_facts *facts);

/* Takes 'METRIC(REGIONS)>+5%' apart. NULL, or what is wrong with it. The text must outlive the diff. */
const char *diff_gate_add(struct diff *diff, const char *text);
/*
 * When all runs were added: NULL, or a message, in text, on a gate that is not allowed. diagnostic: those on metrics
 * that only explain are.
 */
const char *diff_gates_check(const struct diff *diff, bool diagnostic, char text[DIFF_NOTE]);

/* A region that --rename has made of two, in text; NULL: none. */
const char *diff_rename_clash(const struct diff *diff, char text[DIFF_NOTE]);

/* A glob of metrics that named nothing in any run; NULL: each did. */
const char *diff_unknown_metric(const struct diff *diff, char text[DIFF_NOTE]);

/* Adds a note, as far as there is room. */
void diff_note(struct diff *diff, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* When all were added: fills results, orders, gates and notes. 0, or -1 when memory is short. */
int diff_judge(struct diff *diff);

/* The value of a metric in a run, NAN where there is none; *state gets its state and flags, 0 where there is no row. */
double diff_value(const struct diff_run *run, enum diff_kind kind, u32 metric, u32 row, u8 *state);
/*
 * The values of all runs of a side that have one, in their order, and of *to their number, state and mode. Returns how
 * many count user mode alone. values has room for all runs.
 */
u32 diff_values(const struct diff_side *side, enum diff_kind kind, u32 metric, u32 row, double *values,
		struct diff_value *to);
static inline struct diff_result *diff_result(const struct diff *diff, u32 side, enum diff_kind kind, u32 metric, u32 row)
{
	return &diff->sides[side].results[kind][(size_t)row * diff->tables[kind].nmetrics + metric];
}
static inline const char *diff_unit(const struct diff *diff, enum diff_kind kind, u32 metric, u32 row)
{
	const struct diff_table *table = &diff->tables[kind];

	return table->rows[row].unit ? table->rows[row].unit : table->metrics[metric].unit;
}
/* The pass that it is of, "" where runs are made at one go. */
const char *diff_pass(const struct diff *diff, enum diff_kind kind, u32 metric, u32 row);
/* Runs on each side that it takes for any difference to be told from noise. */
u32 diff_runs_needed(double rate);

#endif
