/* SPDX-License-Identifier: MIT */
/* What makes a comparison doubtful, and what would make it a better one; see diff_build.h. */
#include <stdio.h>
#include <string.h>

#include "cli/analyze/diff_build.h"
#include "cli/text.h"

enum { RENAMES_MOST = 3, RENAMES_LOOK = 200 };

/* ---- the runs -------------------------------------------------------------------------------------- */

static void note_ends(struct diff *diff, const struct diff_side *side)
{
	u32 failed = 0, unfinished = 0;

	for (u32 i = 0; i < side->nruns; i++) {
		failed += side->runs[i].failed;
		unfinished += side->runs[i].unfinished;
	}
	if (failed)
		diff_note(diff, "%u of %u runs of %s failed", failed, side->nruns, side->label);
	if (unfinished)
		diff_note(diff, "%u of %u runs of %s did not come to their end", unfinished, side->nruns, side->label);
}

/* Tests of all tables. */
static u32 tested(const struct diff_side *side)
{
	u32 n = 0;

	for (u32 kind = 0; kind < DIFF_KINDS; kind++)
		n += side->counts[kind][DIFF_MORE] + side->counts[kind][DIFF_LESS] + side->counts[kind][DIFF_NOISE];
	return n;
}

static void note_runs(struct diff *diff, const struct diff_side *side)
{
	u32 a = diff->sides[0].nruns, b = side->nruns, needed = diff_runs_needed(diff->rate), tests = tested(side);
	double least = rank_least(a, b);

	if (a == 1 && b == 1)
		diff_note(diff, "one run in A and one in %s: nothing tells a difference from noise; it takes %u runs on each "
			  "side", side->label, needed);
	else if (least > diff->rate)
		diff_note(diff, "%u run%s in A and %u in %s: too few to tell any difference from noise; it takes %u on each "
			  "side", a, a == 1 ? "" : "s", b, side->label, needed);
	else if (tests && least * tests > diff->rate)
		diff_note(diff, "with %u and %u runs a single difference among %u tests cannot be told from noise; %u runs "
			  "on each side could tell it", a, b, tests, diff_runs_needed(diff->rate / tests));
}

/* All of one side were made before the first of the other. */
static bool runs_apart(const struct diff_side *x, const struct diff_side *y)
{
	u64 last = 0, first = ~0ULL;

	for (u32 i = 0; i < x->nruns; i++)
		last = MAX(last, x->runs[i].started_ns);
	for (u32 i = 0; i < y->nruns; i++)
		first = MIN(first, y->runs[i].started_ns);
	return last && last < first;
}

static void note_turns(struct diff *diff, const struct diff_side *side)
{
	const struct diff_side *a = &diff->sides[0];

	if (a->nruns > 1 && side->nruns > 1 && (runs_apart(a, side) || runs_apart(side, a)))
		diff_note(diff, "all runs of one side were made before those of the other: what the machine did differently "
			  "then is in the figures, too; take turns");
}

/* Nobody knows whether both found the same. */
static void note_cache(struct diff *diff, const struct diff_side *side)
{
	const char *cache = diff->sides[0].runs[0].field[DIFF_CACHE];

	if (!strcmp(cache, cache_regime_words[CACHE_UNKNOWN]) || !strcmp(cache, cache_regime_words[CACHE_MIXED]))
		diff_note(diff, "page cache: %s in A and %s, which need not be the same", cache, side->label);
}

/* ---- names ----------------------------------------------------------------------------------------- */

static u32 find_calls(const struct diff_table *table)
{
	for (u32 m = 0; m < table->nmetrics; m++)
		if (!strcmp(table->metrics[m].name, "calls"))
			return m;
	return DIFF_NONE;
}

/* The only new region beside one that is gone which was called as often; DIFF_NONE: there is none, or more. */
static u32 find_renamed(const struct diff *diff, u32 side, u32 calls, u32 gone)
{
	const struct diff_table *table = &diff->tables[DIFF_REGIONS];
	double was = diff_result(diff, side, DIFF_REGIONS, calls, gone)->side[0].median;
	u32 found = DIFF_NONE;

	for (u32 row = 0; row < table->nrows; row++) {
		const struct diff_result *r = diff_result(diff, side, DIFF_REGIONS, calls, row);

		if (r->verdict != DIFF_NEW || table->rows[row].parent != table->rows[gone].parent || r->side[1].median != was)
			continue;
		if (found != DIFF_NONE)
			return DIFF_NONE;
		found = row;
	}
	return found;
}

static void note_renamed(struct diff *diff, u32 side)
{
	const struct diff_table *table = &diff->tables[DIFF_REGIONS];
	u32 calls = find_calls(table), looked = 0, told = 0;

	for (u32 row = 0; calls != DIFF_NONE && row < table->nrows && looked < RENAMES_LOOK && told < RENAMES_MOST; row++) {
		char was[160], is[160];
		u32 to;

		if (diff_result(diff, side, DIFF_REGIONS, calls, row)->verdict != DIFF_GONE)
			continue;
		looked++;
		to = find_renamed(diff, side, calls, row);
		if (to == DIFF_NONE)
			continue;
		told++;
		text_fit(was, sizeof(was), table->rows[row].text, 80);
		text_fit(is, sizeof(is), table->rows[to].text, 80);
		diff_note(diff, "%s is gone and %s is new, in the same place and called as often: --rename OLD=NEW "
			  "compares them if they are one", was, is);
	}
}

/* ---- figures --------------------------------------------------------------------------------------- */

static void note_refused(struct diff *diff, u32 side)
{
	const char *why = NULL;
	u32 n = 0;

	for (u32 kind = 0; kind < DIFF_KINDS; kind++) {
		size_t all = (size_t)diff->tables[kind].nrows * diff->tables[kind].nmetrics;

		for (size_t i = 0; i < all; i++) {
			const struct diff_result *r = &diff->sides[side].results[kind][i];

			why = r->why && !why ? r->why : why;
			n += r->why != NULL;
		}
	}
	if (n && !diff->sides[side].refused[0])
		diff_note(diff, "%u figure%s of A and %s %s not comparable, the first for: %s%s", n, n == 1 ? "" : "s",
			  diff->sides[side].label, n == 1 ? "is" : "are", why, diff->force ? " (compared by --force)" : "");
}

void diff_notes_make(struct diff *diff)
{
	note_ends(diff, &diff->sides[0]);
	for (u32 i = 1; i < diff->nsides; i++) {
		const struct diff_side *side = &diff->sides[i];

		note_ends(diff, side);
		if (side->refused[0] && !diff->force)
			continue;
		note_runs(diff, side);
		note_turns(diff, side);
		note_cache(diff, side);
		note_refused(diff, i);
		note_renamed(diff, i);
	}
	if (diff->functions_left)
		diff_note(diff, "%llu function%s with less than 0.1 %% of the samples, or less than one a run, left out",
			  (unsigned long long)diff->functions_left, diff->functions_left == 1 ? "" : "s");
}
