/* SPDX-License-Identifier: MIT */
/* The grammar of lists of events, generic names, modifiers, breakpoints, tracepoints and probes. */
#include <linux/hw_breakpoint.h>

#include "cli/names/names.h"
#include "machines.h"
#include "suite.h"

static struct caps_context caps = { .root = fake_root };
static struct names_context names;
static struct event_list list;
static FILE *said;

static void make_machine(void)
{
	fake_make(machine_plain);
}

static void setup(void)
{
	names_init(&names, &caps);
	list = (struct event_list){ .event = NULL };
	said = tmpfile();
	ck_assert_ptr_nonnull(said);
	dup2(fileno(said), STDERR_FILENO);
}

static void teardown(void)
{
	event_list_free(&list);
	names_fini(&names);
}

static const struct event *parse(const char *text)
{
	event_list_free(&list);
	ck_assert_msg(names_parse(&names, text, &list) == 0, "'%s' is refused", text);
	return list.event;
}

/* What the refusal of a list says, one line. */
static const char *refusal(const char *text)
{
	static char line[4096];
	size_t before = list.n;

	rewind(said);
	ck_assert_int_eq(ftruncate(fileno(said), 0), 0);
	ck_assert_msg(names_parse(&names, text, &list) == -1, "'%s' is taken", text);
	ck_assert_uint_eq(list.n, before);
	rewind(said);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), said));
	ck_assert_int_eq(fgetc(said), EOF);
	return line;
}

/* Names as perf spells them, with the numbers of perf_event.h. */
static const struct { const char *name; u32 type; u64 config; } generic[] = {
	{ "cycles", 0, 0 }, { "cpu-cycles", 0, 0 }, { "instructions", 0, 1 }, { "cache-references", 0, 2 },
	{ "cache-misses", 0, 3 }, { "branches", 0, 4 }, { "branch-instructions", 0, 4 }, { "branch-misses", 0, 5 },
	{ "bus-cycles", 0, 6 }, { "stalled-cycles-frontend", 0, 7 }, { "idle-cycles-frontend", 0, 7 },
	{ "stalled-cycles-backend", 0, 8 }, { "ref-cycles", 0, 9 },
	{ "cpu-clock", 1, 0 }, { "task-clock", 1, 1 }, { "page-faults", 1, 2 }, { "faults", 1, 2 },
	{ "context-switches", 1, 3 }, { "cs", 1, 3 }, { "cpu-migrations", 1, 4 }, { "migrations", 1, 4 },
	{ "minor-faults", 1, 5 }, { "major-faults", 1, 6 }, { "alignment-faults", 1, 7 },
	{ "emulation-faults", 1, 8 }, { "dummy", 1, 9 }, { "bpf-output", 1, 10 }, { "cgroup-switches", 1, 11 },
	{ "L1-dcache-loads", 3, 0 }, { "L1-dcache-load-misses", 3, 0x10000 }, { "L1-dcache-stores", 3, 0x100 },
	{ "L1-dcache-store-misses", 3, 0x10100 }, { "L1-dcache-prefetches", 3, 0x200 },
	{ "L1-icache-load-misses", 3, 0x10001 }, { "LLC-loads", 3, 2 }, { "LLC-load-misses", 3, 0x10002 },
	{ "LLC-store-misses", 3, 0x10102 }, { "dTLB-loads", 3, 3 }, { "dTLB-load-misses", 3, 0x10003 },
	{ "iTLB-loads", 3, 4 }, { "iTLB-load-misses", 3, 0x10004 }, { "branch-loads", 3, 5 },
	{ "branch-load-misses", 3, 0x10005 }, { "node-loads", 3, 6 }, { "node-store-misses", 3, 0x10106 },
	{ "node-prefetch-misses", 3, 0x10206 }, { "L1-dcache", 3, 0 }, { "LLC-misses", 3, 0x10002 },
	{ "r1a2B", 4, 0x1a2b }, { "raw:r0", 4, 0 }, { "rffffffffffffffff", 4, ~0ULL }, { "1:2", 1, 2 },
	{ "4:0x3c", 4, 0x3c },
};

