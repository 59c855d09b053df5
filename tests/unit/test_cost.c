/* SPDX-License-Identifier: MIT */
/* What a call costs: of a made-up run with samples, at a clock that is known. */
#include <jansson.h>

#include "cli/output/formats.h"
#include "cli/text.h"
#include "profiled.h"
#include "sample.h"
#include "suite.h"

enum { BRACKET = 20000, CALLS = 2000, SAMPLES = 75 };

static struct sample sample;
static struct buckets buckets;
static struct samples samples;

static void setup(void)
{
	struct buckets_error mistake;

	sample_init(&sample, PROFILE_BY_PROCESS);
	((struct wire_process *)segment_at(&sample.seg, sample.seg.header->processes))->bracket = BRACKET;
	profiled_samples(&samples);
	sample.facts.samples = &samples;
	ck_assert_int_eq(buckets_parse(&buckets, "Btree|libc -> tree\nsqlite -> engine\n", &mistake), 0);
	sample.options.profile = (struct report_profile){ .costs = "query", .buckets = &buckets };
}

static void teardown(void)
{
	sample_fini(&sample);
	buckets_free(&buckets);
	samples_fini(&samples);
}

/* Of the region that the first cost is of. */
static double column(const char *name)
{
	for (size_t c = 0; c < sample.report->ncolumns; c++)
		if (!strcmp(sample.report->columns[c].metric->name, name))
			return sample.report->rows[sample.report->costs[0].row].cells[c].value;
	ck_abort_msg("no column %s", name);
	return 0;
}

static const struct report_cost *build(void)
{
	sample_regions(&sample);
	ck_assert_ptr_nonnull(sample_report(&sample));
	ck_assert_uint_eq(sample.report->ncosts, 1);
	return &sample.report->costs[0];
}

static char *print(int (*write)(FILE *, const struct report *, const struct output_options *), size_t width)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	sample.output.width = width;
	ck_assert_int_eq(write(file, sample.report, &sample.output), 0);
	fclose(file);
	return text;
}

static void says(const char *what)
{
	char *text = print(table_write, 0);

	ck_assert_msg(strstr(text, what) != NULL, "'%s' is not there:\n%s", what, text);
	free(text);
}

#define ck_near(CELL, VALUE) ck_assert_double_eq_tol((CELL).value, VALUE, (VALUE) / 64)

START_TEST(floor_is_taken_off)
{
	const struct report_cost *cost = build();

	ck_assert_double_eq(cost->floor.value, BRACKET);
	ck_near(cost->time[REPORT_COST_P50], 381000.0 - BRACKET);
	ck_near(cost->time[REPORT_COST_P90], 381000.0 - BRACKET);
	ck_near(cost->time[REPORT_COST_P99], 702000.0 - BRACKET);
	ck_assert_double_eq_tol(cost->time[REPORT_COST_MEAN].value,
				(1960 * 381000.0 + 39 * 702000.0 + 4800000) / CALLS - BRACKET, 1);
	ck_assert(!cell_has_value(&cost->cycles[REPORT_COST_P50]));
	says("floor             20.0 µs of each of 2 000 calls are the markers' and taken off");
	says("no cycles         needs cycles");
}
END_TEST

