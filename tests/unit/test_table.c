/* SPDX-License-Identifier: MIT */
/* cli/output/table: the text itself at four widths, and what must hold at any width. */
#include "cli/output/format.h"
#include "cli/output/grid.h"
#include "cli/text.h"
#include "sample.h"
#include "suite.h"

static struct sample sample;

static void setup(void)
{
	sample_init(&sample, PROFILE_BY_PROCESS);
}

static void teardown(void)
{
	sample_fini(&sample);
}

static char *print(size_t width)
{
	sample.output.width = width;
	return sample_print(&sample, "table");
}

static void full(void)
{
	sample_regions(&sample);
	sample_extras(&sample);
	ck_assert_ptr_nonnull(sample_report(&sample));
}

static const char golden_0[] =
	"spark  ./sqlbench --rows 100000  exit 0  2.43 s wall  2.10 s cpu (86 %)  1 process, 1 thread\n"
	"box  Linux 6.18  Some CPU  clock tsc  switches by rseq\n"
	"\n"
	"region              calls     wall      %    cpu   off     p50     p99      max    units       rate  queue-depth\n"
	"sqlbench                1   2.43 s  100.0   86 %  14 %\n"
	"├ load                  1   1.20 s   49.4   72 %  28 %\n"
	"│ └ insert          1 000   911 ms   37.5  100 %   0 %  911 µs  911 µs   911 µs\n"
	"├ query             2 000   779 ms   32.1   96 %   4 %  381 µs  696 µs  4.80 ms\n"
	"├ index                 1   402 ms   16.5   99 %   1 %\n"
	"├ shutdown (open)       1  7.00 ms    0.3  100 %   0 %\n"
	"└ a\\x1B[31m\\xFF\"\\n      1  1.00 µs    0.0  100 %   0 %                           5.00 kB  5.00 GB/s         2.50\n"
	"\n"
	"window  calls    wall     cpu  minflt  majflt  nvcsw  nivcsw  utime  stime\n"
	"steady      1  1.00 s  900 ms       0       0     17       0  ≈0 ns  ≈0 ns\n"
	"\n"
	"tree, from exec   user 2.00 s   sys 100 ms   maxrss 12.3 MB   task-clock 2.11 s   minor-faults 12 345   context-switches ≈132\n"
	"not available     cycles, instructions: no PMU here\n"
	"not available     psi.cpu.some, psi.memory.some, psi.io.some: could not be read in the program\n"
	"not available     hardware: no PMU: this is a virtual machine without PMU passthrough\n"
	"lost              12 markers dropped: no memory for another thread\n"
	"note              shutdown: open when its process exited (1 time)\n"
	"note              query: ended without a begin on the same thread (3 times)\n"
	"markers           3 003 pairs at 20 ns: 60.1 µs, 0.00 % of wall, not subtracted\n";

static const char golden_100[] =
	"spark  ./sqlbench --rows 100000  exit 0  2.43 s wall  2.10 s cpu (86 %)  1 process, 1 thread\n"
	"box  Linux 6.18  Some CPU  clock tsc  switches by rseq\n"
	"\n"
	"region              calls     wall      %    cpu   off     p50     p99      max  queue-depth\n"
	"sqlbench                1   2.43 s  100.0   86 %  14 %\n"
	"├ load                  1   1.20 s   49.4   72 %  28 %\n"
	"│ └ insert          1 000   911 ms   37.5  100 %   0 %  911 µs  911 µs   911 µs\n"
	"├ query             2 000   779 ms   32.1   96 %   4 %  381 µs  696 µs  4.80 ms\n"
	"├ index                 1   402 ms   16.5   99 %   1 %\n"
	"├ shutdown (open)       1  7.00 ms    0.3  100 %   0 %\n"
	"└ a\\x1B[31m\\xFF\"\\n      1  1.00 µs    0.0  100 %   0 %                                  2.50\n"
	"too narrow for: units, rate\n"
	"\n"
	"window  calls    wall     cpu  minflt  majflt  nvcsw  nivcsw  utime  stime\n"
	"steady      1  1.00 s  900 ms       0       0     17       0  ≈0 ns  ≈0 ns\n"
	"\n"
	"tree, from exec   user 2.00 s   sys 100 ms   maxrss 12.3 MB   task-clock 2.11 s\n"
	"                  minor-faults 12 345   context-switches ≈132\n"
	"not available     cycles, instructions: no PMU here\n"
	"not available     psi.cpu.some, psi.memory.some, psi.io.some: could not be read in the program\n"
	"not available     hardware: no PMU: this is a virtual machine without PMU passthrough\n"
	"lost              12 markers dropped: no memory for another thread\n"
	"note              shutdown: open when its process exited (1 time)\n"
	"note              query: ended without a begin on the same thread (3 times)\n"
	"markers           3 003 pairs at 20 ns: 60.1 µs, 0.00 % of wall, not subtracted\n";