START_TEST(test_generic)
{
	const struct event *event = parse(generic[_i].name);

	ck_assert_uint_eq(list.n, 1);
	ck_assert_str_eq(event->name, generic[_i].name);
	ck_assert_uint_eq(event->attr.type, generic[_i].type);
	ck_assert_uint_eq(event->attr.config, generic[_i].config);
	ck_assert(!event->attr.exclude_user && !event->attr.exclude_kernel && !event->attr.exclude_hv);
	ck_assert_uint_eq(event->attr.exclude_guest, 1);
	ck_assert_int_eq(event->hardware, generic[_i].type != 1);
	ck_assert_ptr_null(event->obstacle);
}
END_TEST

/* Each generic name that is listed is known, under both its names. */
static int parse_listed(void *data, const char *name, const char *other)
{
	size_t *n = data;

	parse(name);
	if (other)
		parse(other);
	++*n;
	return 0;
}

START_TEST(test_listed)
{
	size_t n = 0;

	names_each_generic(PERF_TYPE_HARDWARE, parse_listed, &n);
	names_each_generic(PERF_TYPE_SOFTWARE, parse_listed, &n);
	names_each_generic(PERF_TYPE_HW_CACHE, parse_listed, &n);
	ck_assert_uint_eq(n, 10 + 12 + 2 * (3 + 2 + 3 + 3 + 1 + 1 + 3));
}
END_TEST

/* Letters: user, kernel and hypervisor excluded; precise; pinned. */
static const struct { const char *text, *excluded; unsigned int precise; bool pinned; } modified[] = {
	{ "cycles:u", "kh", 0, false }, { "cycles:k", "uh", 0, false }, { "cycles:h", "uk", 0, false },
	{ "cycles:uk", "h", 0, false }, { "cycles:ukh", "", 0, false }, { "cycles:pp", "", 2, false },
	{ "cycles:upppD", "kh", 3, true }, { "cycles/period=7/u", "kh", 0, false }, { "cycles//k", "uh", 0, false },
	{ "cycles//:k", "uh", 0, false }, { "r1:k", "uh", 0, false }, { "mem:0x10:w:u", "kh", 0, false },
	{ "{cycles}:u", "kh", 0, false }, { "{cycles:k}:u", "h", 0, false }, { "{cycles:k,cs}:D", "uh", 0, true },
	{ "sched:sched_switch:k", "uh", 0, false }, { "1:1:u", "kh", 0, false },
	{ "hv_24x7/offset=1/u", "kh", 0, false },
};

START_TEST(test_modifiers)
{
	const struct perf_event_attr *attr = &parse(modified[_i].text)->attr;
	const char *excluded = modified[_i].excluded;

	ck_assert_int_eq(attr->exclude_user, strchr(excluded, 'u') != NULL);
	ck_assert_int_eq(attr->exclude_kernel, strchr(excluded, 'k') != NULL);
	ck_assert_int_eq(attr->exclude_hv, strchr(excluded, 'h') != NULL);
	ck_assert_uint_eq(attr->precise_ip, modified[_i].precise);
	ck_assert_int_eq(attr->pinned, modified[_i].pinned);
}
END_TEST

START_TEST(test_other_modifiers)
{
	ck_assert(parse("cycles:P")->precise_most);
	ck_assert(parse("cycles:W")->weak);
	ck_assert_uint_eq(parse("cycles:I")->attr.exclude_idle, 1);
	ck_assert_uint_eq(parse("cycles:e")->attr.exclusive, 1);
	ck_assert(parse("cycles:G")->attr.exclude_host && !list.event->attr.exclude_guest);
	ck_assert(!parse("cycles:GH")->attr.exclude_host && !list.event->attr.exclude_guest);
	ck_assert(!parse("cycles:H")->attr.exclude_host && list.event->attr.exclude_guest);
}
END_TEST

