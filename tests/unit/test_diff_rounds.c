/* SPDX-License-Identifier: MIT */
/*
 * cli/analyze/diff of commands that take turns, as run --vs feeds it: made-up series of a program's regions on machines
 * that drift, are disturbed for a while, or scatter with long tails. And cli/analyze/signed by all ways to turn rounds.
 */
#include "diffed.h"

#include "cli/analyze/signed.h"

enum { REGIONS = 12, SLOW = 7, RUNS = 20, EQUAL = 200, SLOWER = 100 };

/* ---- scatter --------------------------------------------------------------------------------------- */

static u64 state;

static double uniform(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(state >> 40) + 0.5) / (1 << 24);
}

static double bell(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return sum - 6;
}

/* What the machine makes of all times, turn by turn: much more than the difference that is looked for. */
struct machine {
	const char *name;
	double drift;                /* from the first turn to the last */
	double waves, lasts;         /* scatter of what lasts, and how much of it is there a turn later */
	double bursts;               /* part of turns in which something begins that takes a half of a few of them */
	double own;                  /* scatter of each region by itself */
	double tail;                 /* part of times that are as long as one by a uniform number */
	u32 runs;                    /* in which 3 % is found there */
};

static const struct machine machines[] = {
	{ .name = "tails", .own = 0.01, .tail = 0.05, .runs = 20 },
	{ .name = "drift", .own = 0.01, .drift = 0.3, .runs = 20 },
	{ .name = "waves", .own = 0.01, .waves = 0.04, .lasts = 0.9, .runs = 20 },
	{ .name = "all", .own = 0.004, .drift = -0.2, .waves = 0.008, .lasts = 0.8, .bursts = 0.01, .tail = 0.01,
	  .runs = 30 },
};

static double wave, burst;

/* The times that a turn takes: so many of the turns are over. */
static double common(const struct machine *m, double over)
{
	double lasts = m->lasts;

	wave = lasts * wave + m->waves * spread_root(1 - lasts * lasts) * bell();
	burst = burst >= 1 ? burst - 1 : uniform() < m->bursts ? 1 + 4 * uniform() : 0;
	return (1 + m->drift * over) * (1 + wave) * (burst >= 1 ? 1.5 : 1);
}

static double own(const struct machine *m)
{
	double tail = uniform() < m->tail ? 0.1 / uniform() : 0;

	return 1 + m->own * bell() + (tail < 5 ? tail : 5);
}

/* "main" with regions in it, one of which takes so many times as long. */
static void machine_run(const struct machine *m, double over, u32 side, double times)
{
	double all = common(m, over), sum = 0, main_ns, ns[REGIONS];
	char name[16];
	u32 outer;

	run_begin();
	for (int i = 0; i < REGIONS; i++)
		sum += ns[i] = (i + 3) * 0.5 * MS * all * own(m) * (i == SLOW ? times : 1);
	main_ns = sum + 0.1 * MS * all * own(m);
	main_process.end_ns = (u64)(main_ns + 2 * MS * all * own(m));
	outer = region(0, "main", main_ns);
	for (int i = 0; i < REGIONS; i++) {
		snprintf(name, sizeof(name), "region-%d", i);
		region(outer, name, ns[i]);
	}
	totals[0].cell = cell_counted(sum + 2 * MS * all * own(m));
	totals[1].cell = cell_counted(sum + 1 * MS * all * own(m));
	run_end(side);
}

static void machine_runs(const struct machine *m, u32 n, double times)
{
	setup_sides(2);
	diff.rounds = true;
	diff.metrics = "calls,wall.excl,elapsed,task-clock";
	wave = burst = 0;
	for (u32 i = 0; i < n; i++)
		for (u32 turn = 0; turn < 2; turn++) {
			u32 side = i % 2 ? !turn : turn;

			machine_run(m, (double)(2 * i + turn) / (double)(2 * n - 1), side, side ? times : 1);
		}
	judge();
}

static u32 told(enum diff_kind kind)
{
	return diff.sides[1].counts[kind][DIFF_MORE] + diff.sides[1].counts[kind][DIFF_LESS];
}

/* ---- rates ----------------------------------------------------------------------------------------- */