static const char golden_80[] =
	"spark  ./sqlbench --rows 100000  exit 0  2.43 s wall  2.10 s cpu (86 %)\n"
	"  1 process, 1 thread\n"
	"box  Linux 6.18  Some CPU  clock tsc  switches by rseq\n"
	"\n"
	"region              calls     wall      %    cpu   off     p99  queue-depth\n"
	"sqlbench                1   2.43 s  100.0   86 %  14 %\n"
	"├ load                  1   1.20 s   49.4   72 %  28 %\n"
	"│ └ insert          1 000   911 ms   37.5  100 %   0 %  911 µs\n"
	"├ query             2 000   779 ms   32.1   96 %   4 %  696 µs\n"
	"├ index                 1   402 ms   16.5   99 %   1 %\n"
	"├ shutdown (open)       1  7.00 ms    0.3  100 %   0 %\n"
	"└ a\\x1B[31m\\xFF\"\\n      1  1.00 µs    0.0  100 %   0 %                 2.50\n"
	"too narrow for: p50, max, units, rate\n"
	"\n"
	"window  calls    wall     cpu  minflt  majflt  nvcsw  nivcsw  utime  stime\n"
	"steady      1  1.00 s  900 ms       0       0     17       0  ≈0 ns  ≈0 ns\n"
	"\n"
	"tree, from exec   user 2.00 s   sys 100 ms   maxrss 12.3 MB   task-clock 2.11 s\n"
	"                  minor-faults 12 345   context-switches ≈132\n"
	"not available     cycles, instructions: no PMU here\n"
	"not available     psi.cpu.some, psi.memory.some, psi.io.some: could not be read\n"
	"                  in the program\n"
	"not available     hardware: no PMU: this is a virtual machine without PMU\n"
	"                  passthrough\n"
	"lost              12 markers dropped: no memory for another thread\n"
	"note              shutdown: open when its process exited (1 time)\n"
	"note              query: ended without a begin on the same thread (3 times)\n"
	"markers           3 003 pairs at 20 ns: 60.1 µs, 0.00 % of wall, not subtracted\n";

static const char golden_40[] =
	"spark  ./sqlbench --rows 1…  exit 0\n"
	"  2.43 s wall  2.10 s cpu (86 %)\n"
	"  1 process, 1 thread\n"
	"box  Linux 6.18  Some CPU  clock tsc\n"
	"  switches by rseq\n"
	"\n"
	"region               wall      %     p99\n"
	"sqlbench           2.43 s  100.0\n"
	"├ load             1.20 s   49.4\n"
	"│ └ insert         911 ms   37.5  911 µs\n"
	"├ query            779 ms   32.1  696 µs\n"
	"├ index            402 ms   16.5\n"
	"├ shutdo… (open)  7.00 ms    0.3\n"
	"└ a\\x1B[31m\\xFF…  1.00 µs    0.0\n"
	"too narrow for: calls, cpu, off, p50,\n"
	"                max, units, rate,\n"
	"                queue-depth\n"
	"\n"
	"window  calls    wall     cpu  minflt\n"
	"steady      1  1.00 s  900 ms       0\n"
	"too narrow for: majflt, nvcsw, nivcsw,\n"
	"                utime, stime\n"
	"\n"
	"tree, from exec\n"
	"  user 2.00 s   sys 100 ms\n"
	"  maxrss 12.3 MB   task-clock 2.11 s\n"
	"  minor-faults 12 345\n"
	"  context-switches ≈132\n"
	"not available\n"
	"  cycles, instructions: no PMU here\n"
	"not available\n"
	"  psi.cpu.some, psi.memory.some,\n"
	"  psi.io.some: could not be read in the\n"
	"  program\n"
	"not available\n"
	"  hardware: no PMU: this is a virtual\n"
	"  machine without PMU passthrough\n"
	"lost\n"
	"  12 markers dropped: no memory for\n"
	"  another thread\n"
	"note\n"
	"  shutdown: open when its process exited\n"
	"  (1 time)\n"
	"note\n"
	"  query: ended without a begin on the\n"
	"  same thread (3 times)\n"
	"markers\n"
	"  3 003 pairs at 20 ns: 60.1 µs, 0.00 %\n"
	"  of wall, not subtracted\n";

