/* SPDX-License-Identifier: MIT */
/* Events of PMUs of other machines, and libpfm's codes against what sysfs says of the same event. */
#include <errno.h>

#include "cli/names/names.h"
#include "machines.h"
#include "suite.h"

static const struct fake_file *const machines[] = {
	machine_skylake, machine_hybrid, machine_zen4, machine_zen5, machine_arm,
	machine_graviton, machine_plain,
};

static char root[64];
static struct caps_context caps = { .root = root };
static struct names_context names;
static struct event_list list;

/* Each in a folder of its own. */
static void make_machines(void)
{
	const struct fake_file *file;
	char path[512];
	size_t i;

	fake_make(NULL);
	for (i = 0; i < ARRAY_SIZE(machines); i++)
		for (file = machines[i]; file->path; file++) {
			snprintf(path, sizeof(path), "/%zu%s", i, file->path);
			fake_put(path, file->text);
		}
}

static void machine(const struct fake_file *files)
{
	size_t i;

	for (i = 0; machines[i] != files; i++)
		;
	snprintf(root, sizeof(root), "%s/%zu", fake_root, i);
	names_init(&names, &caps);
	list = (struct event_list){ .event = NULL };
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

/* The n-th event of a text. */
static const struct {
	const struct fake_file *machine;
	const char *text;
	size_t n, of;
	const char *name;
	u32 type;
	u64 config, config1;
	enum event_scope scope;
} rows[] = {
	{ machine_skylake, "cycles", 0, 1, "cycles", 0, 0, 0, EVENT_TASK },
	{ machine_skylake, "cpu/cycles/", 0, 1, "cpu/cycles/", 0, 0, 0, EVENT_TASK },
	{ machine_skylake, "cpu/event=0xc0,umask=1,cmask=2,inv,edge/u", 0, 1,
	  "cpu/event=0xc0,umask=1,cmask=2,inv,edge/u",
	  4, 0x28401c0, 0, EVENT_TASK },
	{ machine_skylake, "cpu/cpu-cycles/", 0, 1, "cpu/cpu-cycles/", 4, 0x3c, 0, EVENT_TASK },
	{ machine_skylake, "mem-loads:pp", 0, 1, "mem-loads:pp", 4, 0x1cd, 3, EVENT_TASK },
	{ machine_skylake, "cpu/mem-loads,ldlat=30/P", 0, 1, "cpu/mem-loads,ldlat=30/P", 4, 0x1cd, 30, EVENT_TASK },
	{ machine_skylake, "cpu/ldlat=30,mem-loads/P", 0, 1, "cpu/ldlat=30,mem-loads/P", 4, 0x1cd, 30, EVENT_TASK },
	{ machine_skylake, "cpu/event=0xb7,umask=1,offcore_rsp=0x3f801c0001/", 0, 1,
	  "cpu/event=0xb7,umask=1,offcore_rsp=0x3f801c0001/", 4, 0x1b7, 0x3f801c0001, EVENT_TASK },
	{ machine_skylake, "cpu/r1c2,name=mine/", 0, 1, "mine", 4, 0x1c2, 0, EVENT_TASK },
	{ machine_skylake, "cpu/config=0x3c,config1=7/", 0, 1, "cpu/config=0x3c,config1=7/", 4, 0x3c, 7, EVENT_TASK },
	{ machine_skylake, "power/energy-pkg/", 0, 1, "power/energy-pkg/", 21, 2, 0, EVENT_SYSTEM },
	{ machine_skylake, "uncore_imc/data_reads/", 1, 2, "uncore_imc_1/data_reads/", 25, 1, 0, EVENT_SYSTEM },
	{ machine_skylake, "imc/data_reads/", 0, 2, "uncore_imc_0/data_reads/", 24, 1, 0, EVENT_SYSTEM },
	{ machine_skylake, "uncore_imc_?/data_reads/", 0, 2, "uncore_imc_0/data_reads/", 24, 1, 0, EVENT_SYSTEM },
	{ machine_skylake, "uncore_imc_1/data_reads/", 0, 1, "uncore_imc_1/data_reads/", 25, 1, 0, EVENT_SYSTEM },
	{ machine_skylake, "data_reads", 1, 2, "uncore_imc_1/data_reads/", 25, 1, 0, EVENT_SYSTEM },
	{ machine_hybrid, "cycles", 0, 2, "cpu_atom/cycles/", 0, 10ULL << 32, 0, EVENT_CORES },
	{ machine_hybrid, "cycles:u", 1, 2, "cpu_core/cycles/u", 0, 4ULL << 32, 0, EVENT_CORES },
	{ machine_hybrid, "LLC-load-misses", 1, 2, "cpu_core/LLC-load-misses/", 3,
	  4ULL << 32 | 0x10002, 0, EVENT_CORES },
	{ machine_hybrid, "cpu_atom/instructions/", 0, 1, "cpu_atom/instructions/", 10, 0xc0, 0, EVENT_CORES },
	{ machine_hybrid, "cpu_atom/ref-cycles/", 0, 1, "cpu_atom/ref-cycles/", 0, 10ULL << 32 | 9, 0, EVENT_CORES },
	{ machine_hybrid, "r1c2", 0, 2, "cpu_atom/r1c2/", 10, 0x1c2, 0, EVENT_CORES },
	{ machine_hybrid, "raw:r1c2:k", 1, 2, "cpu_core/r1c2/k", 4, 0x1c2, 0, EVENT_CORES },
	{ machine_hybrid, "slots", 0, 1, "slots", 4, 0x400, 0, EVENT_CORES },
	{ machine_hybrid, "mem-loads", 1, 2, "cpu_core/mem-loads/", 4, 0x1cd, 3, EVENT_CORES },
	{ machine_hybrid, "task-clock", 0, 1, "task-clock", 1, 1, 0, EVENT_TASK },
	{ machine_hybrid, "cycles/name=c/", 1, 2, "cpu_core/c/", 0, 4ULL << 32, 0, EVENT_CORES },
	{ machine_zen4, "cpu/event=0x1d0/", 0, 1, "cpu/event=0x1d0/", 4, 0x1000000d0, 0, EVENT_TASK },
	{ machine_zen4, "cpu/event=0xfff,umask=0xff,cmask=0xff/", 0, 1, "cpu/event=0xfff,umask=0xff,cmask=0xff/", 4,
	  0xfff00ffff, 0, EVENT_TASK },
	{ machine_zen4, "cpu/cache-misses/", 0, 1, "cpu/cache-misses/", 4, 0x964, 0, EVENT_TASK },
	{ machine_zen4, "amd_df/event=0x3f1f,umask=0xffe/", 0, 1, "amd_df/event=0x3f1f,umask=0xffe/", 12,
	  0x3f0f00fe1f, 0, EVENT_SYSTEM },
	{ machine_zen4, "ibs_op/cnt_ctl=1,l3missonly/", 0, 1, "ibs_op/cnt_ctl=1,l3missonly/", 11,
	  0x90000, 0, EVENT_TASK },
	{ machine_zen5, "cpu/event=0x1d0,umask=0x7/k", 0, 1, "cpu/event=0x1d0,umask=0x7/k", 4,
	  0x1000007d0, 0, EVENT_TASK },
	{ machine_zen5, "branch-misses", 0, 1, "branch-misses", 0, 5, 0, EVENT_TASK },
	{ machine_arm, "cycles", 0, 2, "armv8_cortex_a53/cycles/", 8, 0x11, 0, EVENT_CORES },
	{ machine_arm, "cycles:u", 1, 2, "armv8_cortex_a72/cycles/u", 9, 0x11, 0, EVENT_CORES },
	{ machine_arm, "inst_retired", 1, 2, "armv8_cortex_a72/inst_retired/", 9, 8, 0, EVENT_CORES },
	{ machine_arm, "bus-cycles", 0, 2, "armv8_cortex_a53/bus-cycles/", 0, 8ULL << 32 | 6, 0, EVENT_CORES },
	{ machine_arm, "bus-cycles", 1, 2, "armv8_cortex_a72/bus-cycles/", 9, 0x1d, 0, EVENT_CORES },
	{ machine_arm, "armv8_cortex_a53/event=0x4005,long,rdpmc/", 0, 1,
	  "armv8_cortex_a53/event=0x4005,long,rdpmc/", 8,
	  0x4005, 3, EVENT_CORES },
	{ machine_arm, "r11", 1, 2, "armv8_cortex_a72/r11/", 9, 0x11, 0, EVENT_CORES },
	{ machine_graviton, "cycles", 0, 1, "cycles", 0, 0, 0, EVENT_TASK },
	{ machine_graviton, "armv8_pmuv3_0/inst_retired/", 0, 1, "armv8_pmuv3_0/inst_retired/", 8, 8,
	  0, EVENT_TASK },
	{ machine_plain, "hv_24x7/reads,domain=3/", 0, 1, "hv_24x7/reads,domain=3/", 30, 0x2000000003, 0, EVENT_TASK },
	{ machine_plain, "hv_24x7/phys=0x81/", 0, 1, "hv_24x7/phys=0x81/", 30, 0, 0x8000000000000001, EVENT_TASK },
};

START_TEST(test_rows)
{
	const struct event *event;

	machine(rows[_i].machine);
	event = parse(rows[_i].text);
	ck_assert_uint_eq(list.n, rows[_i].of);
	event += rows[_i].n;
	ck_assert_str_eq(event->name, rows[_i].name);
	ck_assert_uint_eq(event->attr.type, rows[_i].type);
	ck_assert_msg(event->attr.config == rows[_i].config, "%s: %#llx", event->name,
		(unsigned long long)event->attr.config);
	ck_assert_uint_eq(event->attr.config1, rows[_i].config1);
	ck_assert_int_eq(event->scope, rows[_i].scope);
	ck_assert_ptr_null(event->obstacle);
}
END_TEST

/* Slots and their shares by their codes, where the PMU has slots; AMD has other events under that number. */
START_TEST(test_topdown)
{
	machine(machine_hybrid);
	ck_assert_int_eq(parse("slots:u")->topdown, EVENT_SLOTS);
	ck_assert_int_eq(parse("topdown-be-bound")->topdown, EVENT_TOPDOWN);
	ck_assert_int_eq(parse("cpu_core/event=0,umask=0x80/")->topdown, EVENT_TOPDOWN);
	ck_assert_int_eq(parse("cpu_core/event=0,umask=0x90/")->topdown, EVENT_NO_TOPDOWN);
	ck_assert_int_eq(parse("cpu_core/cycles/")->topdown, EVENT_NO_TOPDOWN);
	ck_assert_int_eq(parse("cpu_atom/event=0,umask=0x80/")->topdown, EVENT_NO_TOPDOWN);
	teardown();
	machine(machine_zen4);
	ck_assert_int_eq(parse("cpu/event=0,umask=0x80/")->topdown, EVENT_NO_TOPDOWN);
}
END_TEST

START_TEST(test_details)
{
	const struct event *event;

	machine(machine_hybrid);
	event = parse("cycles");
	ck_assert_str_eq(event[0].cpus, "16-23");
	ck_assert_str_eq(event[1].pmu, "cpu_core");
	ck_assert_uint_eq(event[0].item, event[1].item);
	ck_assert(event[0].hardware);
	teardown();
	machine(machine_skylake);
	event = parse("power/energy-pkg/,uncore_imc_0/data_reads/,cpu/acr_mask=0x10/");
	ck_assert_str_eq(event[0].unit, "Joules");
	ck_assert_double_eq_tol(event[0].scale, 2.3283064365386963e-10, 1e-24);
	ck_assert_str_eq(event[1].unit, "MiB");
	ck_assert_double_eq(event[1].scale, 6.103515625e-5);
	ck_assert(!event[0].hardware);
	ck_assert_uint_eq(event[2].attr.config2, 0x10);
	teardown();
	machine(machine_plain);
	event = parse("hv_24x7/fourth=5/,hv_24x7/config3=9/");
	ck_assert_uint_eq(event[0].config3, 0x50);
	ck_assert_uint_eq(event[1].config3, 9);
}
END_TEST

/* 12 and 14 bits in two ranges: not one more. */
START_TEST(test_too_large)
{
	machine(machine_zen4);
	ck_assert_int_eq(names_parse(&names, "cpu/event=0x1000/", &list), -1);
	ck_assert_int_eq(names_parse(&names, "amd_df/umask=0x1000/", &list), -1);
	ck_assert_int_eq(names_parse(&names, "cpu/inv=2/", &list), -1);
	ck_assert_uint_eq(parse("amd_df/event=0x3fff/")->attr.config, 0x3f000000ff);
}
END_TEST

/* A list may be for several machines; a PMU that this one lacks has no value, and says so. */
START_TEST(test_absent)
{
	machine(machine_plain);
	ck_assert_str_eq(parse("cpu_core/event=1/,cs")->obstacle, "this machine has no PMU cpu_core");
	ck_assert_uint_eq(list.n, 2);
	ck_assert_str_eq(list.event->name, "cpu_core/event=1/");
	ck_assert_ptr_null(list.event[1].obstacle);
}
END_TEST

/* To be tried: without a message, and nothing is excluded. */
START_TEST(test_encode)
{
	struct perf_event_attr attr;
	char wrong[128] = "";

	machine(machine_skylake);
	ck_assert_int_eq(names_encode(&names, "cpu/mem-loads/", &attr, wrong, sizeof(wrong)), 0);
	ck_assert_uint_eq(attr.type, 4);
	ck_assert_uint_eq(attr.config, 0x1cd);
	ck_assert_uint_eq(attr.config1, 3);
	ck_assert_uint_eq(attr.exclude_guest, 0);
	ck_assert_uint_eq(attr.size, sizeof(attr));
	ck_assert_str_eq(wrong, "");
	ck_assert_int_eq(names_encode(&names, "cpu/nothing=1/", &attr, wrong, sizeof(wrong)), -1);
	ck_assert_str_eq(wrong, "cpu has no term 'nothing'");
	ck_assert_int_eq(names_encode(&names, "cpu_core/event=1/", &attr, wrong, sizeof(wrong)), -1);
	ck_assert_str_eq(wrong, "this machine has no PMU cpu_core");
	ck_assert_str_eq(names_find_pmu(&names, "power")->name, "power");
	ck_assert_ptr_null(names_find_pmu(&names, "uncore_imc"));
	ck_assert_int_eq(names.folder_error, 0);
	ck_assert_int_eq(names.type_error, 0);
}
END_TEST

/* A machine without sysfs. */
START_TEST(test_bare)
{
	machine(machine_plain);
	strcat(root, "/nowhere");
	ck_assert_ptr_null(names_find_pmu(&names, "cpu"));
	ck_assert_int_eq(names.folder_error, ENOENT);
}
END_TEST

static int count_pmu(void *data, const struct names_pmu *pmu)
{
	strcat(data, pmu->name);
	strcat(data, pmu->kind == NAMES_PMU_CORE ? "+ " : pmu->kind == NAMES_PMU_SYSTEM ? "- " : " ");
	return 0;
}

static int count_alias(void *data, const struct names_alias *alias)
{
	strcat(data, alias->name);
	strcat(data, alias->unit ? alias->unit : "");
	strcat(data, " ");
	return 0;
}

static int count_format(void *data, const struct names_format *format)
{
	sprintf((char *)data + strlen(data), "%s:%u:%llx ", format->name, format->word,
		(unsigned long long)format->bits);
	return 0;
}

static int stop_at_once(void *data, const struct names_pmu *pmu)
{
	*(struct names_pmu *)data = *pmu;
	return 7;
}

START_TEST(test_enumeration)
{
	struct names_pmu pmu;
	char text[1024] = "";

	machine(machine_skylake);
	ck_assert_int_eq(names_each_pmu(&names, count_pmu, text), 0);
	ck_assert_str_eq(text, "cpu+ power- software uncore_imc_0- uncore_imc_1- ");
	ck_assert_int_eq(names_each_pmu(&names, stop_at_once, &pmu), 7);
	ck_assert_str_eq(pmu.name, "cpu");
	text[0] = '\0';
	ck_assert_int_eq(names_each_alias(&names, &pmu, count_alias, text), 0);
	ck_assert_str_eq(text, "branch-misses cache-misses cpu-cycles instructions mem-loads ");
	snprintf(pmu.name, sizeof(pmu.name), "power");
	text[0] = '\0';
	ck_assert_int_eq(names_each_alias(&names, &pmu, count_alias, text), 0);
	ck_assert_str_eq(text, "energy-pkgJoules ");
	teardown();
	machine(machine_plain);
	snprintf(pmu.name, sizeof(pmu.name), "hv_24x7");
	text[0] = '\0';
	ck_assert_int_eq(names_each_format(&names, &pmu, count_format, text), 0);
	ck_assert_str_eq(text, "domain:0:f fourth:3:f0 offset:0:ffffffff00000000 phys:1:f00000000000000f ");
	snprintf(pmu.name, sizeof(pmu.name), "software");
	ck_assert_int_eq(names_each_alias(&names, &pmu, count_alias, text), 0);
}
END_TEST

/* A name of the manual and the terms that its code stands for. */
static const struct {
	const struct fake_file *machine;
	const char *pfm, *sysfs;
} same[] = {
	{ machine_zen4, "RETIRED_INSTRUCTIONS", "cpu/instructions/" },
	{ machine_zen4, "RETIRED_INSTRUCTIONS:u", "cpu/event=0xc0/" },
	{ machine_zen4, "amd64_fam19h_zen4::CYCLES_NOT_IN_HALT", "cpu/cpu-cycles/" },
	{ machine_zen4, "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", "cpu/branch-misses/" },
	{ machine_zen4, "RETIRED_FUSED_INSTRUCTIONS", "cpu/event=0x1d0/" },
	{ machine_zen4, "RETIRED_INSTRUCTIONS:c=2:i:e", "cpu/event=0xc0,cmask=2,inv,edge/" },
	{ machine_skylake, "skl::INST_RETIRED:ANY_P", "cpu/instructions/" },
	{ machine_skylake, "skl::INST_RETIRED:ANY_P:c=1:i", "cpu/event=0xc0,cmask=1,inv/" },
	{ machine_skylake, "skl::LONGEST_LAT_CACHE:MISS", "cpu/cache-misses/" },
	{ machine_skylake, "skl::OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_HIT",
	  "cpu/event=0xb7,umask=1,offcore_rsp=0x3f801c0001/" },
	{ machine_skylake, "perf::CYCLES", "cycles" },
	{ machine_skylake, "perf::PAGE-FAULTS", "faults" },
};

START_TEST(test_pfm)
{
	struct perf_event_attr attr;
	const struct event *event;

	machine(same[_i].machine);
	event = parse(same[_i].pfm);
	ck_assert_uint_eq(list.n, 1);
	ck_assert_str_eq(event->name, same[_i].pfm);
	attr = event->attr;
	ck_assert_int_eq(attr.exclude_kernel, strstr(same[_i].pfm, ":u") != NULL);
	event = parse(same[_i].sysfs);
	ck_assert_uint_eq(attr.type, event->attr.type);
	ck_assert_msg(attr.config == event->attr.config, "%#llx, %#llx", (unsigned long long)attr.config,
		(unsigned long long)event->attr.config);
	ck_assert_uint_eq(attr.config1, event->attr.config1);
	ck_assert_uint_eq(attr.size, sizeof(attr));
	ck_assert_uint_eq(attr.read_format, 0);
}
END_TEST

/* perf's modifiers behind a name of libpfm, and an environment that is as it was. */
START_TEST(test_pfm_modifiers)
{
	const struct event *event;

	setenv("LIBPFM_ENCODE_INACTIVE", "0", 1);
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	machine(machine_zen4);
	event = parse("{RETIRED_INSTRUCTIONS:ukpp,cycles}:D");
	ck_assert_uint_eq(event->attr.precise_ip, 2);
	ck_assert_uint_eq(event->attr.pinned, 1);
	ck_assert_uint_eq(event->attr.config, 0xc0);
	ck_assert_str_eq(getenv("LIBPFM_ENCODE_INACTIVE"), "0");
	ck_assert_str_eq(getenv("LIBPFM_FORCE_PMU"), "skl");
}
END_TEST

START_TEST(test_pfm_refused)
{
	machine(machine_zen4);
	ck_assert_int_eq(names_parse(&names, "zen9::X", &list), -1);
	ck_assert_int_eq(names_parse(&names, "amd64_fam19h_zen4::NO_SUCH", &list), -1);
	ck_assert_int_eq(names_parse(&names, "RETIRED_INSTRUCTIONZ", &list), -1);
	ck_assert_int_eq(names_parse(&names, "amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:nothing", &list), -1);
	ck_assert_uint_eq(list.n, 0);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("names_sysfs");

	tcase_add_unchecked_fixture(tests, make_machines, fake_remove);
	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_add_loop_test(tests, test_rows, 0, ARRAY_SIZE(rows));
	tcase_add_test(tests, test_topdown);
	tcase_add_test(tests, test_details);
	tcase_add_test(tests, test_too_large);
	tcase_add_test(tests, test_absent);
	tcase_add_test(tests, test_encode);
	tcase_add_test(tests, test_bare);
	tcase_add_test(tests, test_enumeration);
	if (names_have_pfm()) {
		tcase_add_loop_test(tests, test_pfm, 0, ARRAY_SIZE(same));
		tcase_add_test(tests, test_pfm_modifiers);
	}
	tcase_add_test(tests, test_pfm_refused);
	return suite_run("names_sysfs", tests);
}
