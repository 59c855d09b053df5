/* SPDX-License-Identifier: MIT */
/* cli/analyze/stacks and buckets: sums by hand, of recursion, inlined functions, the instrumentation and scopes. */
#include "cli/analyze/buckets.h"
#include "cli/analyze/stacks.h"
#include "stack.h"
#include "suite.h"

static struct samples samples;
static struct stacks *stacks;
static const struct stacks_scope whole = { .whole = true };
static struct stacks_entry *entries;
static size_t n;

static void setup(void)
{
	samples_init(&samples);
}

static void teardown(void)
{
	free(entries);
	entries = NULL;
	stacks_free(stacks);
	stacks = NULL;
	samples_fini(&samples);
}

static void flat(const struct stacks_scope *scope)
{
	if (!stacks)
		stacks = stacks_new(&samples);
	ck_assert_ptr_nonnull(stacks);
	free(entries);
	ck_assert_int_eq(stacks_flat(stacks, scope, &entries, &n), 0);
}

static void is_function(u32 function, const char *name)
{
	char *text = stacks_function_name(stacks, function);

	ck_assert_str_eq(text, name);
	free(text);
}

static void is_entry(size_t i, const char *name, u64 self, u64 total, u32 line)
{
	ck_assert_uint_lt(i, n);
	is_function(entries[i].function, name);
	ck_assert_msg(entries[i].self.count == self && entries[i].total.count == total, "%s: %llu self, %llu in all",
		      name, (unsigned long long)entries[i].self.count, (unsigned long long)entries[i].total.count);
	ck_assert_uint_eq(entries[i].self.weight, self * 1000000);
	ck_assert_uint_eq(entries[i].place.line, line);
}

START_TEST(test_flat)
{
	stack_add(&samples, 1, "", "a!main:1 a!work:5", 70);
	stack_add(&samples, 1, "", "a!main:1 a!work:6", 10);
	stack_add(&samples, 1, "", "a!main:2 a!other:9 lib/libz.so!?", 20);
	stack_add(&samples, 1, "", "a!main:3", 1);
	stack_add(&samples, 1, "", "", 3);
	flat(&whole);
	ck_assert_uint_eq(n, 4);
	is_entry(0, "work", 80, 80, 5);
	is_entry(1, "[libz.so]", 20, 20, 0);
	is_entry(2, "main", 1, 101, 3);
	is_entry(3, "other", 0, 20, 9);
	ck_assert_str_eq(stacks_string(stacks, entries[0].place.file), "/src/x.c");
	ck_assert_uint_eq(stacks_sum(stacks, &whole).count, 104);
}
END_TEST

/* A function that calls itself has each sample once. */
START_TEST(test_recursion)
{
	stack_add(&samples, 1, "", "a!main:1 a!f:5 a!g:6 a!f:5 a!f:7", 10);
	stack_add(&samples, 1, "", "a!main:1 a!f:5", 3);
	flat(&whole);
	is_entry(0, "f", 13, 13, 7);
	is_entry(1, "main", 0, 13, 1);
	is_entry(2, "g", 0, 10, 6);
}
END_TEST

START_TEST(test_inlined)
{
	stack_add(&samples, 1, "", "a!main:1 a!outer:10<middle:20<leaf:30", 10);
	stack_add(&samples, 1, "", "a!main:1 a!leaf:31", 2);
	flat(&whole);
	is_entry(0, "leaf", 12, 12, 30);
	is_entry(1, "main", 0, 12, 1);
	is_entry(2, "middle", 0, 10, 20);
	is_entry(3, "outer", 0, 10, 10);
	ck_assert_uint_eq(entries[0].nlines, 2);
	ck_assert_str_eq(stacks_string(stacks, samples.lines[entries[0].first_line].function), "middle");
	ck_assert_str_eq(stacks_string(stacks, samples.lines[entries[0].first_line + 1].function), "outer");
	ck_assert_uint_eq(entries[2].nlines, 1);
	ck_assert_uint_eq(entries[3].nlines, 0);
}
END_TEST