static const struct {
	size_t width;
	const char *text;
} goldens[] = {
	{ 0, golden_0 }, { 100, golden_100 }, { 80, golden_80 }, { 40, golden_40 },
};

START_TEST(test_golden)
{
	char *text;

	full();
	text = print(goldens[_i].width);
	ck_assert_str_eq(text, goldens[_i].text);
	free(text);
}
END_TEST

/* No line is wider than the terminal, and none has a byte that could steer it. */
static void check_lines(char *text, size_t width)
{
	char *line, *rest;
	const char *c;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (width && text_width(line) > width)
			ck_abort_msg("%zu > %zu: %s", text_width(line), width, line);
		for (c = line; *c; c++)
			ck_assert((unsigned char)*c >= 0x20);
	}
}

START_TEST(test_every_width)
{
	size_t width;
	char *text;

	full();
	for (width = 1; width < 200; width++) {
		text = print(width);
		check_lines(text, width < 40 ? 0 : width);
		free(text);
	}
}
END_TEST

START_TEST(test_ascii)
{
	char *text, *c;

	full();
	sample.output.utf8 = false;
	text = print(0);
	for (c = text; *c; c++)
		ck_assert((unsigned char)*c < 0x80);
	ck_assert_ptr_nonnull(strstr(text, "| `-insert"));
	ck_assert_ptr_nonnull(strstr(text, "381 us"));
	free(text);
}
END_TEST

START_TEST(test_color)
{
	char *text;

	full();
	text = print(0);
	ck_assert_ptr_null(strchr(text, '\033'));
	free(text);
	sample.output.color = true;
	text = print(0);
	ck_assert_ptr_nonnull(strchr(text, '\033'));
	free(text);
}
END_TEST

START_TEST(test_no_regions)
{
	char *text;

	sample_report(&sample);
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "no regions        ./sqlbench met no marker"));
	ck_assert_ptr_nonnull(strstr(text, "sqlbench      1  2.43 s  100.0"));
	ck_assert_ptr_null(strstr(text, "markers    "));
	free(text);
	sample.facts.not_preloaded = "./sqlbench is statically linked";
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "not preloaded     ./sqlbench is statically linked: totals"));
	ck_assert_ptr_null(strstr(text, "no regions     "));
	free(text);
}
END_TEST

START_TEST(test_without_agent)
{
	static const char why[] = "no agent said hello";
	char *text;

	sample_report(&sample);
	sample.processes[1] = sample.processes[0];
	sample.processes[1].id = 2;
	sample.processes[1].command = "a\033b";
	sample.processes[1].pid = 77;
	sample.processes[1].no_agent = why;
	sample.facts.nprocesses = 2;
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "not preloaded     a\\x1Bb [77]: no agent said hello\n"));
	free(text);
	sample.processes[0].no_agent = why;
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "not preloaded     sqlbench [1234], a\\x1Bb [77]: no agent said hello\n"));
	free(text);
}
END_TEST

START_TEST(test_totals_only)
{
	static const char want[] =
		"counter             value      ratio  source\n"
		"elapsed            2.43 s              wait4\n"
		"user               2.00 s  0.82 CPUs   wait4\n"
		"sys                100 ms  0.04 CPUs   wait4\n"
		"maxrss            12.3 MB              wait4\n"
		"task-clock         2.11 s  0.87 CPUs    perf\n"
		"minor-faults       12 345   5.85 k/s    perf\n"
		"context-switches     ≈132   ≈62.6 /s   wait4\n"
		"cycles                n/a               perf\n"
		"instructions          n/a               perf\n"
		"\n"
		"not counted       hidden\n"
		"not available     cycles, instructions: no PMU here\n"
		"not available     hardware: no PMU: this is a virtual machine without PMU passthrough\n";
	char *text;

	sample.options.totals_only = true;
	sample.facts.uncounted = "hidden";
	sample_report(&sample);
	text = print(0);
	ck_assert_str_eq(strstr(text, "counter"), want);
	ck_assert_ptr_null(strstr(text, "region"));
	free(text);
}
END_TEST

START_TEST(test_totals_chosen)
{
	char *text;

	sample.options.totals_only = true;
	sample.options.metrics = "max*,nothing";
	sample_report(&sample);
	ck_assert_uint_eq(sample.report->ntotals, 1);
	ck_assert_ptr_null(sample.report->ratios[0].unit);
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "counter    value  ratio  source\nmaxrss   12.3 MB          wait4\n\nnot found "));
	ck_assert_ptr_nonnull(strstr(text, "nothing: no counter has such a name"));
	free(text);
}
END_TEST