/* The same program twice, 200 times: at most 5 in 100 tables have anything to tell. */
START_TEST(test_equal)
{
	const struct machine *m = &machines[_i];
	int regions = 0, of_totals = 0;

	state = 1;
	for (int k = 0; k < EQUAL; k++) {
		machine_runs(m, k % 2 ? RUNS : RUNS / 2, 1);
		regions += told(DIFF_REGIONS) > 0;
		of_totals += told(DIFF_TOTALS) > 0;
	}
	ck_assert_msg(regions <= EQUAL / 20, "%s: %d tables of regions", m->name, regions);
	ck_assert_msg(of_totals <= EQUAL / 20, "%s: %d tables of totals", m->name, of_totals);
}
END_TEST

/*
 * One region that takes 3 % more is found in at least 95 of 100; of what is told of regions beside it and those that it
 * is in, at most 5 % is false, two standard deviations aside.
 */
START_TEST(test_slower)
{
	const struct machine *m = &machines[_i];
	double others = 0;
	char name[32];
	int found = 0;

	state = 2;
	snprintf(name, sizeof(name), "main;region-%d", SLOW);
	for (int k = 0; k < SLOWER; k++) {
		const struct diff_result *r;
		bool is;

		machine_runs(m, m->runs, 1.03);
		r = result(DIFF_REGIONS, name, "wall.excl");
		is = r->verdict == DIFF_MORE;
		found += is && r->rank.low < 1.03 + 0.02 && r->rank.high > 1.03 - 0.02;
		others += told(DIFF_REGIONS) ? (double)(told(DIFF_REGIONS) - is) / told(DIFF_REGIONS) : 0;
	}
	ck_assert_msg(found >= SLOWER * 95 / 100, "%s: found %d times", m->name, found);
	ck_assert_msg(others <= 5 + 4.4, "%s: %g of 100 are others", m->name, others);
}
END_TEST

/* ---- both tests ------------------------------------------------------------------------------------ */

/* A drift of 50 %, in which one is always a little more; without rounds nothing is seen of that. */
static void drifting(u32 n, bool rounds)
{
	setup_sides(2);
	diff.rounds = rounds;
	diff.metrics = "wall";
	for (u32 i = 0; i < n; i++)
		for (u32 side = 0; side < 2; side++) {
			run_begin();
			region(0, "parse", 10 * MS * (1 + 0.5 * i / n) * (side ? 1.01 + 0.001 * (i % 3) : 1));
			region(0, "other", 10 * MS * (1 + 0.5 * i / n) * (1 + 0.001 * (side == i % 2)));
			run_end(side);
		}
	judge();
}

START_TEST(test_both)
{
	const struct diff_result *r;

	drifting(12, false);
	r = result(DIFF_REGIONS, "parse", "wall");
	ck_assert(r->verdict == DIFF_NOISE && r->rank.low < 0.95 && r->rank.high > 1.05);
	drifting(12, true);
	r = result(DIFF_REGIONS, "parse", "wall");
	ck_assert(r->verdict == DIFF_MORE && r->rank.higher);
	ck_assert_double_eq_tol(r->rank.p, 2 * signed_least(12), 1e-12);
	ck_assert_double_eq_tol(r->rank.ratio, 1.011, 0.0005);
	ck_assert(r->rank.bounded && r->rank.low >= 1.0099 && r->rank.high <= 1.0121);
	ck_assert_int_eq(verdict("other", "wall"), DIFF_NOISE);
	/* Six rounds could tell nothing: they are not looked at, and p is not doubled. */
	for (int rounds = 0; rounds < 2; rounds++) {
		drifting(6, rounds);
		ck_assert_double_gt(result(DIFF_REGIONS, "parse", "wall")->rank.high, 1.05);
	}
}
END_TEST

/* ---- signed ranks ---------------------------------------------------------------------------------- */

