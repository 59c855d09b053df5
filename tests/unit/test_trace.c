/* SPDX-License-Identifier: MIT */
/* cli/analyze/trace and cli/output/chrome_trace: what threads did becomes events that nest. */
#include <stdlib.h>
#include <string.h>

#include "cli/output/chrome_trace.h"
#include "suite.h"

static struct trace trace;
static u32 thread;
static u64 now;

static void setup(void)
{
	ck_assert_int_eq(trace_init(&trace), 0);
	thread = trace_thread(&trace, 1, 100, 101);
	now = 0;
}

static void teardown(void)
{
	trace_fini(&trace);
}

/* A path of names of one letter. */
static u32 region(const char *path)
{
	u32 at = SAMPLES_NONE;

	for (; *path; path++)
		at = samples_region(&trace.regions, at, path, 1);
	return at;
}

static void add(enum trace_kind kind, const char *path)
{
	trace_add(&trace, thread, kind, region(path), ++now);
}

static void begin(const char *path)
{
	add(TRACE_BEGIN, path);
}

static void end(const char *path)
{
	add(TRACE_END, path);
}

/* All events as text: a sign for the kind, and the region's own name. */
static const char *events(void)
{
	static char text[4096];
	struct trace_event e;
	u64 before = 0;
	size_t n = 0;

	trace_rewind(&trace);
	while (trace_next(&trace, &e)) {
		ck_assert_uint_ge(e.ticks, before);
		before = e.ticks;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%c", n ? " " : "", "+-!_>x~?"[e.kind]);
		if (e.kind == TRACE_MISSING)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%u", (u32)e.value);
		else
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s",
					      trace.regions.strings[trace.regions.regions[e.value].name].bytes);
	}
	text[n] = 0;
	return text;
}

START_TEST(test_nested)
{
	begin("a");
	begin("ab");
	end("ab");
	end("a");
	ck_assert_str_eq(events(), "+a +b -b -a");
	ck_assert_uint_eq(trace.missing, 0);
}
END_TEST

/* The inner one ends with the outer one, and its own end is told. */
START_TEST(test_overlap)
{
	begin("a");
	begin("ab");
	end("a");
	add(TRACE_LATE_END, "ab");
	ck_assert_str_eq(events(), "+a +b !b -a ~b");
}
END_TEST

/* What is given up below others ends when they have. */
START_TEST(test_given_up)
{
	begin("a");
	begin("ab");
	begin("abc");
	add(TRACE_UNENDED, "ab");
	end("abc");
	end("a");
	ck_assert_str_eq(events(), "+a +b +c -c !b -a");
}
END_TEST

/* An end of what nobody began, in a trace that lacks nothing. */
START_TEST(test_unknown_end)
{
	begin("a");
	end("ab");
	end("a");
	add(TRACE_UNENDED, "a");
	ck_assert_str_eq(events(), "+a ~b -a");
}
END_TEST

START_TEST(test_still_open)
{
	begin("a");
	begin("ab");
	trace_close(&trace, thread, 99);
	ck_assert_str_eq(events(), "+a +b _b _a");
	ck_assert_uint_eq(trace.threads[thread].ticks, 99);
}
END_TEST

/* The path of the first region after a gap tells what is open. */
START_TEST(test_gap_begin)
{
	begin("a");
	begin("ab");
	trace_lose(&trace, thread, 5);
	begin("acd");
	end("acd");
	end("ac");
	end("a");
	ck_assert_str_eq(events(), "+a +b ?5 xb >c +d -d -c -a");
	ck_assert_uint_eq(trace.missing, 5);
}
END_TEST

START_TEST(test_gap_end)
{
	begin("a");
	trace_lose(&trace, thread, 3);
	end("ab");
	trace_lose(&trace, thread, 1);
	end("x");
	ck_assert_str_eq(events(), "+a ?3 >b -b ?1 xa >x -x");
}
END_TEST

/* One that was given up is not one of those that are open. */
START_TEST(test_gap_given_up)
{
	begin("a");
	begin("ab");
	add(TRACE_UNENDED, "a");
	trace_lose(&trace, thread, 1);
	begin("abc");
	trace_close(&trace, thread, 9);
	ck_assert_str_eq(events(), "+a +b ?1 xb !a >a >b +c _c _b _a");
}
END_TEST

START_TEST(test_gap_last)
{
	begin("a");
	trace_lose(&trace, thread, 7);
	trace_close(&trace, thread, 9);
	trace_close(&trace, thread, 9);
	ck_assert_str_eq(events(), "+a ?7 _a");
}
END_TEST

/* Times of a stranger. */
START_TEST(test_times)
{
	trace_add(&trace, thread, TRACE_BEGIN, region("a"), 50);
	trace_add(&trace, thread, TRACE_END, region("a"), 10);
	ck_assert_str_eq(events(), "+a -a");
}
END_TEST

