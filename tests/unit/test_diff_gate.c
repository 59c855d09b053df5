/* SPDX-License-Identifier: MIT */
/* cli/analyze/diff_regime, diff_gate: what is not to be compared, and what is to fail. */
#include "diffed.h"

/* ---- what is not comparable ------------------------------------------------------------------------ */

static void other_cpu(void)
{
	facts.cpu = "Another CPU";
}

static struct cache_fact cache;

static void cold(void)
{
	cache = (struct cache_fact){ .asked = CACHE_ASKED_COLD, .regime = CACHE_COLD };
	facts.cache = &cache;
}

static void warm(void)
{
	cache = (struct cache_fact){ .asked = CACHE_ASKED_WARM, .regime = CACHE_WARM };
	facts.cache = &cache;
}

static void unknown_cache(void)
{
	cache = (struct cache_fact){ .asked = CACHE_ASKED_WARM, .regime = CACHE_UNKNOWN };
	facts.cache = &cache;
}

static void user_mode(void)
{
	totals[1].cell.note = CELL_NOTE_USER;
}

static void estimated(void)
{
	totals[1].cell.state = CELL_ESTIMATE;
}

static void in_ms(void)
{
	totals[1].unit = "ms";
}

static void scaled(void)
{
	totals[1].cell.state = CELL_SCALED;
}

static const struct {
	void (*a)(void), (*b)(void);
	const char *whole, *of_clock; /* why: of all, or of task-clock alone; NULL: it is comparable */
} regimes[] = {
	{ NULL, NULL, NULL, NULL },
	{ NULL, other_cpu, "CPU: Some CPU and Another CPU", NULL },
	{ cold, warm, "page cache: cold and warm", NULL },
	{ NULL, cold, "page cache: as it happened to be and cold", NULL },
	{ cold, cold, NULL, NULL },
	{ unknown_cache, unknown_cache, NULL, NULL },
	{ user_mode, NULL, NULL, "user mode against user and kernel" },
	{ NULL, user_mode, NULL, "user and kernel against user mode" },
	{ user_mode, user_mode, NULL, NULL },
	{ NULL, estimated, NULL, "counted against an estimate" },
	{ estimated, NULL, NULL, "an estimate against counted" },
	{ NULL, scaled, NULL, "counted against scaled" },
	{ estimated, estimated, NULL, NULL },
	{ NULL, in_ms, NULL, "another unit in some runs" },
};

static void regimes_compare(bool force, int i_regime)
{
	setup_sides(2);
	diff.force = force;
	for (int i = 0; i < 5; i++) {
		changed_run(0, regimes[i_regime].a);
		changed_run(1, regimes[i_regime].b);
	}
	judge();
}

START_TEST(test_regimes)
{
	const char *why = regimes[_i].whole ? regimes[_i].whole : regimes[_i].of_clock;
	const struct diff_result *clock, *parse;

	regimes_compare(false, _i);
	clock = result(DIFF_TOTALS, "task-clock", "value");
	parse = result(DIFF_REGIONS, "parse", "wall");
	ck_assert_str_eq(diff.sides[1].refused, regimes[_i].whole ? regimes[_i].whole : "");
	ck_assert_int_eq(clock->verdict, why ? DIFF_REFUSED : DIFF_EQUAL);
	ck_assert_int_eq(parse->verdict, regimes[_i].whole ? DIFF_REFUSED : DIFF_MORE);
	ck_assert_int_eq(diff.sides[1].partly, why != NULL);
	ck_assert_int_eq(noted("page cache: unknown in A and B"), regimes[_i].a == unknown_cache);
	if (!why)
		return;
	ck_assert_str_eq(clock->why, why);
	says(diff_table, regimes[_i].whole ? "not comparable" : "not comparable, the first for: ");
	says(diff_json, why);
	regimes_compare(true, _i);
	clock = result(DIFF_TOTALS, "task-clock", "value");
	parse = result(DIFF_REGIONS, "parse", "wall");
	ck_assert_int_eq(clock->verdict, DIFF_EQUAL);
	ck_assert_int_eq(parse->verdict, DIFF_MORE);
	ck_assert_str_eq(clock->why, why);
	if (regimes[_i].whole)
		ck_assert_str_eq(parse->why, why);
	ck_assert(!diff.sides[1].partly);
	says(diff_table, why);
	says(diff_csv, why);
	says(diff_markdown, regimes[_i].whole ? why : "by --force");
}
END_TEST

/* Runs of one side are to be alike, too. */
START_TEST(test_mixed_side)
{
	changed_run(0, NULL);
	changed_run(0, other_cpu);
	changed_run(1, NULL);
	judge();
	ck_assert_str_eq(diff.sides[1].refused, "CPU: Some CPU and Another CPU");
	setup_sides(2);
	changed_run(0, user_mode);
	changed_run(0, NULL);
	changed_run(1, user_mode);
	judge();
	ck_assert_str_eq(result(DIFF_TOTALS, "task-clock", "value")->why, "user mode alone in some runs");
}
END_TEST