START_TEST(test_endings)
{
	char *text;

	sample_report(&sample);
	sample.facts.signal = 9;
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "killed by signal 9"));
	free(text);
	sample.facts.alive = true;
	sample.processes[0].ended = PROCESS_ALIVE;
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "  still running  "));
	ck_assert_ptr_nonnull(strstr(text, "still running     1234 sqlbench, measured until now"));
	free(text);
	sample.facts.timeout = true;
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "ended by --timeout"));
	free(text);
}
END_TEST

START_TEST(test_many_processes)
{
	static struct process_facts many[30];
	char *text;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(many); i++) {
		many[i] = sample.processes[0];
		many[i].id = i + 1;
		many[i].pid = 1234 + i;
		many[i].command = i ? "cc1" : "make";
	}
	sample.facts.processes = many;
	sample.facts.nprocesses = ARRAY_SIZE(many);
	sample_regions(&sample);
	sample_report(&sample);
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "make [1234]"));
	ck_assert_ptr_nonnull(strstr(text, "cc1 [1242]"));
	ck_assert_ptr_null(strstr(text, "cc1 [1243]"));
	ck_assert_ptr_nonnull(strstr(text, "and 21 more processes without regions"));
	ck_assert_ptr_nonnull(strstr(text, "30 processes, 30 threads"));
	free(text);
	sample.output.verbose = 1;
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "cc1 [1263]"));
	free(text);
}
END_TEST

START_TEST(test_perturbation)
{
	char *text;

	sample.processes[0].pair = 100000;
	((struct wire_process *)segment_at(&sample.seg, sample.seg.header->processes))->pair = 100000;
	sample_regions(&sample);
	sample_report(&sample);
	ck_assert(sample.report->markers.warn);
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "warning: more than 5 %"));
	ck_assert_ptr_nonnull(strstr(text, "fine regions      query, insert: a call takes less"));
	free(text);
}
END_TEST

START_TEST(test_filter)
{
	char *text;

	sample.options.regions = "ins*,no-such";
	sample_regions(&sample);
	sample_report(&sample);
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "└ load"));
	ck_assert_ptr_nonnull(strstr(text, "  └ insert"));
	ck_assert_ptr_null(strstr(text, "query"));
	free(text);
}
END_TEST

START_TEST(test_filter_by_path)
{
	char *text;

	sample.options.regions = "load;*";
	sample_regions(&sample);
	sample_report(&sample);
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "insert"));
	ck_assert_ptr_null(strstr(text, "index"));
	free(text);
}
END_TEST

START_TEST(test_filter_without_match)
{
	char *text;

	sample.options.regions = "nothing";
	sample_regions(&sample);
	sample_report(&sample);
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "not found         --regions nothing: no region has such a name"));
	free(text);
}
END_TEST

START_TEST(test_columns_asked_for)
{
	char *text;

	sample.options.metrics = "calls,cpu,minflt,nothing*";
	sample_regions(&sample);
	sample_report(&sample);
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "region      calls     cpu  minflt\n"));
	ck_assert_ptr_nonnull(strstr(text, "├ load          1  864 ms     n/a\n"));
	ck_assert_ptr_nonnull(strstr(text, "sqlbench        1  2.10 s  12 300\n"));
	ck_assert_ptr_nonnull(strstr(text, "read in regions only if --metrics"));
	ck_assert_ptr_nonnull(strstr(text, "not found         nothing*: no metric"));
	free(text);
}
END_TEST

START_TEST(test_sort)
{
	char *text;

	sample.options.sort_by = "calls";
	sample_regions(&sample);
	sample_report(&sample);
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "├ query"));
	ck_assert(strstr(text, "query") < strstr(text, "load"));
	free(text);
}
END_TEST

START_TEST(test_deep_tree)
{
	u32 node = 0, i;
	char *text;

	for (i = 0; i < 255; i++)
		node = sample_region(&sample, node, "recursive", 1, 1000, 0);
	sample_report(&sample);
	text = print(80);
	ck_assert_ptr_nonnull(strstr(text, "…255 recursive"));
	check_lines(text, 80);
	free(text);
}
END_TEST

START_TEST(test_long_name)
{
	char name[WIRE_NAME_MAX + 1], *text;

	memset(name, 'x', WIRE_NAME_MAX);
	name[WIRE_NAME_MAX] = '\0';
	sample_region(&sample, 0, name, 1, 1000, 0);
	sample_report(&sample);
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "xxx…  "));
	free(text);
}
END_TEST

