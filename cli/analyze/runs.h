/* SPDX-License-Identifier: MIT */
/*
 * What repeated runs of one or several commands have measured, run by run, and what is to be said of it:
 * the spread of each total, its ratio to that of the reference, and notes on what makes the figures doubtful.
 * The commands are run by turns; run i of each belongs to round i.
 */
#ifndef CLI_ANALYZE_RUNS_H
#define CLI_ANALYZE_RUNS_H

#include "cli/analyze/cache.h"
#include "cli/analyze/compare.h"
#include "cli/analyze/report.h"

#define RUNS_LABEL 8

/* One total of one command. */
struct runs_series {
	char *name, *unit;
	double *value;               /* of each run; NAN: there is none */
	enum cell_state state;       /* the worst of them */
	char *note;                  /* of that state; NULL: none */
	bool shown;                  /* a table has it */
	bool known;                  /* every run has a value: spread is filled */
	struct spread spread;
	struct comparison comparison; /* to the reference, if there is another command */
};

struct runs_parameter {
	char *name, *value;
};

/* What one run found in the page cache. */
struct runs_cache {
	enum cache_regime regime;
	u64 pages;                   /* of all files */
	s64 start, end;              /* of them, in memory; -1: not known */
};

struct runs_command {
	char label[RUNS_LABEL];      /* "A" */
	char *text;                  /* as a shell would read it */
	struct runs_parameter *parameters;
	size_t nparameters;
	struct runs_series *series;  /* "elapsed" is the first */
	size_t nseries;
	int *status;                 /* of each run, as wait(2) has it */
	struct runs_cache *cache;    /* of each run; NULL: nobody asked */
	size_t cache_missed;         /* runs that did not find it as asked */
	char *cache_because;         /* of the first of them, else of the first run; NULL: there is nothing to say */
	size_t n, room;
	size_t failed;
};

enum { RUNS_NOTES_MOST = 24, RUNS_NOTE = 240 };

struct runs {
	struct runs_command *command;
	size_t n;
	size_t reference;            /* the others are compared with it */
	unsigned long warmups;
	bool stopped;                /* by Ctrl-C, a failure or the bound on the time: fewer runs than wanted */
	bool steadied;               /* somebody else tells when they are warm, */
	size_t cold;                 /* and that so many of the first are not */
	bool chosen;                 /* which totals are shown was asked for */
	bool cached;                 /* each run is to find the page cache as asked */
	enum cache_asked cache_asked;
	const struct storage_fact *storage; /* what they stand on; NULL: nobody looked */
	double target;               /* precision that was asked for; 0: none */
	double missed;               /* what it is instead; 0: it was met, or none was asked for */
	struct cell floor;           /* ns that a program takes which does nothing */
	char notes[RUNS_NOTES_MOST][RUNS_NOTE];
	size_t nnotes;
};

/* Of so many commands. 0, or -1 when memory is short; runs_free() is due all the same. */
int runs_init(struct runs *runs, size_t commands);
void runs_free(struct runs *runs);
/* One run of a command more; every run has the same totals. 0, or -1 when memory is short. */
int runs_add(struct runs_command *command, const struct total_fact *totals, size_t ntotals, int status);
/* What the newest run of it found in the page cache. The same. */
int runs_add_cache(struct runs_command *command, const struct cache_fact *cache);
/* What all runs of it found. */
enum cache_regime runs_regime(const struct runs_command *command);
/* Tables show the totals that match one of the patterns, separated by commas; NULL: all that are of use. */
void runs_show(struct runs *runs, const char *patterns);
/* A note more, after runs_judge(), as far as there is room. */
void runs_note(struct runs *runs, const char *text);
/* Fills the spreads, comparisons and notes. 0, or -1 when memory is short. */
int runs_judge(struct runs *runs);
/*
 * How precise the elapsed times are by now: the worst of all commands' medians, or where there are several
 * of their ratios. Negative: too few runs, or memory is short.
 */
double runs_precision(const struct runs *runs);

/* NULL: it has none of that name. */
const struct runs_series *runs_find(const struct runs_command *command, const char *name);
const struct runs_series *runs_elapsed(const struct runs_command *command);

#endif
