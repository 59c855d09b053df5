/* SPDX-License-Identifier: MIT */
/* Which differences are more than noise; see diff.h. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/diff_build.h"
#include "cli/analyze/discovery.h"

#define LENGTHS 64                   /* lengths of series that are worked out at a time */
#define MOST_RUNS 0.9                 /* of a side: they have a region that is told to be new or gone */
#define FUNCTION_LEAST 0.001         /* of all samples, but one in each run: a function with fewer is left out */

/* One comparison of two sides. */
struct judge {
	struct diff *diff;
	u32 side;
	enum diff_kind kind;
	struct rank_lengths *lengths;
	double *values[2], *sorted[2]; /* of one row's metric, by run */
	struct diff_rounds rounds;
	double *p;                   /* of those that can be tested */
	struct diff_result **tested;
	const double **order;
	size_t ntested;
	double least;                /* of functions: those with less in all runs are left out */
	bool unlike;                 /* samples of some runs are of another kind */
};

static const struct diff_side *judge_side(const struct judge *j, u32 i)
{
	return &j->diff->sides[i ? j->side : 0];
}

/* ---- one row's metric ------------------------------------------------------------------------------ */

/* What runs of a side say of it. */
struct gathered {
	u32 user;                    /* runs that count user mode alone */
};

u32 diff_values(const struct diff_side *side, enum diff_kind kind, u32 metric, u32 row, double *values,
		struct diff_value *to)
{
	u32 user = 0;

	*to = (struct diff_value){ .state = CELL_COUNTED };
	for (u32 run = 0; run < side->nruns; run++) {
		u8 state;
		double value = diff_value(&side->runs[run], kind, metric, row, &state);

		if (isnan(value))
			continue;
		values[to->n++] = value;
		user += (state & DIFF_USER) != 0;
		to->state = MAX(to->state, (enum cell_state)(state & DIFF_STATE));
	}
	to->user = user > 0;
	return user;
}

static struct gathered gather(struct judge *j, u32 i, u32 metric, u32 row, struct diff_value *to)
{
	struct gathered is = { diff_values(judge_side(j, i), j->kind, metric, row, j->values[i], to) };

	if (to->n) {
		struct spread spread;

		spread_of(&spread, j->values[i], to->n, j->sorted[i]);
		to->median = spread.median;
		to->mad = spread.mad;
		to->min = spread.min;
		to->max = spread.max;
	}
	return is;
}

/* Runs of the side that have it. */
static u32 region_runs(const struct judge *j, u32 i, u32 row)
{
	const struct diff_side *side = judge_side(j, i);
	u32 n = 0;

	for (u32 run = 0; run < side->nruns; run++)
		n += diff_has_region(&side->runs[run], row);
	return n;
}

/* What some runs have and others of the same side have not may as well be in none of the other side's. */
static bool region_alone(const struct judge *j, u32 there, u32 row)
{
	return (double)region_runs(j, there, row) >= MOST_RUNS * judge_side(j, there)->nruns &&
	       !region_runs(j, !there, row);
}

/* Runs without any samples have no part in it. */
static bool samples_unlike(const struct judge *j)
{
	const struct diff_run *first = NULL;

	for (u32 i = 0; i < 2; i++)
		for (u32 n = 0; n < judge_side(j, i)->nruns; n++) {
			const struct diff_run *run = &judge_side(j, i)->runs[n];

			if (first && run->sampled && strcmp(run->field[DIFF_SAMPLES], first->field[DIFF_SAMPLES]) != 0)
				return true;
			first = !first && run->sampled ? run : first;
		}
	return false;
}

/* Why both sides measured different things; NULL: they did not. */
static const char *mismatch(const struct judge *j, const struct diff_result *r, const struct gathered is[2], bool units)
{
	static const char *const states[3][3] = {
		{ NULL, "counted against scaled", "counted against an estimate" },
		{ "scaled against counted", NULL, "scaled against an estimate" },
		{ "an estimate against counted", "an estimate against scaled", NULL },
	};
	const struct diff_side *b = judge_side(j, 1);

	if (b->refused[0])
		return b->refused;
	if (j->unlike)
		return "samples of another kind or rate";
	if (units)
		return "another unit in some runs";
	for (u32 i = 0; i < 2; i++)
		if (is[i].user && is[i].user < r->side[i].n)
			return "user mode alone in some runs";
	if (r->side[0].user != r->side[1].user)
		return r->side[0].user ? "user mode against user and kernel" : "user and kernel against user mode";
	return states[r->side[0].state][r->side[1].state];
}

static double apart(const struct diff_result *r)
{
	double by = r->side[1].median - r->side[0].median;

	return by < 0 ? -by : by;
}

static struct rank_lengths *lengths_of(struct judge *j, size_t n, size_t m)
{
	return &j->lengths[(n * 31 + m) % LENGTHS];
}

