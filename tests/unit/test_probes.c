/* SPDX-License-Identifier: MIT */
/*
 * The probes of cli/caps on machines that this one is not: what they say about mounts, settings and
 * PMUs comes from files below another root; what they open is real.
 */
#include <check.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "caps_root.h"
#include "cli/caps/caps.h"
#include "cli/caps/events.h"
#include "cli/caps/try.h"
#include "cli/symbols/demangle.h"
#include "cli/symbols/resolve.h"
#include "suite.h"

static struct caps_context context;

static struct outcome probe(const char *name)
{
	caps_init(&context, root);
	return caps_find(name)->probe(&context);
}

static void assert_outcome(struct outcome outcome, enum caps_available available,
	const char *because, const char *remedy)
{
	ck_assert_msg(outcome.available == available, "%s: %s",
		caps_available_name(outcome.available), outcome.because);
	assert_contains(outcome.because, because);
	assert_contains(outcome.remedy, remedy);
	ck_assert(remedy[0] || !outcome.remedy[0]);
}

/* /boot/config of the running kernel. */
static void put_config(const char *text)
{
	struct utsname name;
	char path[256];

	ck_assert_int_eq(uname(&name), 0);
	snprintf(path, sizeof(path), "/boot/config-%s", name.release);
	put_file(path, text);
}

static void put_mount(const char *place, const char *type)
{
	char line[256];

	snprintf(line, sizeof(line), "36 25 0:32 / %s rw,relatime shared:1 - %s none rw\n", place,
		type);
	put_file("/proc/self/mountinfo", line);
}