static void elsewhere(void)
{
	static const char *const others[] = { "./app2", "-n", "6", NULL };
	static struct object_fact objects[] = { { "/usr/bin/app", "aa" }, { "/lib/libc.so.6", "bb" } };

	facts.host = "other";
	facts.kernel = "Linux 6.1";
	facts.status = 3;
	facts.unfinished = true;
	totals[3] = (struct total_fact){ .name = "cgroup.memory_max", .unit = "B", .cell = cell_counted(1 << 26), .source = "cgroup" };
	facts.ntotals = 4;
	provenance.environment = "f";
	provenance.objects = objects;
	provenance.nobjects = 2;
	facts.argv = others;
}

/* What may matter is told. */
START_TEST(test_told)
{
	changed_run(0, NULL);
	changed_run(1, elsewhere);
	judge();
	ck_assert_str_eq(diff.sides[1].refused, "");
	ck_assert(noted("host: box in A, other in B"));
	ck_assert(noted("kernel: Linux 6.18 in A, Linux 6.1 in B"));
	ck_assert(noted("the environment of B"));
	ck_assert(noted("limits: none in A, memory_max 67108864 in B"));
	ck_assert(noted("arguments: -n 5 in A, -n 6 in B"));
	ck_assert(noted("of which the first is libc.so.6"));
	ck_assert(noted("1 of 1 runs of B failed"));
	ck_assert(noted("1 of 1 runs of B did not come to their end"));
}
END_TEST

/* ---- gates ----------------------------------------------------------------------------------------- */

static const struct { const char *text; bool sound; } gates[] = {
	{ "wall(parse)>+5%", true }, { " wall ( parse;x ) > 5 % ", true }, { "elapsed>+0.5%", true }, { "ipc<-3%", true },
	{ "wall(f(int))>1%", true }, { "wall(a>b)>1%", true }, { "wall", false }, { "wall>5", false }, { ">5%", false },
	{ "wall>%", false }, { "wall>x%", false }, { "wall>-5%", false }, { "wall<5%", false }, { "wall()>5%", false },
	{ "wall(a>5%", false }, { "wall*>5%", false }, { "wall,cpu>5%", false }, { "wall>nan%", false }, { "wall>5%5", false },
	{ "wall>1e999%", false }, { "wall>+-5%", false }, { "wall>e5%", false }, { "wall>5+5%", false }, { "wall>.%", false },
	{ "wall>5e%", false }, { "wall>++5%", false }, { "wall<-5-3%", false }, { "wall>5e-1%", true }, { "", false }, { "%", false }, { "(a)>1%", false },
};

START_TEST(test_gate_forms)
{
	const char *wrong = diff_gate_add(&diff, gates[_i].text);

	ck_assert_msg(!wrong == gates[_i].sound, "%s: %s", gates[_i].text, wrong ? wrong : "taken");
}
END_TEST

/* b: what it is on the other side, in percent of 100 ms that scatter a little. */
static enum diff_gate_end gate_of(const char *text, double percent, u32 runs)
{
	setup_sides(2);
	ck_assert_ptr_null(diff_gate_add(&diff, text));
	for (u32 i = 0; i < runs; i++)
		for (u32 side = 0; side < 2; side++) {
			run_begin();
			region(0, "parse", (100 + (side ? percent : 0)) * MS * (1 + 0.001 * (i * 5 % 7)));
			region(0, "steady", 10 * MS + i);
			run_end(side);
		}
	judge();
	return diff.gates[0].results[1].end;
}

START_TEST(test_gates)
{
	char text[DIFF_NOTE];

	ck_assert_int_eq(gate_of("wall(parse)>+5%", 6, 6), DIFF_FAILED);
	says(diff_table, "FAILED: wall of parse +6.0 % (+5.68 to +6.32 %), p 0.002");
	says(diff_markdown, "| `wall(parse)>+5%` | **failed** | wall of parse +6.0 %");
	says(diff_json, "\"end\":\"failed\"");
	ck_assert_int_eq(gate_of("wall(parse)>+5%", 4, 6), DIFF_PASSED);
	ck_assert_int_eq(gate_of("wall(parse)>+5%", -20, 6), DIFF_PASSED);
	ck_assert_int_eq(gate_of("wall(parse)<-5%", -20, 6), DIFF_FAILED);
	ck_assert_int_eq(gate_of("wall(parse)>+0%", 0, 6), DIFF_PASSED);
	ck_assert_int_eq(gate_of("wall>+5%", 6, 6), DIFF_FAILED);
	ck_assert_uint_eq(diff.gates[0].results[1].judged, 3);
	ck_assert_int_eq(gate_of("wall.max(pars*)>+5%", 6, 6), DIFF_FAILED);
	ck_assert_int_eq(gate_of("wall(parse)>+5%", 6, 3), DIFF_UNDECIDED);
	ck_assert_int_eq(gate_of("wall(nothing)>+5%", 6, 6), DIFF_UNDECIDED);
	ck_assert_str_eq(diff.gates[0].results[1].why, "no region has such a name");
	ck_assert_int_eq(gate_of("elapsed>+5%", 6, 6), DIFF_PASSED);
	ck_assert_ptr_null(diff_gates_check(&diff, false, text));
}
END_TEST