static void result_test(struct judge *j, struct diff_result *r, u32 metric, u32 row)
{
	const struct diff_row_at at = { j->kind, metric, row };
	size_t n = r->side[0].n, m = r->side[1].n;

	rank_compare(&r->rank, j->sorted[0], n, j->sorted[1], m, lengths_of(j, n, m));
	if (j->diff->rounds && !r->rank.equal)
		diff_rounds_compare(&r->rank, judge_side(j, 0), judge_side(j, 1), &at, j->diff->rate, &j->rounds);
	r->weight = apart(r);
	r->changed = r->rank.known || r->side[0].median > 0;
	if (r->changed)
		r->change = (r->rank.known ? r->rank.ratio : r->side[1].median / r->side[0].median) - 1;
	if (r->rank.equal) {
		/* A function that only calls others has no time of its own. */
		r->verdict = j->kind == DIFF_FUNCTIONS && !r->side[0].median ? DIFF_MISSING : DIFF_EQUAL;
		return;
	}
	r->verdict = DIFF_FEW;
	if (rank_least(n, m) > j->diff->rate)
		return;
	r->verdict = DIFF_NOISE;
	j->p[j->ntested] = r->rank.p;
	j->tested[j->ntested++] = r;
}

/* Too few samples for anything to be told. */
static bool function_small(const struct judge *j, u32 row)
{
	double sum = 0;

	for (u32 i = 0; i < 2; i++)
		for (u32 run = 0; run < judge_side(j, i)->nruns; run++) {
			const struct diff_column *within = &judge_side(j, i)->runs[run].within;

			sum += row < within->n && within->state[row] ? within->value[row] : 0;
		}
	return sum < j->least;
}

static void result_judge(struct judge *j, struct diff_result *r, u32 metric, u32 row)
{
	const struct diff_table *table = &j->diff->tables[j->kind];
	struct gathered is[2];

	*r = (struct diff_result){ .verdict = DIFF_MISSING, .adjusted = 1, .rank = { .p = 1 } };
	for (u32 i = 0; i < 2; i++)
		is[i] = gather(j, i, metric, row, &r->side[i]);
	if (!r->side[0].n || !r->side[1].n) {
		u32 there = r->side[0].n ? 0 : 1;

		/* A figure that one side lacks is not a region that it lacks. */
		if (j->kind == DIFF_REGIONS && r->side[there].n && region_alone(j, there, row)) {
			r->verdict = there ? DIFF_NEW : DIFF_GONE;
			r->weight = r->side[there].median;
		}
		return;
	}
	r->why = mismatch(j, r, is, table->rows[row].units || table->metrics[metric].units);
	if (r->why && !j->diff->force) {
		r->verdict = DIFF_REFUSED;
		r->weight = apart(r);
		j->diff->sides[j->side].partly = true;
		return;
	}
	result_test(j, r, metric, row);
}

/* ---- a table --------------------------------------------------------------------------------------- */

static void tested_adjust(struct judge *j)
{
	discovery_adjust(j->p, j->ntested, j->order);
	for (size_t i = 0; i < j->ntested; i++) {
		struct diff_result *r = j->tested[i];

		r->adjusted = j->p[i];
		if (r->adjusted <= j->diff->rate)
			r->verdict = r->rank.higher ? DIFF_MORE : DIFF_LESS;
	}
}

struct ordering {
	const struct diff *diff;
	u32 side, metric;
	enum diff_kind kind;
};

static int group_of(enum diff_verdict verdict)
{
	static const int groups[DIFF_VERDICTS] = {
		[DIFF_MORE] = 0, [DIFF_LESS] = 0, [DIFF_NEW] = 1, [DIFF_GONE] = 1, [DIFF_REFUSED] = 2, [DIFF_FEW] = 3,
		[DIFF_NOISE] = 3, [DIFF_EQUAL] = 4, [DIFF_MISSING] = 5,
	};

	return groups[verdict];
}

