/* SPDX-License-Identifier: MIT */
/* cli/output: what tables say of samples, at several widths, and what must hold at any width. */
#include "cli/output/lines.h"
#include "cli/text.h"
#include "profiled.h"
#include "sample.h"
#include "suite.h"

static struct sample sample;
static struct samples samples;

static void setup(void)
{
	sample_init(&sample, PROFILE_BY_PROCESS);
	sample_regions(&sample);
	profiled_samples(&samples);
	sample.facts.samples = &samples;
	sample.options.profile.top = 4;
}

static void teardown(void)
{
	sample_fini(&sample);
	samples_fini(&samples);
}

static char *print(size_t width)
{
	sample.output.width = width;
	if (!sample.report)
		sample_report(&sample);
	return sample_print(&sample, "table");
}

/* What stands from the beginning of some line on. */
static void is_rest(size_t width, const char *from, const char *wanted)
{
	char *text = print(width), *rest = strstr(text, from);

	ck_assert_ptr_nonnull(rest);
	ck_assert_str_eq(rest, wanted);
	free(text);
}

static const char hot_0[] =
	"hot in query      55 % sqlite3VdbeExec x.c:2104 · 29 % sqlite3BtreeMovetoUnpacked x.c:5731 · 12 % [libc.so.6] · …\n"
	"hot in insert     94 % [kernel] · 6 % [instrumentation]\n"
	"and 2 more regions with samples; -v shows all\n"
	"samples           109   987 a second of CPU time   999 asked for   by task-clock   stacks dwarf   lost 3   throttled 2   unattributed 1   truncated 9   without name (stripped) 11   without name (kernel hidden) 30\n"
	"lost              2.68 % of the samples: shares may be wrong by as much; a lower rate loses fewer\n";

static const char hot_80[] =
	"hot in query      55 % sqlite3VdbeExec x.c:2104\n"
	"                  29 % sqlite3BtreeMovetoUnpacked x.c:5731 · 12 % [libc.so.6]\n"
	"                  …\n"
	"hot in insert     94 % [kernel] · 6 % [instrumentation]\n"
	"and 2 more regions with samples; -v shows all\n"
	"samples           109   987 a second of CPU time   999 asked for   by task-clock\n"
	"                  stacks dwarf   lost 3   throttled 2   unattributed 1\n"
	"                  truncated 9   without name (stripped) 11\n"
	"                  without name (kernel hidden) 30\n"
	"lost              2.68 % of the samples: shares may be wrong by as much; a lower\n"
	"                  rate loses fewer\n";

static const char hot_40[] =
	"hot in query\n"
	"  55 % sqlite3VdbeExec x.c:2104\n"
	"  29 % sqlite3Bt…toUnpacked x.c:5731\n"
	"  12 % [libc.so.6] · …\n"
	"hot in insert\n"
	"  94 % [kernel] · 6 % [instrumentation]\n"
	"and 2 more regions with samples; -v shows all\n"
	"samples\n"
	"  109   987 a second of CPU time\n"
	"  999 asked for   by task-clock\n"
	"  stacks dwarf   lost 3   throttled 2\n"
	"  unattributed 1   truncated 9\n"
	"  without name (stripped) 11\n"
	"  without name (kernel hidden) 30\n"
	"lost\n"
	"  2.68 % of the samples: shares may be\n"
	"  wrong by as much; a lower rate loses\n"
	"  fewer\n";

START_TEST(test_hot)
{
	is_rest(0, "hot in query", hot_0);
	is_rest(80, "hot in query", hot_80);
	is_rest(40, "hot in query", hot_40);
}
END_TEST

START_TEST(test_all_hot)
{
	char *text;

	sample.output.verbose = 1;
	text = print(0);
	ck_assert_ptr_nonnull(strstr(text, "\nhot outside       100 % main x.c:1\nhot, region unknown  100 % main x.c:1\nsamples "));
	free(text);
}
END_TEST