START_TEST(test_other_thread)
{
	u32 other = segment_slot(&sample.seg, SAMPLE_PID, 99), node;
	char *text;

	node = segment_region(&sample.seg, other, 0, "request");
	segment_open(&sample.seg, other, node, 5);
	segment_diagnosis(&sample.seg, sample.slot, WIRE_DIAG_UNMATCHED, "request", 1);
	sample_report(&sample);
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "request: begun on thread 99, ended on thread 1234 (1 time)"));
	free(text);
}
END_TEST

/* The thread died in a region, long after its last marker. */
START_TEST(test_cpu_of_open)
{
	struct wire_slot *slot = segment_at(&sample.seg, sample.slot);
	u32 node = segment_region(&sample.seg, sample.slot, 0, "stuck");
	char *text;

	slot->end = 0;
	segment_open(&sample.seg, sample.slot, node, 1000);
	sample_report(&sample);
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "└ stuck (open)      1  2.43 s  100.0   n/a   n/a"));
	ck_assert_ptr_nonnull(strstr(text, "cpu of stuck, offcpu of stuck: open: switches"));
	free(text);
}
END_TEST

static const struct {
	double value;
	const char *ns, *count, *si;
} numbers[] = {
	{ 0, "0 ns", "0", "0" }, { 7, "7 ns", "7", "7" }, { 0.5, "0.50 ns", "0.50", "0.50" },
	{ 999, "999 ns", "999", "999" }, { 999.7, "1.00 µs", "1.00 k", "1.00 k" },
	{ 8714, "8.71 µs", "8 714", "8.71 k" }, { 14249, "14.2 µs", "14 249", "14.2 k" },
	{ 911400000, "911 ms", "911 400 000", "911 M" }, { 2.43e9, "2.43 s", "2.43 G", "2.43 G" },
	{ 9.996e9, "10.0 s", "10.0 G", "10.0 G" }, { 1234e9, "1 234 s", "1.23 T", "1.23 T" },
	{ 1e30, "1 000 000 000 000 000 s", "1.00e+12 E", "1.00e+12 E" },
};

START_TEST(test_numbers)
{
	char out[FORMAT_SIZE];

	format_ns(out, numbers[_i].value, true);
	ck_assert_str_eq(out, numbers[_i].ns);
	format_count(out, numbers[_i].value);
	ck_assert_str_eq(out, numbers[_i].count);
	format_si(out, numbers[_i].value, NULL);
	ck_assert_str_eq(out, numbers[_i].si);
}
END_TEST

START_TEST(test_units)
{
	char out[FORMAT_SIZE];

	format_si(out, 12345678, "B");
	ck_assert_str_eq(out, "12.3 MB");
	format_si(out, 1200, "rows");
	ck_assert_str_eq(out, "1.20 k rows");
	format_si(out, 12, "rows");
	ck_assert_str_eq(out, "12 rows");
	format_si(out, -1.5, NULL);
	ck_assert_str_eq(out, "-1.50");
	format_percent(out, 0.1684);
	ck_assert_str_eq(out, "0.17 %");
	format_percent(out, 12345);
	ck_assert_str_eq(out, "12 345 %");
}
END_TEST

/* What completions offer for --format is what it takes. */
START_TEST(test_words)
{
	size_t i;

	for (i = 0; output_formats[i].name; i++)
		ck_assert_str_eq(output_words[i], output_formats[i].name);
	ck_assert_uint_gt(i, 0);
	ck_assert_ptr_null(output_words[i]);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("table");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 30);
	tcase_add_loop_test(tests, test_golden, 0, ARRAY_SIZE(goldens));
	tcase_add_test(tests, test_every_width);
	tcase_add_test(tests, test_ascii);
	tcase_add_test(tests, test_color);
	tcase_add_test(tests, test_no_regions);
	tcase_add_test(tests, test_without_agent);
	tcase_add_test(tests, test_totals_only);
	tcase_add_test(tests, test_totals_chosen);
	tcase_add_test(tests, test_endings);
	tcase_add_test(tests, test_many_processes);
	tcase_add_test(tests, test_perturbation);
	tcase_add_test(tests, test_filter);
	tcase_add_test(tests, test_filter_by_path);
	tcase_add_test(tests, test_filter_without_match);
	tcase_add_test(tests, test_columns_asked_for);
	tcase_add_test(tests, test_sort);
	tcase_add_test(tests, test_deep_tree);
	tcase_add_test(tests, test_long_name);
	tcase_add_test(tests, test_other_thread);
	tcase_add_test(tests, test_cpu_of_open);
	tcase_add_loop_test(tests, test_numbers, 0, ARRAY_SIZE(numbers));
	tcase_add_test(tests, test_units);
	tcase_add_test(tests, test_words);
	return suite_run("table", tests);
}