/* Equal names in two objects are two functions. */
START_TEST(test_objects)
{
	struct stacks_module *modules;
	size_t nmodules;

	stack_add(&samples, 1, "", "a!main:1 b.so!f:2", 4);
	stack_add(&samples, 1, "", "a!main:1 c.so!f:2", 3);
	stack_add(&samples, 1, "", "a!main:1 b.so!?", 1);
	flat(&whole);
	is_entry(0, "f", 4, 4, 2);
	is_entry(1, "f", 3, 3, 2);
	ck_assert_int_eq(stacks_modules(stacks, &whole, &modules, &nmodules), 0);
	ck_assert_uint_eq(nmodules, 2);
	ck_assert_str_eq(samples.objects[modules[0].object].path, "b.so");
	ck_assert_uint_eq(modules[0].self.count, 5);
	ck_assert_uint_eq(modules[0].named, 4);
	free(modules);
}
END_TEST

/* The thunk around a call is in no chain; what is on top in it, or in its hooks, is the instrumentation's. */
START_TEST(test_bracket)
{
	stack_add(&samples, 1, "", "a!main:1 /x/libsparkagent.so!spark_bracketed_call libz.so!deflate:5", 10);
	stack_add(&samples, 1, "", "a!main:1 /x/libsparkagent.so!spark_bracketed_call b.so!f:2 /x/libsparkagent.so!spark_bracketed_call c.so!g:3", 4);
	stack_add(&samples, 1, "", "a!main:1 /x/libsparkagent.so!spark_bracketed_call", 2);
	stack_add(&samples, 1, "", "a!main:1 /x/libsparkagent.so!spark_bracketed_call /x/libsparkagent.so!call_end", 1);
	stack_add(&samples, 1, "", "a!main:1 b.so!spark_bracketed_call", 5);
	flat(&whole);
	ck_assert_uint_eq(n, 6);
	is_entry(0, "deflate", 10, 10, 5);
	is_entry(1, "spark_bracketed_call", 5, 5, 0);
	is_entry(2, "g", 4, 4, 3);
	is_entry(3, "[instrumentation]", 3, 3, 0);
	is_entry(4, "main", 0, 22, 1);
	is_entry(5, "f", 0, 4, 2);
}
END_TEST

START_TEST(test_instrumentation)
{
	stack_add(&samples, 1, "", "a!main:1 a!work:5 a!spark_call_region_begin_:7 /x/libsparkagent.so!?", 3);
	stack_add(&samples, 1, "", "a!main:1 a!work:5 a!spark_call_name_end_(char*):7 /x/libsparkagent.so!f libc.so!clock", 2);
	stack_add(&samples, 1, "", "a!main:1 a!work:5<spark_begin:9", 1);
	stack_add(&samples, 1, "", "a!main:1 a!spark_beginning:9", 8);
	stack_add(&samples, 1, "", "a!main:1 /x/libsparkagent.so!syscall [kernel]!do_read", 7);
	flat(&whole);
	is_entry(0, "spark_beginning", 8, 8, 9);
	is_entry(1, "do_read", 7, 7, 0);
	is_entry(2, "[instrumentation]", 6, 6, 0);
	is_entry(3, "main", 0, 21, 1);
	is_entry(4, "syscall", 0, 7, 0);
	is_entry(5, "work", 0, 6, 5);
	ck_assert_uint_eq(n, 6);
}
END_TEST

static void regions(void)
{
	stack_add(&samples, 1, "query", "a!main:1 a!q:2", 5);
	stack_add(&samples, 1, "query;scan", "a!main:1 a!s:2", 7);
	stack_add(&samples, 2, "query;scan", "a!main:1 a!s:2", 9);
	stack_add(&samples, 1, "query;scan;page", "a!main:1 a!p:2", 1);
	stack_add(&samples, 1, "", "a!main:1", 2);
	stack_add(&samples, 1, NULL, "a!main:1", 3);
	stacks = stacks_new(&samples);
}

START_TEST(test_scopes)
{
	static const struct { struct stacks_scope scope; u64 count; } cases[] = {
		{ { .whole = true }, 27 }, { { .whole = true, .process = 2 }, 9 }, { { .region = 0 }, 2 },
		{ { .unattributed = true }, 3 }, { { .region = 1 }, 5 }, { { .region = 2 }, 16 },
		{ { .region = 2, .process = 1 }, 7 }, { { .region = 1, .inner = true }, 22 },
		{ { .region = 2, .inner = true, .process = 1 }, 8 }, { { .region = 3, .process = 2 }, 0 },
		{ { .region = 3, .inner = true }, 1 }, { { .region = 0, .inner = true }, 2 },
	};

	regions();
	ck_assert_uint_eq(stacks_sum(stacks, &cases[_i].scope).count, cases[_i].count);
}
END_TEST