START_TEST(cycles_are_times_at_the_clock)
{
	static const char *const names[] = { "p50-cycles", "p90-cycles", "p99-cycles" };
	u32 query = sample_region(&sample, 0, "query", CALLS, 120000, 0);
	const struct report_cost *cost;

	/* A metric of the program's is called so; a count of the CPU would be the same column. */
	segment_metric(&sample.seg, sample.slot, query, "cycles", 1, 3.0 * CALLS * (120000 - BRACKET), 1, 1, 1);
	ck_assert_ptr_nonnull(sample_report(&sample));
	cost = &sample.report->costs[0];
	ck_assert_double_eq_tol(cost->clock.value, 3, 1e-9);
	for (u32 i = 0; i < REPORT_COST_FIGURES; i++)
		ck_assert_double_eq_tol(cost->cycles[i].value, 3 * cost->time[i].value, 1e-3);
	for (u32 i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_double_eq_tol(column(names[i]), cost->cycles[i].value, 1e-3);
	says("effective clock   3 GHz");
	says("\ncycles ");
}
END_TEST

START_TEST(buckets_are_all_of_it)
{
	const struct report_cost *cost = build();
	double share = 0, cpu = 0;
	u64 n = 0;

	ck_assert_uint_eq(cost->samples.count, SAMPLES);
	ck_assert_uint_eq(cost->nbuckets, 4);
	for (size_t i = 0; i < cost->nbuckets; i++) {
		share += cost->buckets[i].share;
		cpu += cost->buckets[i].cpu.value;
		n += cost->buckets[i].samples;
	}
	ck_assert_double_eq_tol(share, 100, 1e-9);
	ck_assert_double_eq_tol(cpu, cost->cpu.value, 1e-3);
	ck_assert_uint_eq(n, SAMPLES);
	ck_assert_str_eq(cost->buckets[0].name, "engine");
	ck_assert_uint_eq(cost->buckets[0].samples, 41);
	ck_assert_str_eq(cost->buckets[1].name, "tree");
	ck_assert_uint_eq(cost->buckets[1].samples, 31);
	says("bucket in query        %");
	says("\nall                100.0");
}
END_TEST

START_TEST(instrumentation_is_a_bucket)
{
	const struct report_cost *cost;

	sample.options.profile.costs = "load;insert";
	sample.options.profile.buckets = NULL;
	cost = build();
	ck_assert_uint_eq(cost->nbuckets, 2);
	ck_assert_str_eq(cost->buckets[0].name, "[other]");
	ck_assert_str_eq(cost->buckets[1].name, "[instrumentation]");
	ck_assert_uint_eq(cost->buckets[1].samples, 2);
}
END_TEST

START_TEST(without_samples_the_rest_is_told)
{
	sample.facts.samples = NULL;
	ck_assert_ptr_null(build()->buckets);
	says("no buckets        the run was not sampled: --profile");
}
END_TEST

START_TEST(no_such_region)
{
	sample.options.profile.costs = "nothing";
	sample_regions(&sample);
	ck_assert_ptr_nonnull(sample_report(&sample));
	ck_assert_uint_eq(sample.report->ncosts, 0);
	says("no region         none has a name or path that matches 'nothing'");
}
END_TEST

/* So many pairs 100 ms apart, of which one is late. */
static void clocks(u32 pairs, u64 late)
{
	sample.clock.identity = false;
	for (u32 i = 0; i < pairs; i++)
		ck_assert_int_eq(clock_map_add(&sample.clock, 1000 + i * 210000000ULL,
					       5000 + i * 100000000ULL + (i == 2 ? late : 0)), 0);
	build();
}

START_TEST(clocks_agree)
{
	clocks(10, 4000);
	ck_assert(sample.report->clocks.known && sample.report->clocks.agree);
	ck_assert_double_eq_tol(sample.report->clocks.apart_ns, 4000, 1);
	ck_assert_double_eq_tol(sample.report->clocks.ghz, 2.1, 1e-9);
	says("clocks            two agree: that of the markers, 2.1 GHz, and CLOCK_MONOTONIC_RAW are apart by 4.00 µs at most "
	     "in 900 ms");
	clock_map_fini(&sample.clock);
}
END_TEST

START_TEST(clocks_disagree)
{
	clocks(10, 200000);
	ck_assert(sample.report->clocks.known && !sample.report->clocks.agree);
	says("two disagree");
	clock_map_fini(&sample.clock);
}
END_TEST

START_TEST(clocks_of_a_short_run)
{
	clocks(2, 0);
	ck_assert(!sample.report->clocks.known);
	says("clocks            not compared: the run was too short");
	clock_map_fini(&sample.clock);
}
END_TEST

START_TEST(forty_columns_fit)
{
	char *text, *line, *next;

	build();
	next = text = print(table_write, 40);
	while ((line = strsep(&next, "\n")))
		ck_assert_msg(text_width(line) <= 40 || !strncmp(line, "spark", 5) || !strncmp(line, "box", 3), "%s", line);
	free(text);
}
END_TEST

START_TEST(json_has_it)
{
	json_t *report, *costs, *bucket;
	double share = 0;
	char *text;
	size_t i;

	build();
	text = print(json_write, 0);
	report = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(report);
	costs = json_object_get(report, "costs");
	ck_assert_uint_eq(json_array_size(costs), 1);
	json_array_foreach(json_object_get(json_array_get(costs, 0), "buckets"), i, bucket)
		share += json_real_value(json_object_get(bucket, "share"));
	ck_assert_double_eq_tol(share, 100, 1e-9);
	ck_assert(json_is_null(json_object_get(json_object_get(report, "clocks"), "agree")));
	json_decref(report);
	free(text);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("cost");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, floor_is_taken_off);
	tcase_add_test(tests, cycles_are_times_at_the_clock);
	tcase_add_test(tests, buckets_are_all_of_it);
	tcase_add_test(tests, instrumentation_is_a_bucket);
	tcase_add_test(tests, without_samples_the_rest_is_told);
	tcase_add_test(tests, no_such_region);
	tcase_add_test(tests, clocks_agree);
	tcase_add_test(tests, clocks_disagree);
	tcase_add_test(tests, clocks_of_a_short_run);
	tcase_add_test(tests, forty_columns_fit);
	tcase_add_test(tests, json_has_it);
	return suite_run("cost", tests);
}