START_TEST(test_deep)
{
	char path[3000];

	memset(path, 'r', sizeof(path));
	path[1500] = 0;
	for (u32 i = 1; i <= 1500; i++)
		trace_add(&trace, thread, TRACE_BEGIN, samples_region(&trace.regions, i > 1 ? i - 2 : SAMPLES_NONE, "r", 1), i);
	ck_assert_uint_eq(trace.missing, 1500 - 1024);
	trace_lose(&trace, thread, 1);
	end(path);
	trace_close(&trace, thread, 9);
	ck_assert_uint_eq(trace.threads[thread].depth, 0);
}
END_TEST

START_TEST(test_threads)
{
	u32 other = trace_thread(&trace, 2, 200, 101);

	ck_assert_uint_ne(other, thread);
	ck_assert_uint_eq(trace_thread(&trace, 1, 100, 101), thread);
	for (u32 i = 0; i < 10000; i++)
		trace_thread(&trace, 1, 100, 1000 + i);
	ck_assert_uint_eq(trace_thread(&trace, 2, 200, 101), other);
	ck_assert_uint_eq(trace.nthreads, 10002);
}
END_TEST

START_TEST(test_written)
{
	const struct process_facts process = { .id = 1, .pid = 100, .command = "./app \"x\"" };
	struct clock_map clock = { .identity = true };
	const struct session_facts facts = { .clock_map = &clock, .processes = &process, .nprocesses = 1 };
	const struct trace_window window = { .process = 1, .pid = 100, .start = 1500, .end = 2500,
					     .name = samples_string(&trace.regions, "w", 1) };
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	memcpy(trace.threads[thread].name, "comm\n", 6);
	trace.start_ns = 1000;
	now = 2233;
	trace_add(&trace, thread, TRACE_BEGIN, samples_region(&trace.regions, SAMPLES_NONE, "q\"\\\x01\xff", 5), now);
	end("ab");
	trace_lose(&trace, thread, 5);
	trace_close(&trace, thread, 3456789);
	trace_add_window(&trace, &window);
	ck_assert_int_eq(chrome_trace_write(file, &trace, &facts), 0);
	fclose(file);
	ck_assert_str_eq(text,
		"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
		"{\"ph\":\"M\",\"cat\":\"__metadata\",\"pid\":100,\"tid\":101,\"ts\":0.000,\"name\":\"process_name\",\"args\":{\"name\":\"./app \\\"x\\\"\"}},\n"
		"{\"ph\":\"M\",\"cat\":\"__metadata\",\"pid\":100,\"tid\":101,\"ts\":0.000,\"name\":\"thread_name\",\"args\":{\"name\":\"comm\\\\n\"}},\n"
		"{\"ph\":\"B\",\"cat\":\"region\",\"pid\":100,\"tid\":101,\"ts\":1.233,\"name\":\"q\\\"\\\\\\\\\\\\x01\\\\xFF\"},\n"
		"{\"ph\":\"i\",\"cat\":\"late end\",\"pid\":100,\"tid\":101,\"ts\":1.234,\"name\":\"b\",\"s\":\"t\",\"args\":{\"note\":\"ended here, after a region around it\"}},\n"
		"{\"ph\":\"i\",\"cat\":\"missing\",\"pid\":100,\"tid\":101,\"ts\":3455.789,\"name\":\"5 markers are missing\",\"s\":\"t\",\"args\":{\"markers\":5}},\n"
		"{\"ph\":\"E\",\"cat\":\"region\",\"pid\":100,\"tid\":101,\"ts\":3455.789,\"name\":\"q\\\"\\\\\\\\\\\\x01\\\\xFF\",\"args\":{\"note\":\"still open\"}},\n"
		"{\"ph\":\"b\",\"cat\":\"window\",\"pid\":100,\"tid\":100,\"ts\":0.500,\"name\":\"w\",\"id\":\"0x1\"},\n"
		"{\"ph\":\"e\",\"cat\":\"window\",\"pid\":100,\"tid\":100,\"ts\":1.500,\"name\":\"w\",\"id\":\"0x1\"}\n"
		"]}\n");
	free(text);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("trace");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_nested);
	tcase_add_test(tests, test_overlap);
	tcase_add_test(tests, test_given_up);
	tcase_add_test(tests, test_unknown_end);
	tcase_add_test(tests, test_still_open);
	tcase_add_test(tests, test_gap_begin);
	tcase_add_test(tests, test_gap_end);
	tcase_add_test(tests, test_gap_given_up);
	tcase_add_test(tests, test_gap_last);
	tcase_add_test(tests, test_times);
	tcase_add_test(tests, test_deep);
	tcase_add_test(tests, test_threads);
	tcase_add_test(tests, test_written);
	return suite_run("trace", tests);
}