/* Sums of ranks of all ways to turn rounds around, by counting them. */
static double by_all(const double *a, const double *b, size_t n)
{
	double rank[16], sum = 0, all = 0;
	size_t m = 0, under = 0, over = 0;
	double sizes[16];

	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			sizes[m++] = b[i] > a[i] ? b[i] / a[i] : a[i] / b[i];
	for (size_t i = 0; i < m; i++) {
		rank[i] = 0.5;
		for (size_t k = 0; k < m; k++)
			rank[i] += sizes[k] < sizes[i] ? 1 : sizes[k] == sizes[i] ? 0.5 : 0;
	}
	for (size_t i = 0, k = 0; i < n; i++)
		if (a[i] != b[i])
			sum += b[i] > a[i] ? rank[k++] : (k++, 0);
	for (size_t way = 0; way < (size_t)1 << m; way++) {
		double other = 0;

		for (size_t i = 0; i < m; i++)
			other += way >> i & 1 ? rank[i] : 0;
		under += other <= sum;
		over += other >= sum;
		all++;
	}
	return MIN(2 * (double)MIN(under, over) / all, 1.0);
}

/* The same of many rounds whose sizes rise. */
static double counted(const double *a, const double *b, size_t n)
{
	double ways[3000] = { 1 }, above = 0;
	size_t sum = 0, most = 0;

	for (size_t rank = 1; rank <= n; rank++) {
		sum += b[rank - 1] > a[rank - 1] ? rank : 0;
		most += rank;
		for (size_t s = most + 1; s-- > 0;)
			ways[s] = (ways[s] + (s >= rank ? ways[s - rank] : 0)) / 2;
	}
	for (size_t s = sum; s <= most; s++)
		above += ways[s];
	return 2 * above;
}

START_TEST(test_signed)
{
	double a[200], b[200], scratch[400];
	bool higher;

	state = 7;
	for (size_t n = 1; n <= 12; n++)
		for (int k = 0; k < 20; k++) {
			/* With equal sizes, and equal values, or without. */
			for (size_t i = 0; i < n; i++) {
				a[i] = k % 2 ? 100 + bell() : (double)(1 + (int)(4 * uniform()));
				b[i] = k % 2 ? 101 + bell() : (double)(1 + (int)(5 * uniform()));
			}
			ck_assert_double_eq_tol(signed_p(a, b, n, &higher, scratch), by_all(a, b, n), 1e-12);
			ck_assert_double_eq_tol(signed_p(b, a, n, &higher, scratch), by_all(a, b, n), 1e-12);
		}
	for (size_t n = 0; n < 12; n++)
		b[n] = a[n] + 1;
	ck_assert_double_eq_tol(signed_p(a, b, 12, &higher, scratch), signed_least(12), 1e-12);
	ck_assert(higher);
	ck_assert_double_eq(signed_p(a, a, 12, &higher, scratch), 1);
	/* Where ways are no longer counted it goes on as if they were. */
	for (size_t n = 60; n <= 70; n++) {
		for (size_t i = 0; i < n; i++) {
			a[i] = 100;
			b[i] = i % 3 ? 100 * (1 + (double)(i + 1) / 1000) : 100 / (1 + (double)(i + 1) / 1000);
		}
		ck_assert_double_eq_tol(signed_p(a, b, n, &higher, scratch) / counted(a, b, n), 1, 0.1);
	}
}
END_TEST

/* By what two values of a round have in common, not by which of them is greater. */
START_TEST(test_alike)
{
	double a[10], b[10], scratch[20];

	for (size_t i = 0; i < 10; i++) {
		a[i] = 100 + (double)i * 10;
		b[i] = a[i] + 3;
	}
	ck_assert(signed_alike(a, b, 10, scratch) && signed_alike(b, a, 10, scratch));
	for (size_t i = 0; i < 10; i++)
		b[i] = 190 - (double)i * 10;
	ck_assert(!signed_alike(a, b, 10, scratch));
	for (size_t i = 0; i < 10; i++)
		a[i] = 3, b[i] = 3;
	ck_assert(!signed_alike(a, b, 10, scratch));
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("diff_rounds");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, test_equal, 0, ARRAY_SIZE(machines));
	tcase_add_loop_test(tests, test_slower, 0, ARRAY_SIZE(machines));
	tcase_add_test(tests, test_both);
	tcase_add_test(tests, test_signed);
	tcase_add_test(tests, test_alike);
	return suite_run("diff_rounds", tests);
}