START_TEST(test_groups)
{
	const struct event *event = parse("cs , {cycles,instructions:u}:kD,{ dummy },faults");

	ck_assert_uint_eq(list.n, 5);
	ck_assert_int_eq(event[0].group, -1);
	ck_assert_int_eq(event[1].group, 0);
	ck_assert_int_eq(event[2].group, 0);
	ck_assert_int_eq(event[3].group, 1);
	ck_assert_int_eq(event[4].group, -1);
	ck_assert_str_eq(event[1].name, "cycles:kD");
	ck_assert_str_eq(event[2].name, "instructions:ukD");
	/* The leader is pinned, and its group with it. */
	ck_assert(event[1].attr.pinned && !event[2].attr.pinned);
	ck_assert_str_eq(event[3].name, "dummy");
	ck_assert_uint_eq(event[4].item, 4);
}
END_TEST

START_TEST(test_terms_of_all)
{
	const struct event *event = parse("cycles/name='a, b/c',period=0x10/u,instructions/freq=99,config1=5/");

	ck_assert_uint_eq(list.n, 2);
	ck_assert_str_eq(event[0].name, "a, b/c");
	ck_assert_uint_eq(event[0].attr.sample_period, 16);
	ck_assert_uint_eq(event[0].attr.freq, 0);
	ck_assert_uint_eq(event[1].attr.sample_freq, 99);
	ck_assert_uint_eq(event[1].attr.freq, 1);
	ck_assert_uint_eq(event[1].attr.config1, 5);
}
END_TEST

START_TEST(test_breakpoints)
{
	const struct perf_event_attr *attr = &parse("mem:0x401000/8:w")->attr;

	ck_assert_uint_eq(attr->type, PERF_TYPE_BREAKPOINT);
	ck_assert_uint_eq(attr->bp_addr, 0x401000);
	ck_assert_uint_eq(attr->bp_len, 8);
	ck_assert_uint_eq(attr->bp_type, HW_BREAKPOINT_W);
	attr = &parse("mem:4096")->attr;
	ck_assert_uint_eq(attr->bp_addr, 4096);
	ck_assert_uint_eq(attr->bp_len, HW_BREAKPOINT_LEN_4);
	ck_assert_uint_eq(attr->bp_type, HW_BREAKPOINT_RW);
	attr = &parse("mem:0x10:x:u,cs")->attr;
	ck_assert_uint_eq(attr->bp_type, HW_BREAKPOINT_X);
	ck_assert_uint_eq(attr->exclude_kernel, 1);
	ck_assert_uint_eq(list.n, 2);
	attr = &parse("mem:0x10:u")->attr;
	ck_assert_uint_eq(attr->bp_type, HW_BREAKPOINT_RW);
	ck_assert_uint_eq(attr->exclude_kernel, 1);
}
END_TEST

START_TEST(test_tracepoints)
{
	const struct event *event = parse("syscalls:sys_enter_read:u");

	ck_assert_uint_eq(event->attr.type, PERF_TYPE_TRACEPOINT);
	ck_assert_uint_eq(event->attr.config, 700);
	ck_assert_str_eq(event->name, "syscalls:sys_enter_read:u");
	ck_assert_int_eq(event->side, EVENT_USER);
	event = parse("sched:sched_switch");
	ck_assert_uint_eq(event->attr.config, 314);
	ck_assert_int_eq(event->side, EVENT_KERNEL);
	event = parse("s*:*s*read*:k");
	ck_assert_uint_eq(list.n, 2);
	ck_assert_str_eq(event[0].name, "syscalls:sys_enter_read:k");
	ck_assert_str_eq(event[1].name, "syscalls:sys_enter_readv:k");
	/* Whose number it is, nobody said. */
	ck_assert_int_eq(parse("2:314:u")->side, EVENT_KERNEL);
}
END_TEST

/* Without tracefs a tracepoint may exist all the same. */
START_TEST(test_tracepoints_hidden)
{
	char empty[64];

	snprintf(empty, sizeof(empty), "%s/sys", fake_root);
	caps.root = empty;
	ck_assert_ptr_nonnull(strstr(parse("syscalls:sys_enter_read")->obstacle, "not mounted"));
	ck_assert_str_eq(list.event->name, "syscalls:sys_enter_read");
	ck_assert_uint_eq(list.n, 1);
	caps.root = fake_root;
}
END_TEST