static int row_order(const void *a, const void *b, void *context)
{
	const struct ordering *o = context;
	u32 i = *(const u32 *)a, k = *(const u32 *)b;
	const struct diff_result *x = diff_result(o->diff, o->side, o->kind, o->metric, i);
	const struct diff_result *y = diff_result(o->diff, o->side, o->kind, o->metric, k);

	if (group_of(x->verdict) != group_of(y->verdict))
		return group_of(x->verdict) - group_of(y->verdict);
	/* Totals have units of their own. */
	if (o->kind != DIFF_TOTALS && x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return i < k ? -1 : i > k;
}

static void table_order(struct judge *j, u32 *order)
{
	const struct diff_table *table = &j->diff->tables[j->kind];

	for (u32 m = 0; m < table->nmetrics; m++) {
		struct ordering o = { j->diff, j->side, m, j->kind };

		for (u32 row = 0; row < table->nrows; row++)
			order[row] = row;
		qsort_r(order, table->nrows, sizeof(*order), row_order, &o);
		order += table->nrows;
	}
}

/* What so many samples stand for that a function is worth a test. */
static double samples_least(const struct judge *j)
{
	double sum = 0, samples = 0, runs = 0;

	for (u32 i = 0; i < 2; i++)
		for (u32 run = 0; run < judge_side(j, i)->nruns; run++) {
			const struct diff_run *of = &judge_side(j, i)->runs[run];

			runs++;
			samples += (double)of->samples;
			sum += of->weight;
		}
	return samples > 0 ? sum * MAX(FUNCTION_LEAST, runs / samples) : 0;
}

static void rows_judge(struct judge *j)
{
	const struct diff_table *table = &j->diff->tables[j->kind];
	struct diff_side *side = &j->diff->sides[j->side];

	u64 left = 0;

	j->ntested = 0;
	j->unlike = j->kind == DIFF_FUNCTIONS && samples_unlike(j);
	j->least = j->kind == DIFF_FUNCTIONS ? samples_least(j) : 0;
	for (u32 row = 0; row < table->nrows; row++) {
		if (j->kind == DIFF_FUNCTIONS && function_small(j, row)) {
			for (u32 m = 0; m < table->nmetrics; m++)
				diff_result(j->diff, j->side, j->kind, m, row)->verdict = DIFF_MISSING;
			left++;
			continue;
		}
		for (u32 m = 0; m < table->nmetrics; m++)
			result_judge(j, diff_result(j->diff, j->side, j->kind, m, row), m, row);
	}
	j->diff->functions_left = MAX(j->diff->functions_left, left);
	tested_adjust(j);
	for (size_t i = 0; i < (size_t)table->nrows * table->nmetrics; i++)
		side->counts[j->kind][side->results[j->kind][i].verdict]++;
	table_order(j, side->order[j->kind]);
}

static int table_judge(struct judge *j)
{
	const struct diff_table *table = &j->diff->tables[j->kind];
	struct diff_side *side = &j->diff->sides[j->side];
	size_t n = (size_t)table->nrows * table->nmetrics + 1;

	side->results[j->kind] = calloc(n, sizeof(**side->results));
	side->order[j->kind] = calloc(n, sizeof(**side->order));
	j->p = calloc(n, sizeof(*j->p));
	j->tested = calloc(n, sizeof(*j->tested));
	j->order = calloc(n, sizeof(*j->order));
	if (!side->results[j->kind] || !side->order[j->kind] || !j->p || !j->tested || !j->order)
		return -1;
	rows_judge(j);
	return 0;
}

static void table_done(struct judge *j)
{
	free(j->p);
	free(j->tested);
	free(j->order);
	j->p = NULL;
	j->tested = NULL;
	j->order = NULL;
}

static int judge_room(struct judge *j)
{
	size_t rounds = MIN(judge_side(j, 0)->nruns, judge_side(j, 1)->nruns) + 1;
	int err;

	j->lengths = calloc(LENGTHS, sizeof(*j->lengths));
	j->rounds.scratch = calloc(2 * rounds, sizeof(double));
	err = j->lengths && j->rounds.scratch ? 0 : -1;
	for (u32 i = 0; i < 2; i++) {
		j->values[i] = calloc(judge_side(j, i)->nruns + 1, sizeof(double));
		j->sorted[i] = calloc(judge_side(j, i)->nruns + 1, sizeof(double));
		j->rounds.values[i] = calloc(rounds, sizeof(double));
		err = !j->values[i] || !j->sorted[i] || !j->rounds.values[i] ? -1 : err;
	}
	return err;
}

static void judge_free(struct judge *j)
{
	for (u32 i = 0; i < 2; i++) {
		free(j->values[i]);
		free(j->sorted[i]);
		free(j->rounds.values[i]);
	}
	free(j->rounds.scratch);
	free(j->lengths);
}

static int side_judge(struct diff *diff, u32 side)
{
	struct judge j = { .diff = diff, .side = side };
	int err = judge_room(&j);

	for (j.kind = 0; j.kind < DIFF_KINDS && !err; j.kind++) {
		err = table_judge(&j);
		table_done(&j);
	}
	judge_free(&j);
	return err ? err : diff_gates_judge(diff, side);
}

u32 diff_runs_needed(double rate)
{
	u32 n = 1;

	while (n < 1000 && rank_least(n, n) > rate)
		n++;
	return n;
}

int diff_judge(struct diff *diff)
{
	diff_regime_judge(diff);
	for (u32 i = 1; i < diff->nsides; i++)
		if (side_judge(diff, i))
			return -1;
	diff_notes_make(diff);
	return 0;
}