START_TEST(test_pressure)
{
	static const char good[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=17\n";

	assert_outcome(probe("psi"), CAPS_NO, "or not built in", "boot with psi=1");
	put_config("CONFIG_PSI_DEFAULT_DISABLED=y\nCONFIG_PSI=y\n");
	assert_outcome(probe("psi"), CAPS_NO, "built in, but off", "boot with psi=1");
	put_config("# CONFIG_PSI is not set\n");
	assert_outcome(probe("psi"), CAPS_NO, "without CONFIG_PSI", "CONFIG_PSI=y");
	put_file("/proc/pressure/cpu", good);
	put_file("/proc/pressure/memory", good);
	put_file("/proc/pressure/io", "full avg10=0.00 total=17\n");
	assert_outcome(probe("psi"), CAPS_NO, "/proc/pressure/io has no line", "");
	put_file("/proc/pressure/io", good);
	assert_outcome(probe("psi"), CAPS_YES, "totals", "");
	assert_outcome(advice_pressure(&context, EOPNOTSUPP, "cpu"), CAPS_NO, "EOPNOTSUPP",
		"boot with psi=1");
}
END_TEST

START_TEST(test_delay)
{
	assert_outcome(probe("io-delay"), CAPS_NO, "not built in (CONFIG_TASK_DELAY_ACCT), or before", "");
	put_config("CONFIG_TASK_DELAY_ACCT=y\n");
	assert_outcome(probe("io-delay"), CAPS_NO, "nobody can tell", "5.14");
	put_file("/proc/version", "Linux version 5.13.19 (gcc)\n");
	assert_outcome(probe("io-delay"), CAPS_NO, "nobody can tell", "5.14");
	put_file("/proc/version", "Linux version 6.18.5 (gcc)\n");
	assert_outcome(probe("io-delay"), CAPS_NO, "/proc/sys is not to be seen here", "");
	put_config("# CONFIG_TASK_DELAY_ACCT is not set\n");
	assert_outcome(probe("io-delay"), CAPS_NO, "built without", "CONFIG_TASK_DELAY_ACCT=y");
	put_file("/proc/sys/kernel/task_delayacct", "0\n");
	assert_outcome(probe("io-delay"), CAPS_NO, "task_delayacct is 0", "sudo sysctl kernel.task_delayacct=1");
	put_file("/proc/sys/kernel/task_delayacct", "1\n");
	assert_outcome(probe("io-delay"), CAPS_YES, "started since", "");
}
END_TEST

START_TEST(test_symbols)
{
	static const char shown[] = "0000000000000000 A fixed\nffffffff81000000 T _text\n";
	enum caps_available most = resolve_lacks_lines() || !demangle_available() ? CAPS_PARTLY : CAPS_YES;

	assert_outcome(probe("symbols"), CAPS_PARTLY, "/proc/kallsyms: ENOENT", most == CAPS_YES ? "" : "install");
	put_file("/proc/kallsyms", "0000000000000000 A fixed\n0000000000000000 T _text\n");
	assert_outcome(probe("symbols"), CAPS_PARTLY, "of the kernel are hidden",
		most == CAPS_YES ? "kptr_restrict=0" : "install");
	put_file("/proc/kallsyms", shown);
	assert_outcome(probe("symbols"), most, "those of the kernel, too", most == CAPS_YES ? "" : "install");
}
END_TEST

START_TEST(test_cgroup)
{
	char path[256];

	put_file("/proc/self/mountinfo", "");
	assert_outcome(probe("cgroup"), CAPS_NO, "no cgroup is mounted", "mount -t cgroup2");
	put_mount("/sys/fs/cgroup/cpu", "cgroup");
	assert_outcome(probe("cgroup"), CAPS_NO, "version 1 alone", "unified_cgroup_hierarchy=1");
	put_mount("/a\\040b", "cgroup2");
	put_file("/proc/self/cgroup", "1:name=systemd:/other\n0::/user/me\n");
	put_file("/a b/user/me/cgroup.controllers", "cpuset cpu io memory pids\n");
	assert_outcome(probe("cgroup"), CAPS_YES, "/a b/user/me", "");
	snprintf(path, sizeof(path), "%s/a b/user/me/spark-probe-%d", root, (int)getpid());
	ck_assert_int_ne(access(path, F_OK), 0);
	put_file("/a b/user/me/cgroup.controllers", "cpuset io\n");
	assert_outcome(probe("cgroup"), CAPS_PARTLY, "without the controllers cpu memory", "");
	/* In a container the path may be that of the host. */
	put_file("/proc/self/cgroup", "0::/docker/0123\n");
	put_file("/a b/cgroup.controllers", "cpu io memory\n");
	assert_outcome(probe("cgroup"), CAPS_YES, "in /a b;", "");
	assert_outcome(advice_cgroup(&context, EACCES, "/g"), CAPS_NO, "may not make a group in /g", "");
	put_file("/run/systemd/system/made", "");
	assert_outcome(advice_cgroup(&context, EACCES, "/g"), CAPS_NO, "may not make a group in /g",
		"systemd-run --user --scope -p Delegate=yes");
	assert_outcome(advice_cgroup(&context, EROFS, "/g"), CAPS_NO, "read-only", "writable");
}
END_TEST

START_TEST(test_tracing)
{
	put_file("/proc/self/mountinfo", "");
	assert_outcome(probe("event-tracing"), CAPS_NO, "not mounted",
		"sudo mount -t tracefs tracefs /sys/kernel/tracing");
	put_config("CONFIG_PSI=y\n");
	assert_outcome(probe("event-tracing"), CAPS_NO, "built without tracing", "CONFIG_FTRACE=y");
	put_mount("/t", "tracefs");
	assert_outcome(probe("event-tracing"), CAPS_NO, "/t has no tracepoint sched/sched_switch",
		"");
	put_file("/t/events/sched/sched_switch/id", "none\n");
	assert_outcome(probe("event-tracing"), CAPS_NO, "holds no number", "");
	put_mount("/d", "debugfs");
	put_file("/d/tracing/events/sched/sched_switch/id", "x\n");
	assert_outcome(probe("event-tracing"), CAPS_NO, "/d/tracing/events/sched", "");
	assert_outcome(advice_tracefs(&context, EACCES, "/t", "a/b"), CAPS_NO, "closed to uid",
		"sudo sparkctl doctor --save-ids");
}
END_TEST

START_TEST(test_wakers)
{
	char path[128];

	put_file("/proc/self/mountinfo", "");
	assert_outcome(probe("wakers"), CAPS_NO, "not mounted", "sudo mount -t tracefs tracefs /sys/kernel/tracing");
	put_mount("/t", "tracefs");
	assert_outcome(probe("wakers"), CAPS_NO, "/t has no tracepoint sched/sched_waking", "");
	put_file("/t/events/sched/sched_waking/format", "name: sched_waking\n");
	assert_outcome(probe("wakers"), CAPS_NO, "has no number", "");
	put_file("/proc/self/ns/user", "");
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", root);
	ck_assert_int_eq(symlink("pid:[4026532001]", path), 0);
	assert_outcome(probe("wakers"), CAPS_NO, "PID namespace", "");
}
END_TEST

START_TEST(test_block)
{
	put_file("/proc/self/mountinfo", "");
	put_file("/proc/diskstats", "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 0 0 0 0 0 0\n"
		"   8       1 sda1 1 2 3 4 5 6 7 8 9 10 11\n   8 2 sda2 1 2\n");
	assert_outcome(probe("block-io"), CAPS_PARTLY, "times of 2 devices", "mount -t tracefs");
	put_file("/proc/diskstats", "");
	assert_outcome(probe("block-io"), CAPS_NO, "/proc/diskstats: empty", "mount -t tracefs");
}
END_TEST

/* The kernel does not know the number, unless it shuts users out before it looks. */
static void assert_refused(struct outcome outcome, const char *engine)
{
	ck_assert_int_eq(outcome.available, CAPS_NO);
	assert_contains(outcome.because, engine);
	ck_assert_msg(strstr(outcome.because, "is announced, but refused (ENOENT)") ||
		strstr(outcome.because, "(EACCES)"), "%s", outcome.because);
}

/* Which engine is looked at first. */
START_TEST(test_precise)
{
	assert_outcome(probe("precise-memory"), CAPS_NO, "no ibs_op", "");
	put_file(NAMES_PMUS "/arm_spe_0/type", "8\n");
	assert_outcome(probe("precise-memory"), CAPS_NO, "arm_spe is there", "");
	put_file(NAMES_PMUS "/cpu/type", "1000000\n");
	put_file(NAMES_PMUS "/cpu/caps/max_precise", "0\n");
	put_file(NAMES_PMUS "/cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	assert_outcome(probe("precise-memory"), CAPS_NO, "arm_spe is there", "");
	put_file(NAMES_PMUS "/cpu/caps/max_precise", "3\n");
	assert_outcome(probe("precise-memory"), CAPS_NO, "mem-loads (Intel): cpu has no term 'event'", "");
	put_file(NAMES_PMUS "/cpu/format/event", "config:0-7\n");
	put_file(NAMES_PMUS "/cpu/format/umask", "config:8-15\n");
	put_file(NAMES_PMUS "/cpu/format/ldlat", "config1:0-15\n");
	assert_refused(probe("precise-memory"), "mem-loads (Intel)");
	put_file(NAMES_PMUS "/cpu/events/mem-loads-aux", "event=0x03,umask=0x82\n");
	assert_refused(probe("precise-memory"), "mem-loads (Intel)");
	put_file(NAMES_PMUS "/ibs_op/type", "1000000\n");
	put_file(NAMES_PMUS "/ibs_op/format/swfilt", "config2:0\n");
	assert_refused(probe("precise-memory"), "ibs_op (AMD)");
}
END_TEST

START_TEST(test_naming)
{
	assert_outcome(probe("event-naming"), CAPS_PARTLY, "generic names alone", "mount -t sysfs");
	put_file(NAMES_PMUS "/power/type", "12\n");
	put_file(NAMES_PMUS "/power/events/energy-pkg", "event=0x02\n");
	put_file(NAMES_PMUS "/power/events/energy-pkg.unit", "Joules\n");
	put_file(NAMES_PMUS "/power/events/energy-pkg.scale", "2.3e-10\n");
	put_file(NAMES_PMUS "/software/type", "1\n");
	assert_outcome(probe("event-naming"), CAPS_YES, "2 PMUs with 1 named events", "");
}
END_TEST

START_TEST(test_nodes)
{
	struct outcome outcome;

	put_file("/sys/devices/system/node/online", "0-1,4\n");
	outcome = probe("numa-attribution");
	/* A kernel without NUMA has neither call. */
	if (outcome.available == CAPS_YES)
		assert_contains(outcome.because, "3 nodes");
	else
		assert_contains(outcome.because, "get_mempolicy");
}
END_TEST

START_TEST(test_drop_caches)
{
	struct outcome outcome = probe("page-cache-control");

	/* Without a disk there is nothing to try. */
	if (outcome.available == CAPS_NO)
		assert_contains(outcome.because, "in memory");
	else
		assert_outcome(outcome, CAPS_PARTLY, "not drop_caches (ENOENT)",
			"sudo sysctl vm.drop_caches=3");
}
END_TEST

START_TEST(test_ptrace)
{
	static const char start[] = "start the program with sparkctl run";

	caps_init(&context, root);
	assert_outcome(advice_ptrace(&context, EPERM, 1), CAPS_NO, "only what sparkctl started",
		start);
	assert_outcome(advice_ptrace(&context, EPERM, 2), CAPS_NO, "CAP_SYS_PTRACE", start);
	assert_outcome(advice_ptrace(&context, EPERM, 3), CAPS_NO, "until the next boot", start);
	assert_outcome(advice_ptrace(&context, EPERM, -1), CAPS_NO, "security module", start);
	assert_outcome(advice_ptrace(&context, ENOSYS, -1), CAPS_NO, "built without it", "");
	put_status("0000000000000000", "2");
	caps_init(&context, root);
	assert_outcome(advice_ptrace(&context, EPERM, 0), CAPS_NO, "seccomp filter",
		"--cap-add SYS_PTRACE");
	assert_outcome(advice_ptrace(&context, EPERM, 3), CAPS_NO, "ptrace_scope is 3", start);
}
END_TEST

/* Refusals that look alike: a kernel without the call, and filters of two kinds. */
START_TEST(test_call)
{
	caps_init(&context, root);
	assert_outcome(advice_call(&context, ENOSYS, "move_pages"), CAPS_NO, "built without it", "");
	assert_outcome(advice_call(&context, EMFILE, "socket"), CAPS_NO, "EMFILE", "ulimit -n");
	put_status("0000000000000000", "2");
	caps_init(&context, root);
	assert_outcome(advice_call(&context, ENOSYS, "move_pages"), CAPS_NO, "seccomp filter",
		"older than move_pages");
	assert_outcome(advice_call(&context, EPERM, "move_pages"), CAPS_NO, "seccomp filter",
		"--cap-add SYS_NICE");
	put_file("/.dockerenv", "");
	caps_init(&context, root);
	assert_outcome(advice_call(&context, EPERM, "mkdir"), CAPS_NO, "of this container",
		"--security-opt seccomp=unconfined");
}
END_TEST

START_TEST(test_perf)
{
	put_file("/proc/sys/kernel/perf_event_paranoid", "1\n");
	put_file("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	caps_init(&context, root);
	assert_outcome(advice_perf_scope(&context, EACCES, ADVICE_CPU), CAPS_NO,
		"perf_event_paranoid is 1", "perf_event_paranoid=0");
	assert_outcome(advice_perf_scope(&context, EPERM, ADVICE_TRACE), CAPS_NO,
		"perf_event_paranoid is 1", "perf_event_paranoid=-1");
	assert_outcome(advice_perf_privilege(&context, EACCES), CAPS_NO, "no CAP_PERFMON",
		"setcap cap_perfmon,cap_sys_admin=ep");
	context.may_perf = true;
	assert_outcome(advice_perf_privilege(&context, EACCES), CAPS_NO, "nobody without CAP_SYS_ADMIN",
		"setcap cap_perfmon,cap_sys_admin=ep");
	context.may_perf = false;
	assert_outcome(advice_ring(&context, EPERM), CAPS_NO, "perf_event_mlock_kb (516)",
		"sysctl kernel.perf_event_mlock_kb=");
	assert_outcome(advice_ring(&context, ENOMEM), CAPS_NO, "ENOMEM", "");
	assert_outcome(advice_no_pmu(&context, ENOENT), CAPS_NO, "no driver", "dmesg");
	put_file("/proc/cpuinfo", "flags : hypervisor\n");
	caps_init(&context, root);
	assert_outcome(advice_no_pmu(&context, ENOENT), CAPS_NO, "virtual machine", "pmu=on");
}
END_TEST

static const struct event_group *find_group(const struct event_catalog *catalog, const char *name)
{
	size_t i;

	for (i = 0; i < catalog->n; i++)
		if (!strcmp(catalog->groups[i].name, name))
			return &catalog->groups[i];
	ck_abort_msg("no group %s", name);
}

START_TEST(test_events)
{
	const struct event_group *group;
	struct event_catalog catalog;

	put_mount("/t", "tracefs");
	put_file("/t/events/sched/sched_switch/id", "1000000\n");
	put_file("/t/events/sched/sched_waking/id", "1000001\n");
	put_file("/t/events/sched/filter", "\n");
	put_file("/t/events/block/block_rq_issue/id", "1000002\n");
	put_file(NAMES_PMUS "/power/type", "1000000\n");
	put_file(NAMES_PMUS "/power/cpumask", "0\n");
	put_file(NAMES_PMUS "/power/format/event", "config:0-7\n");
	put_file(NAMES_PMUS "/power/events/energy-pkg", "event=0x02\n");
	put_file(NAMES_PMUS "/power/events/energy-pkg.unit", "Joules\n");
	put_file(NAMES_PMUS "/software/type", "1\n");
	caps_init(&context, root);
	ck_assert_int_eq(events_load(&context, false, false, &catalog), 0);
	ck_assert_str_eq(find_group(&catalog, "hardware")->list[0].name, "cycles");
	ck_assert_uint_eq(find_group(&catalog, "libpfm")->n, 0);
	ck_assert(!find_group(&catalog, "libpfm")->listed);
	ck_assert_uint_ge(find_group(&catalog, "cache")->n, 30);
	ck_assert_uint_eq(find_group(&catalog, "software")->n,
		find_group(&catalog, "software")->known);
	group = find_group(&catalog, "power");
	ck_assert_str_eq(group->form, "power/event=N/");
	ck_assert_uint_eq(group->n, 1);
	ck_assert_str_eq(group->list[0].name, "power/energy-pkg/");
	ck_assert_str_eq(group->list[0].detail, "event=0x02");
	ck_assert_int_eq(group->outcome.available, CAPS_NO);
	group = find_group(&catalog, "tracepoint");
	ck_assert_uint_eq(group->n, 0);
	ck_assert_uint_eq(group->known, 3);
	ck_assert(!group->listed);
	ck_assert_int_eq(group->outcome.available, CAPS_NO);
	events_fini(&catalog);
	ck_assert_int_eq(events_load(&context, true, false, &catalog), 0);
	group = find_group(&catalog, "tracepoint");
	ck_assert_uint_eq(group->n, 3);
	ck_assert(group->listed);
	ck_assert_str_eq(group->list[0].name, "block:block_rq_issue");
	events_fini(&catalog);
}
END_TEST

/* Names of the manual, by the CPU that /proc/cpuinfo shows. */
START_TEST(test_events_vendor)
{
	const struct event_group *group;
	struct event_catalog catalog;
	size_t i;

	put_file("/proc/self/mountinfo", "");
	put_file("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 97\n");
	caps_init(&context, root);
	ck_assert_int_eq(events_load(&context, false, true, &catalog), 0);
	group = find_group(&catalog, "libpfm");
	ck_assert_int_eq(group->listed, names_have_pfm());
	ck_assert_uint_eq(group->known, group->n);
	for (i = 0; i < group->n && strcmp(group->list[i].name, "amd64_fam19h_zen4::RETIRED_INSTRUCTIONS"); i++)
		;
	ck_assert(!names_have_pfm() || i < group->n);
	ck_assert(i == group->n || group->list[i].detail[0]);
	events_fini(&catalog);
}
END_TEST

/* A machine without sysfs says so, and still has the generic events. */
START_TEST(test_events_bare)
{
	struct event_catalog catalog;

	put_file("/proc/self/mountinfo", "");
	caps_init(&context, root);
	ck_assert_int_eq(events_load(&context, true, false, &catalog), 0);
	assert_outcome(find_group(&catalog, "sysfs")->outcome, CAPS_NO, NAMES_PMUS, "mount -t sysfs");
	ck_assert(!find_group(&catalog, "sysfs")->listed);
	ck_assert_uint_eq(find_group(&catalog, "tracepoint")->known, 0);
	ck_assert(!find_group(&catalog, "tracepoint")->listed);
	events_fini(&catalog);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("probes");

	tcase_add_checked_fixture(tests, root_setup, root_teardown);
	tcase_add_test(tests, test_pressure);
	tcase_add_test(tests, test_delay);
	tcase_add_test(tests, test_symbols);
	tcase_add_test(tests, test_cgroup);
	tcase_add_test(tests, test_tracing);
	tcase_add_test(tests, test_wakers);
	tcase_add_test(tests, test_block);
	tcase_add_test(tests, test_precise);
	tcase_add_test(tests, test_naming);
	tcase_add_test(tests, test_nodes);
	tcase_add_test(tests, test_drop_caches);
	tcase_add_test(tests, test_ptrace);
	tcase_add_test(tests, test_call);
	tcase_add_test(tests, test_perf);
	tcase_add_test(tests, test_events);
	tcase_add_test(tests, test_events_vendor);
	tcase_add_test(tests, test_events_bare);
	return suite_run("probes", tests);
}