static const char detail_80[] =
	"function                self %  total %  samples  hottest line           object\n"
	"sqlite3VdbeExec           37.6     66.1       41      x.c:2104  libsqlite3.so.0\n"
	"[kernel]                  27.5     27.5       30                       [kernel]\n"
	"sqlite3Btr…etoUnpacked    20.2     20.2       22      x.c:5731  libsqlite3.so.0\n"
	"[libc.so.6]                8.3      8.3        9                      libc.so.6\n"
	"and 6 more functions; --top 0 shows all\n"
	"\n"
	"calls                             total %  self %  samples\n"
	"main                                100.0     1.8      109\n"
	"├ run_query                          68.8     0.0       75\n"
	"│ ├ sqlite3_step                     66.1     0.0       72\n"
	"│ │ sqlite3VdbeExec                  66.1    37.6       72\n"
	"│ │ ├ sqlite3BtreeMovetoUnpacked     20.2    20.2       22\n"
	"│ │ └ [libc.so.6]                     8.3     8.3        9\n"
	"│ └ a\\x1B[31m\\xFF(int)                2.8     2.8        3\n"
	"└ insert                             29.4     0.0       32\n"
	"  ├ [kernel]                         27.5    27.5       30\n"
	"  └ [instrumentation]                 1.8     1.8        2\n"
	"\n"
	"sqlite3VdbeExec  self %  total %  samples           object\n"
	"x.c:2104           37.6     37.6       41  libsqlite3.so.0\n"
	"x.c:2200            0.0     28.4        0  libsqlite3.so.0\n"
	"\n"
	"object               %  samples  named %  build id                     note\n"
	"libsqlite3.so.0   57.8       63    100.0  00c0ffee\n"
	"[kernel]          27.5       30      0.0\n"
	"libc.so.6          8.3        9      0.0  00c0ffee\n"
	"sqlbench           4.6        5    100.0  00c0ffee  replaced during the run\n"
	"libsparkagent.so   1.8        2      0.0  00c0ffee\n"
	"\n"
	"samples           109   987 a second of CPU time   999 asked for   by task-clock\n"
	"                  stacks dwarf   lost 3   throttled 2   unattributed 1\n"
	"                  truncated 9   without name (stripped) 11\n"
	"                  without name (kernel hidden) 30\n"
	"lost              2.68 % of the samples: shares may be wrong by as much; a lower\n"
	"                  rate loses fewer\n";

static void detail(void)
{
	sample.options.profile.detail = true;
	sample.options.profile.call_tree = true;
	sample.options.profile.lines = "sqlite3VdbeExec";
}

START_TEST(test_detail)
{
	detail();
	is_rest(80, "function ", detail_80);
}
END_TEST

static void has(const char *text, const char *line, bool wanted)
{
	ck_assert_msg((strstr(text, line) != NULL) == wanted, "'%s' is %s:\n%s", line, wanted ? "not there" : "there", text);
}

START_TEST(test_by_region)
{
	char *text;

	detail();
	sample.options.profile.by_region = true;
	text = print(100);
	has(text, "\nfunction in query ", true);
	has(text, "\ncalls in insert ", true);
	has(text, "\nsqlite3VdbeExec in query ", true);
	has(text, "\nsqlite3VdbeExec in insert ", false);
	has(text, "\nfunction, region unknown ", true);
	has(text, "\nmissing in query  lost 1   throttled 2   truncated 9   without name (stripped) 9\n", true);
	has(text, "\nmissing in insert without name (stripped) 2   without name (kernel hidden) 30\n", true);
	has(text, "\nmissing, region unknown", false);
	has(text, "\nmissing outside", false);
	free(text);
}
END_TEST

/* Those of load are insert's; load itself has no samples of its own and so no table. */
START_TEST(test_regions)
{
	char *text;

	sample.options.regions = "load;*";
	text = print(100);
	has(text, "hot in insert ", true);
	has(text, "hot in query ", false);
	has(text, "hot outside", false);
	free(text);
}
END_TEST

START_TEST(test_buckets)
{
	struct buckets buckets;
	struct buckets_error mistake;
	char *text;

	ck_assert_int_eq(buckets_parse(&buckets, "^sqlite3 -> database\nkernel -> kernel\n", &mistake), 0);
	sample.options.profile.detail = true;
	sample.options.profile.buckets = &buckets;
	text = print(100);
	has(text, "\nbucket                %  samples\n"
		  "database           66.1       72\n"
		  "kernel             27.5       30\n"
		  "[other]             4.6        5\n"
		  "[instrumentation]   1.8        2\n", true);
	free(text);
	buckets_free(&buckets);
}
END_TEST