START_TEST(test_parts)
{
	struct stacks_part *parts;
	size_t nparts;

	regions();
	ck_assert_int_eq(stacks_parts(stacks, false, &parts, &nparts), 0);
	ck_assert_uint_eq(nparts, 5);
	ck_assert_uint_eq(parts[0].scope.region, 2);
	ck_assert_uint_eq(parts[0].sum.count, 16);
	ck_assert_uint_eq(parts[0].pid, 0);
	ck_assert(parts[2].scope.unattributed);
	free(parts);
	ck_assert_int_eq(stacks_parts(stacks, true, &parts, &nparts), 0);
	ck_assert_uint_eq(nparts, 6);
	ck_assert_uint_eq(parts[0].scope.process, 2);
	ck_assert_uint_eq(parts[0].sum.count, 9);
	ck_assert_uint_eq(parts[1].pid, 1001);
	flat(&parts[1].scope);
	is_entry(0, "s", 7, 7, 2);
	free(parts);
}
END_TEST

START_TEST(test_lines)
{
	struct stacks_line *lines;
	size_t nlines;

	stack_add(&samples, 1, "", "a!main:1 a!work:9", 5);
	stack_add(&samples, 1, "", "a!main:1 a!work:4", 2);
	stack_add(&samples, 1, "", "a!main:1 a!work:9 a!work:4", 1);
	stack_add(&samples, 1, "", "a!main:1 a!work:9 a!x:3", 8);
	flat(&whole);
	ck_assert_int_eq(stacks_lines(stacks, &whole, "work", &lines, &nlines), 0);
	ck_assert_uint_eq(nlines, 2);
	ck_assert_uint_eq(lines[0].place.line, 4);
	ck_assert_uint_eq(lines[0].self.count, 3);
	ck_assert_uint_eq(lines[0].total.count, 3);
	ck_assert_uint_eq(lines[1].self.count, 5);
	ck_assert_uint_eq(lines[1].total.count, 14);
	free(lines);
	ck_assert_int_eq(stacks_lines(stacks, &whole, "none", &lines, &nlines), 0);
	ck_assert_uint_eq(nlines, 0);
	free(lines);
}
END_TEST

/* Frames of the function, also where it is inlined, among all others. */
START_TEST(test_addresses)
{
	struct stacks_address *addresses;
	u64 self = 0, total = 0;
	size_t i, naddresses, marked = 0;

	stack_add(&samples, 1, "", "a!main:1 a!work:9", 5);
	stack_add(&samples, 1, "", "a!main:1 a!outer:4<work:9", 2);
	stack_add(&samples, 1, "", "a!main:1 a!work:9 a!work:9 b!x:3", 8);
	stacks = stacks_new(&samples);
	ck_assert_int_eq(stacks_addresses(stacks, &whole, "work", &addresses, &naddresses), 0);
	ck_assert_uint_eq(naddresses, 4);
	for (i = 0; i < naddresses; i++) {
		ck_assert(!i || samples.frames[addresses[i].frame].object > samples.frames[addresses[i - 1].frame].object ||
			  samples.frames[addresses[i].frame].address > samples.frames[addresses[i - 1].frame].address);
		marked += addresses[i].of_function;
		self += addresses[i].of_function ? addresses[i].self.count : 0;
		total += addresses[i].of_function ? addresses[i].total.count : 0;
	}
	ck_assert_uint_eq(marked, 2);
	ck_assert_uint_eq(self, 7);
	ck_assert_uint_eq(total, 15);
	free(addresses);
}
END_TEST

