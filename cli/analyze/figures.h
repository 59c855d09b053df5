/* SPDX-License-Identifier: MIT */
/*
 * Runs of one command, region by region: the spread of every figure over them, and which runs, in passes, it is from.
 * Rows and values are those of a diff (diff.h), a side for each pass.
 */
#ifndef CLI_ANALYZE_FIGURES_H
#define CLI_ANALYZE_FIGURES_H

#include "cli/analyze/diff.h"
#include "cli/analyze/machine.h"
#include "cli/analyze/runs.h"
#include "cli/analyze/steady.h"

/* Of a row's metric. */
struct figure {
	u32 side;                    /* of the diff: the pass that it is from */
	struct diff_value value;     /* n is 0: there is none */
	struct spread spread;
	struct comparison drift;     /* from the first run to the last */
};

struct figures_missing {
	char *name;                  /* of a total */
	char *why;
};

struct figures {
	struct diff diff;            /* a side for each pass; the notes are those of the figures */
	enum run_pass pass[PASSES]; /* of each side */
	bool by_pass;                /* passes were asked for: every figure names its own */
	const char *const *argv;
	unsigned long warmups;       /* before the first run */
	bool stopped;                /* fewer runs than wanted */
	struct runs elapsed;         /* the first pass from outside, for what is to be said of it */
	double *times;               /* ns of all its runs, warm-ups in front */
	size_t ntimes;
	struct steady steady;        /* of those */
	struct figure *figure[DIFF_KINDS]; /* by row, then by metric */
	struct machine machine;      /* meanwhile */
	struct figures_missing *missing;
	size_t nmissing;
};

/* With passes in the order in which they are run. 0, or -1 when memory is short; figures_free() is due all the same. */
int figures_init(struct figures *figures, const enum run_pass *passes, u32 n);
void figures_free(struct figures *figures);
/* The time of a run that is no warm-up any more, or still one, of the first pass. 0, or -1 when memory is short. */
int figures_time(struct figures *figures, double ns);
/*
 * A run of the pass on this side; path names it, status is as wait(2) has it. Its profile may be grouped by region
 * then. 0, or -1 after a message.
 */
int figures_add(struct figures *figures, u32 side, const char *path, struct profile *profile,
		const struct session_facts *facts, int status);
/* When all were added: fills the figures and notes. 0, or -1 when memory is short. */
int figures_judge(struct figures *figures);

/* What is to be said of n times, warm-ups counted; of is what stands in front of it. */
void figures_note_steady(struct diff *diff, const char *of, const struct steady *steady, size_t n,
			 unsigned long warmups);

static inline const struct figure *figures_at(const struct figures *figures, enum diff_kind kind, u32 metric, u32 row)
{
	return &figures->figure[kind][(size_t)row * figures->diff.tables[kind].nmetrics + metric];
}
/* The word for the pass that it is from. */
static inline const char *figures_pass(const struct figures *figures, const struct figure *figure)
{
	return pass_words[figures->pass[figure->side]];
}

#endif