/* Two regions of one name are told apart by what is around them. */
START_TEST(test_same_name)
{
	char *text;

	stack_add(&samples, 1, "load;query", "sqlbench!main:1", 50);
	text = print(100);
	has(text, "hot in load;query ", true);
	has(text, "\nhot in query ", true);
	free(text);
}
END_TEST

START_TEST(test_quiet)
{
	char *text;

	sample.output.verbose = -1;
	text = print(100);
	has(text, "hot in", false);
	has(text, "\nsamples", false);
	has(text, "\nlost              2.68 %", true);
	free(text);
}
END_TEST

/* One percent is no warning, and nothing is no line. */
START_TEST(test_few_lost)
{
	char *text;

	samples.lost = 1;
	samples.throttled = 0;
	text = print(0);
	has(text, "lost 1 ", true);
	has(text, "throttled", false);
	has(text, "\nlost ", false);
	free(text);
}
END_TEST

START_TEST(test_no_samples)
{
	char *text;

	samples_fini(&samples);
	detail();
	text = print(100);
	has(text, "\nfunction", false);
	has(text, "samples           0\n", true);
	free(text);
}
END_TEST

/* Nothing is wider than the terminal but numbers in a column, and nothing steers it. */
START_TEST(test_widths)
{
	char *text, *line, *save;
	size_t width;

	detail();
	sample.options.profile.by_region = _i;
	for (width = 40; width < 200; width++) {
		text = print(width);
		for (line = strtok_r(strstr(text, "function"), "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			ck_assert_msg(text_width(line) <= width, "%zu: '%s'", width, line);
			ck_assert_ptr_null(strchr(line, '\033'));
		}
		free(text);
	}
}
END_TEST

/* Name, columns, what is left of it. */
static const struct { const char *name; size_t columns; const char *wanted; } functions[] = {
	{ "f(int)", 10, "f(int)" }, { "function(int, char)", 12, "function(…)" },
	{ "std::vector<int, std::allocator<int> >::push_back(int const&)", 40, "std::vector<…>::push_back(…)" },
	{ "std::vector<int, std::allocator<int> >::push_back(int const&)", 55,
	  "std::vector<int, std::allocator<int> >::push_back(…)" },
	{ "bool operator< <char>(s<char> const&, s<char> const&)", 23, "bool operator< <…>(…)" },
	{ "S<a, b>::operator()(int, int) const", 30, "S<a, b>::operator()(…) const" },
	{ "S<a, b>::operator->(int, int) const", 27, "S<…>::operator->(…) const" },
	{ "(anonymous namespace)::f(int)", 28, "(anonymous namespace)::f(…)" },
	{ "f(void (*)(int), a<(b)1>) [clone .cold]", 20, "f(…) [clone .cold]" },
	{ "a<b<c", 4, "a…<c" }, { "a>b)c(", 4, "a…c(" }, { "", 3, "" }, { "averyveryverylongname", 8, "ave…name" },
	{ "x\xff(yyyyyyyy)", 8, "x\\xFF(…)" },
};

START_TEST(test_functions)
{
	char *text = lines_function(functions[_i].name, functions[_i].columns);

	ck_assert_str_eq(text, functions[_i].wanted);
	free(text);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("table_profile");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_hot);
	tcase_add_test(tests, test_all_hot);
	tcase_add_test(tests, test_detail);
	tcase_add_test(tests, test_by_region);
	tcase_add_test(tests, test_regions);
	tcase_add_test(tests, test_buckets);
	tcase_add_test(tests, test_same_name);
	tcase_add_test(tests, test_quiet);
	tcase_add_test(tests, test_few_lost);
	tcase_add_test(tests, test_no_samples);
	tcase_add_loop_test(tests, test_widths, 0, 2);
	tcase_add_loop_test(tests, test_functions, 0, ARRAY_SIZE(functions));
	return suite_run("table_profile", tests);
}