int probed_here(void);

/* Never inlined, so that its symbol is one. */
__attribute__((noinline)) int probed_here(void)
{
	return getpid() + 1;
}

START_TEST(test_probes)
{
	char self[256], text[1024];
	const struct event *event;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(len, 0);
	self[len] = '\0';
	snprintf(text, sizeof(text), "uretprobe:%s:0x123:u,uprobe:%s:0x20+0x3", self, self);
	event = parse(text);
	ck_assert_uint_eq(list.n, 2);
	ck_assert_uint_eq(event[0].attr.type, 9);
	ck_assert_uint_eq(event[0].attr.config, 1);
	ck_assert_uint_eq(event[0].attr.config2, 0x123);
	ck_assert_str_eq((const char *)(uintptr_t)event[0].attr.config1, self);
	ck_assert_uint_eq(event[0].attr.exclude_kernel, 1);
	ck_assert_uint_eq(event[1].attr.config, 0);
	ck_assert_uint_eq(event[1].attr.config2, 0x23);
#ifdef HAVE_LIBELF
	snprintf(text, sizeof(text), "uprobe:%s:probed_here", self);
	ck_assert_uint_ne(parse(text)->attr.config2, 0);
	snprintf(text, sizeof(text), "uprobe:%s:probed_hare", self);
	ck_assert_ptr_nonnull(strstr(refusal(text), "did you mean probed_here?"));
	ck_assert_int_gt(probed_here(), 0);
#endif
	ck_assert_ptr_nonnull(strstr(refusal("uprobe:/nowhere:main"), "cannot open /nowhere"));
}
END_TEST

/* A function that no table of dynamic symbols has. */
static __attribute__((noinline)) int probed_static(void)
{
	return getpid() + 2;
}

#define SELF "/proc/self/exe"

static int probes_of(const char *text, struct probe_list *probes)
{
	probe_list_free(probes);
	return names_probes(&names, text, SELF, probes);
}

START_TEST(test_functions)
{
	struct probe_list probes = { .n = 0 };

	ck_assert_int_gt(probed_static(), 0);
	ck_assert_int_eq(probes_of(SELF ":probed_here,probed_static", &probes), 0);
	ck_assert_uint_eq(probes.n, 2);
	ck_assert_uint_eq(probes.type, 9);
	ck_assert_uint_eq(probes.at_return, 1);
	ck_assert_str_eq(probes.probe[0].name, "probed_here");
	ck_assert_str_eq(probes.probe[1].path, SELF);
	ck_assert_uint_ne(probes.probe[0].offset, probes.probe[1].offset);
	ck_assert_ptr_null(probes.throwing);
	/* Each once, however often it is asked for. */
	ck_assert_int_eq(probes_of(SELF ":probed_*," SELF ":probed_her?,probed_here", &probes), 0);
	ck_assert_uint_eq(probes.n, 2);
	ck_assert_int_eq(probes_of(SELF ":probed_hare", &probes), -1);
	ck_assert_int_eq(probes_of("_start", &probes), -1);
	ck_assert_int_eq(probes_of("probed_here,", &probes), -1);
	ck_assert_int_eq(names_probes(&names, "main", NULL, &probes), -1);
	probe_list_free(&probes);
}
END_TEST