/* A region that is gone is not one that got no worse. */
START_TEST(test_gate_gone)
{
	ck_assert_ptr_null(diff_gate_add(&diff, "wall(parse)>+5%"));
	ck_assert_ptr_null(diff_gate_add(&diff, "wall(fresh)>+5%"));
	both(5, named);
	ck_assert_int_eq(diff.gates[0].results[1].end, DIFF_UNDECIDED);
	ck_assert_str_eq(diff.gates[0].results[1].why, "the region is not in B");
	ck_assert_str_eq(diff.gates[1].results[1].why, "the region is not in A");
}
END_TEST

START_TEST(test_gate_refused)
{
	char text[DIFF_NOTE];

	ck_assert_ptr_null(diff_gate_add(&diff, "task-clock>+5%"));
	for (int i = 0; i < 5; i++) {
		changed_run(0, NULL);
		changed_run(1, user_mode);
	}
	judge();
	ck_assert_ptr_null(diff_gates_check(&diff, false, text));
	ck_assert_int_eq(diff.gates[0].results[1].end, DIFF_UNDECIDED);
	ck_assert_str_eq(diff.gates[0].results[1].why, "not comparable: user and kernel against user mode");
	setup_sides(2);
	ck_assert_ptr_null(diff_gate_add(&diff, "cycles>+5%"));
	both(5, plain);
	ck_assert_ptr_nonnull(strstr(diff_gates_check(&diff, false, text), "cycles is diagnostic"));
	ck_assert_ptr_null(diff_gates_check(&diff, true, text));
	ck_assert_int_eq(diff.gates[0].results[1].end, DIFF_PASSED);
	setup_sides(2);
	ck_assert_ptr_null(diff_gate_add(&diff, "watts>+5%"));
	both(5, plain);
	ck_assert_ptr_nonnull(strstr(diff_gates_check(&diff, true, text), "nothing that was measured is called 'watts'"));
}
END_TEST

static void estimate(void)
{
	totals[2].cell = (struct cell){ .value = 1e9, .state = CELL_ESTIMATE };
}

static void estimate_doubled(void)
{
	totals[2].cell = (struct cell){ .value = 2e9, .state = CELL_ESTIMATE };
}

/* What explains and is no count fails nothing, whatever it has risen by. */
START_TEST(test_gate_inexact)
{
	char text[DIFF_NOTE];

	ck_assert_ptr_null(diff_gate_add(&diff, "cycles>+5%"));
	ck_assert_ptr_null(diff_gate_add(&diff, "wall(parse)>+5%"));
	for (int i = 0; i < 6; i++) {
		changed_run(0, estimate);
		changed_run(1, estimate_doubled);
	}
	judge();
	ck_assert_ptr_null(diff_gates_check(&diff, true, text));
	ck_assert_int_eq(result(DIFF_TOTALS, "cycles", "value")->verdict, DIFF_MORE);
	ck_assert_int_eq(diff.gates[0].results[1].end, DIFF_UNDECIDED);
	ck_assert_uint_eq(diff.gates[0].results[1].judged, 0);
	ck_assert_int_eq(diff.gates[1].results[1].end, DIFF_FAILED);
}
END_TEST

static void operators(u32 run, u32 side)
{
	region(0, "operator()(int, char)", (side ? 20 : 10) * MS + run * 1000);
}

/* A comma in a name is none between two. */
START_TEST(test_gate_comma)
{
	ck_assert_ptr_null(diff_gate_add(&diff, "wall(operator()(int, char))>+5%"));
	both(5, operators);
	ck_assert_int_eq(diff.gates[0].results[1].end, DIFF_FAILED);
}
END_TEST

START_TEST(test_unknown)
{
	char text[DIFF_NOTE];

	diff.metrics = "wall,elap*,nothing*";
	both(1, plain);
	ck_assert_str_eq(diff_unknown_metric(&diff, text), "nothing*");
	diff.metrics = "wall, elap*";
	ck_assert_ptr_null(diff_unknown_metric(&diff, text));
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("diff_gate");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, test_regimes, 0, ARRAY_SIZE(regimes));
	tcase_add_test(tests, test_mixed_side);
	tcase_add_test(tests, test_told);
	tcase_add_loop_test(tests, test_gate_forms, 0, ARRAY_SIZE(gates));
	tcase_add_test(tests, test_gates);
	tcase_add_test(tests, test_gate_gone);
	tcase_add_test(tests, test_gate_refused);
	tcase_add_test(tests, test_gate_inexact);
	tcase_add_test(tests, test_gate_comma);
	tcase_add_test(tests, test_unknown);
	return suite_run("diff_gate", tests);
}