START_TEST(test_tree)
{
	static const struct { const char *name; u32 depth; u64 self, total; u32 parent; } wanted[] = {
		{ "main", 0, 1, 16, SAMPLES_NONE }, { "b", 1, 0, 9, 0 }, { "c", 2, 9, 9, 1 }, { "a", 1, 4, 6, 0 },
		{ "c", 2, 2, 2, 3 }, { "start", 0, 3, 3, SAMPLES_NONE },
	};
	struct stacks_node *nodes;
	size_t i;

	stack_add(&samples, 1, "", "x!main:1 x!a:2", 4);
	stack_add(&samples, 1, "", "x!main:1 x!b:2<c:7", 5);
	stack_add(&samples, 1, "", "x!main:9 x!b:3 x!c:8", 4);
	stack_add(&samples, 1, "", "x!main:1 x!a:2 x!c:8", 2);
	stack_add(&samples, 1, "", "x!start:1", 3);
	stack_add(&samples, 1, "", "x!main:1", 1);
	stacks = stacks_new(&samples);
	ck_assert_int_eq(stacks_tree(stacks, &whole, &nodes, &n), 0);
	ck_assert_uint_eq(n, ARRAY_SIZE(wanted));
	for (i = 0; i < n; i++) {
		is_function(nodes[i].function, wanted[i].name);
		ck_assert_uint_eq(nodes[i].depth, wanted[i].depth);
		ck_assert_uint_eq(nodes[i].self.count, wanted[i].self);
		ck_assert_uint_eq(nodes[i].total.count, wanted[i].total);
		ck_assert_uint_eq(nodes[i].parent, wanted[i].parent);
	}
	free(nodes);
}
END_TEST

START_TEST(test_buckets)
{
	static const struct { const char *name; u64 count; } wanted[] = {
		{ "memory", 12 }, { "parser", 4 }, { "[instrumentation]", 3 }, { "[other]", 2 }, { "never", 0 },
	};
	struct buckets buckets;
	struct buckets_error mistake;
	struct stacks_bucket *sums;
	size_t nsums, i;

	stack_add(&samples, 1, "", "a!main:1 a!parse_x:2", 4);
	stack_add(&samples, 1, "", "a!main:1 a!parse_x:2 libc.so!malloc", 5);
	stack_add(&samples, 1, "", "a!main:1 a!grow:2 libjemalloc.so!?", 7);
	stack_add(&samples, 1, "", "a!main:1", 2);
	stack_add(&samples, 1, "", "a!main:1 a!parse_x:2 /libsparkagent.so!?", 3);
	stacks = stacks_new(&samples);
	ck_assert_int_eq(buckets_parse(&buckets, "# a comment\n\n ^parse_ -> parser \n^(m|c)alloc$ → memory\n"
				       "jemalloc -> memory\na->b -> never", &mistake), 0);
	ck_assert_uint_eq(buckets.nnames, 3);
	ck_assert_int_eq(stacks_buckets(stacks, &whole, &buckets, &sums, &nsums), 0);
	ck_assert_uint_eq(nsums, ARRAY_SIZE(wanted));
	for (i = 0; i < nsums; i++) {
		ck_assert_str_eq(sums[i].name, wanted[i].name);
		ck_assert_uint_eq(sums[i].sum.count, wanted[i].count);
	}
	free(sums);
	buckets_free(&buckets);
}
END_TEST

static const struct { const char *text; size_t line; const char *why; } mistakes[] = {
	{ "a -> b\nx", 2, "there is no -> in it" }, { "-> b", 1, "there is no pattern in front of the ->" },
	{ "\n\na ->  ", 3, "there is no bucket behind the ->" }, { "( -> b", 1, "Unmatched ( or \\(" },
};

START_TEST(test_mistakes)
{
	struct buckets buckets;
	struct buckets_error mistake;

	ck_assert_int_eq(buckets_parse(&buckets, mistakes[_i].text, &mistake), -1);
	ck_assert_uint_eq(mistake.line, mistakes[_i].line);
	ck_assert_str_eq(mistake.why, mistakes[_i].why);
	buckets_free(&buckets);
}
END_TEST

START_TEST(test_gaps)
{
	struct stacks_gaps gaps;

	stack_add(&samples, 1, NULL, "a!main:1 b!?", 4);
	stack_add(&samples, 1, "", "a!? b!f", 3);
	stack_add(&samples, 1, "", "", 2);
	samples.rows[1].flags |= SAMPLES_TRUNCATED;
	stacks = stacks_new(&samples);
	gaps = stacks_gaps(stacks, &whole);
	ck_assert_uint_eq(gaps.samples, 9);
	ck_assert_uint_eq(gaps.unattributed, 4);
	ck_assert_uint_eq(gaps.truncated, 3);
	ck_assert_uint_eq(gaps.no_chain, 2);
	ck_assert_uint_eq(gaps.unresolved[SAMPLES_STRIPPED], 4);
}
END_TEST