/* A part of what is said. */
static const struct { const char *text, *said; } wrong[] = {
	{ "", "an event is missing before 'the end" }, { ",", "an event is missing" }, { "cs,", "is missing" },
	{ "cs,,cs", "is missing" }, { "{cs", "closing brace" }, { "{}", "is missing" }, { "{{cs}}", "another one" },
	{ "{cs}:", "no modifiers" }, { "{cs}x", "a comma is missing" }, { "cs}", "a comma is missing" },
	{ "cycels", "did you mean cycles?" }, { "page_fault", "did you mean page-faults" },
	{ "L1-dcache-lods", "did you mean L1-dcache-loads" }, { "iTLB-stores", "there is no event" },
	{ "Cycles", "did you mean cycles?" }, { "cycles:x", "no modifiers" }, { "cycles:uu", "stands twice" },
	{ "cycles:pppp", "more precise" }, { "cycles/period/", "takes a number" },
	{ "cycles/event=1/", "needs a PMU" }, { "cycles/name=/", "needs a name" },
	{ "cycles/call-graph=fp/", "no meaning" },
	{ "cycles/period=1", "second slash" }, { "/event=1/", "lacks the name of its PMU" },
	{ "hy_24x7/offset=1/", "did you mean hv_24x7?" }, { "hv_24x7/ofset=1/", "did you mean offset?" },
	{ "hv_24x7/domain=16/", "at most 0xf" }, { "hv_24x7/domain=x/", "takes a number" },
	{ "hv_24x7/domain/", "needs a value" }, { "hv_24x7/wild=1/", "makes no sense" },
	{ "hv_24x7/far=1/", "makes no sense" }, { "hv_24x7/reads/", "needs domain=NUMBER" },
	{ "hv_24x7/raeds,domain=1/", "did you mean reads?" }, { "hv_24x7/,/", "a term is missing" },
	{ "no_type/event=1/", "there is no PMU" }, { "hv_24x7/loop/", "has no" },
	{ "syscalls:sys_entr_read", "did you mean sys_enter_read" },
	{ "syscals:sys_enter_read", "did you mean syscalls?" },
	{ "sched:sched_odd", "no tracepoint" }, { "..:id", "there is no event" }, { "mem:", "no breakpoint" },
	{ "mem:0x", "no breakpoint" }, { "mem:1:wx", "either for" }, { "mem:1/9", "at most 8" },
	{ "mem:1/", "no breakpoint" },
	{ "mem:1:q", "no modifiers" }, { "r12345678901234567", "there is no event" }, { "9999999999:1", "no" },
	{ "uprobe:", "a probe is written" }, { "uprobe:x", "a probe is written" },
	{ "uprobe:/etc/passwd:", "a probe is written" },
};

START_TEST(test_wrong)
{
	const char *line = refusal(wrong[_i].text);

	ck_assert_msg(strstr(line, wrong[_i].said) != NULL, "'%s' says %s", wrong[_i].text, line);
}
END_TEST

START_TEST(test_limits)
{
	size_t i, n = 5000;
	char *text = malloc(n * 3 + 1);

	for (i = 0; i < n; i++)
		memcpy(text + i * 3, i + 1 < n ? "cs," : "cs", 4 - (i + 1 == n));
	ck_assert_ptr_nonnull(strstr(refusal(text), "more than 4096 events"));
	memset(text, 'a', n);
	text[n] = '\0';
	ck_assert_ptr_nonnull(strstr(refusal(text), "longer than 4096 bytes"));
	free(text);
}
END_TEST

/* What one list leaves is there for the next. */
START_TEST(test_append)
{
	parse("cs");
	ck_assert_int_eq(names_parse(&names, "{faults,dummy}", &list), 0);
	refusal("faults,nothing-like-this");
	ck_assert_uint_eq(list.n, 3);
	ck_assert_str_eq(list.event[2].name, "dummy");
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("names");

	tcase_add_unchecked_fixture(tests, make_machine, fake_remove);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, test_generic, 0, ARRAY_SIZE(generic));
	tcase_add_test(tests, test_listed);
	tcase_add_loop_test(tests, test_modifiers, 0, ARRAY_SIZE(modified));
	tcase_add_test(tests, test_other_modifiers);
	tcase_add_test(tests, test_groups);
	tcase_add_test(tests, test_terms_of_all);
	tcase_add_test(tests, test_breakpoints);
	tcase_add_test(tests, test_tracepoints);
	tcase_add_test(tests, test_tracepoints_hidden);
	tcase_add_test(tests, test_probes);
	tcase_add_test(tests, test_functions);
	tcase_add_loop_test(tests, test_wrong, 0, ARRAY_SIZE(wrong));
	tcase_add_test(tests, test_limits);
	tcase_add_test(tests, test_append);
	return suite_run("names", tests);
}