/* What was lost has a region, or none; of a process and of all. */
START_TEST(test_missed)
{
	struct stacks_scope scope = { .region = 1 };

	stack_add(&samples, 1, "r", "a!f", 1);
	stack_add(&samples, 1, "r;s", "a!f", 1);
	stack_add(&samples, 1, "", "a!f", 1);
	samples_miss(&samples, &(struct samples_missed){ .process = 1, .region = 0, .lost = 3, .throttled = 1 });
	samples_miss(&samples, &(struct samples_missed){ .process = 2, .region = 0, .lost = 4 });
	samples_miss(&samples, &(struct samples_missed){ .process = 1, .region = 1, .lost = 10 });
	samples_miss(&samples, &(struct samples_missed){ .process = 1, .region = SAMPLES_NONE, .lost = 20 });
	samples_miss(&samples, &(struct samples_missed){ .region = SAMPLES_NONE, .flags = SAMPLES_UNATTRIBUTED, .lost = 40 });
	samples.lost = 100;
	stacks = stacks_new(&samples);
	ck_assert_uint_eq(stacks_gaps(stacks, &whole).lost, 100);
	ck_assert_uint_eq(stacks_gaps(stacks, &scope).lost, 7);
	ck_assert_uint_eq(stacks_gaps(stacks, &scope).throttled, 1);
	scope.inner = true;
	ck_assert_uint_eq(stacks_gaps(stacks, &scope).lost, 17);
	scope.process = 1;
	ck_assert_uint_eq(stacks_gaps(stacks, &scope).lost, 13);
	ck_assert_uint_eq(stacks_gaps(stacks, &(struct stacks_scope){ .region = 0 }).lost, 20);
	ck_assert_uint_eq(stacks_gaps(stacks, &(struct stacks_scope){ .unattributed = true }).lost, 40);
}
END_TEST

/* A chain without end, as a stranger's recording may have it. */
START_TEST(test_deep)
{
	struct samples_row row = { .process = 1, .chain = SAMPLES_NONE, .region = SAMPLES_NONE };
	u32 i, object = samples_object(&samples, "a", NULL, SAMPLES_FILE);
	struct stacks_node *nodes;

	for (i = 0; i < 3 * STACKS_DEPTH_MAX; i++)
		row.chain = samples_chain(&samples, row.chain, samples_frame(&samples, object, 16));
	ck_assert_int_eq(samples_add(&samples, &row, 1, 1, 0), 0);
	flat(&whole);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(entries[0].total.count, 1);
	ck_assert_int_eq(stacks_tree(stacks, &whole, &nodes, &n), 0);
	ck_assert_uint_eq(n, STACKS_DEPTH_MAX);
	free(nodes);
}
END_TEST

/* Nothing at all. */
START_TEST(test_empty)
{
	struct stacks_node *nodes;
	struct stacks_part *parts;

	flat(&whole);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(stacks_tree(stacks, &whole, &nodes, &n), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(stacks_parts(stacks, true, &parts, &n), 0);
	ck_assert_uint_eq(n, 0);
	free(nodes);
	free(parts);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("stacks");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_flat);
	tcase_add_test(tests, test_recursion);
	tcase_add_test(tests, test_inlined);
	tcase_add_test(tests, test_objects);
	tcase_add_test(tests, test_bracket);
	tcase_add_test(tests, test_instrumentation);
	tcase_add_loop_test(tests, test_scopes, 0, 12);
	tcase_add_test(tests, test_parts);
	tcase_add_test(tests, test_lines);
	tcase_add_test(tests, test_addresses);
	tcase_add_test(tests, test_tree);
	tcase_add_test(tests, test_buckets);
	tcase_add_loop_test(tests, test_mistakes, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(tests, test_gaps);
	tcase_add_test(tests, test_missed);
	tcase_add_test(tests, test_deep);
	tcase_add_test(tests, test_empty);
	return suite_run("stacks", tests);
}
