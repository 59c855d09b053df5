/* SPDX-License-Identifier: MIT */
/*
 * cli/caps: each way in which a machine can refuse has a reason and a remedy of its own. Seccomp
 * filters are real ones; what can't be set up here, such as perf_event_paranoid 3, comes from
 * files below another root. Probes run in a process of their own, this program with --probe.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caps_root.h"
#include "cli/caps/caps.h"
#include "common/base.h"

/* Makes perf_event_open fail with err from here on. */
static int filter_perf(int err)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = ARRAY_SIZE(code), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

/* What "--probe NAME" does. */
static int probe_main(const char *name)
{
	static struct caps_context context;
	const struct capability *row = caps_find(name);
	struct outcome outcome;

	caps_init(&context, "");
	outcome = row->probe(&context);
	return write(STDOUT_FILENO, &outcome, sizeof(outcome)) != (ssize_t)sizeof(outcome);
}

/* The outcome of a probe in a new process: without rseq, and with a filter unless err is 0. */
static struct outcome probe(const char *name, int err, bool no_rseq)
{
	struct outcome outcome;
	int end[2], status;
	pid_t child;

	ck_assert_int_eq(pipe(end), 0);
	child = fork();
	if (!child) {
		dup2(end[1], STDOUT_FILENO);
		if (no_rseq)
			setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
		if (err && filter_perf(err))
			_exit(77);
		execl("/proc/self/exe", "test_caps", "--probe", name, NULL);
		_exit(78);
	}
	close(end[1]);
	ck_assert_int_eq(read(end[0], &outcome, sizeof(outcome)), (ssize_t)sizeof(outcome));
	close(end[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	return outcome;
}

START_TEST(test_rows)
{
	const struct capability *row;
	struct outcome outcome;
	size_t i, n;

	row = caps_table(&n);
	ck_assert_uint_ge(n, 21);
	for (i = 0; i < n; i++) {
		ck_assert_ptr_eq(caps_find(row[i].name), &row[i]);
		outcome = probe(row[i].name, 0, false);
		ck_assert_int_ne(outcome.because[0], '\0');
		ck_assert_ptr_null(strchr(outcome.because, '\n'));
		ck_assert_ptr_null(strchr(outcome.remedy, '\n'));
	}
	ck_assert_ptr_null(caps_find("no-such"));
}
END_TEST

/* Several at once find what each finds alone, and no others are touched. */
START_TEST(test_together)
{
	static struct caps_context context;
	struct outcome outcomes[CAPS_MOST];
	bool wanted[CAPS_MOST] = { false };
	const struct capability *row;
	size_t i, n;

	row = caps_table(&n);
	memset(outcomes, 0, sizeof(outcomes));
	caps_init(&context, "");
	for (i = 0; i < n; i++)
		wanted[i] = !strcmp(row[i].name, "clock") || !strcmp(row[i].name, "psi");
	caps_probe(&context, wanted, outcomes);
	for (i = 0; i < n; i++)
		if (wanted[i])
			ck_assert_str_eq(outcomes[i].because, row[i].probe(&context).because);
		else
			ck_assert_int_eq(outcomes[i].because[0], '\0');
}
END_TEST

/* What a read costs is known where an event may be opened, and without a system call where that works. */
START_TEST(test_read_costs)
{
	struct outcome refused = probe("self-monitoring", EPERM, false), counting = probe("counting", 0, false);
	struct outcome outcome = probe("self-monitoring", 0, false);

	ck_assert(!(refused.call_ns > 0) && !(refused.user_ns > 0));
	ck_assert_int_eq(outcome.call_ns > 0, counting.available != CAPS_NO);
	ck_assert_int_eq(outcome.user_ns > 0, outcome.available == CAPS_YES);
	if (outcome.available == CAPS_YES)
		assert_contains(outcome.because, "by read(2)");
	else
		ck_assert_ptr_null(strstr(outcome.because, "read(2)"));
}
END_TEST

START_TEST(test_filter)
{
	static const int errors[] = { EPERM, ENOSYS };
	const char *name = _i < 2 ? "counting" : "counting-hardware";
	struct outcome outcome = probe(name, errors[_i % 2], false);

	ck_assert_int_eq(outcome.available, CAPS_NO);
	assert_contains(outcome.because, "seccomp filter");
	assert_contains(outcome.because, advice_errno_name(errors[_i % 2]));
	assert_contains(outcome.remedy, "run outside this");
	ck_assert_ptr_null(strstr(outcome.remedy, "sysctl"));
}
END_TEST

/* Five ways of saying that there is no PMU. */
START_TEST(test_no_pmu)
{
	static const int errors[] = { ENOENT, ENODEV, ENXIO, EOPNOTSUPP, EINVAL };
	struct outcome outcome = probe("counting-hardware", errors[_i], false);

	ck_assert_int_eq(outcome.available, CAPS_NO);
	assert_contains(outcome.because, "no PMU");
	assert_contains(outcome.because, advice_errno_name(errors[_i]));
}
END_TEST

START_TEST(test_limit)
{
	struct outcome outcome = probe("counting", EMFILE, false);

	ck_assert_int_eq(outcome.available, CAPS_NO);
	assert_contains(outcome.because, "EMFILE");
	assert_contains(outcome.remedy, "ulimit -n");
}
END_TEST

/* Without rseq the page must serve, and without both the reason is the page's. */
START_TEST(test_switch_detector)
{
	struct outcome with = probe("switch-detector", 0, true);
	struct outcome without = probe("switch-detector", EPERM, true);

	assert_contains(with.because, "rseq is not registered");
	ck_assert_int_ne(with.available, CAPS_YES);
	if (with.available == CAPS_PARTLY)
		assert_contains(with.because, "perf page, proven (3 switches, 3 seen)");
	ck_assert_int_eq(without.available, CAPS_NO);
	assert_contains(without.because, "seccomp filter");
	assert_contains(without.remedy, "run outside this");
}
END_TEST

static struct outcome advice(int err, bool kernel_side)
{
	static struct caps_context context;

	caps_init(&context, root);
	return advice_perf(&context, err, kernel_side);
}

START_TEST(test_paranoid)
{
	struct outcome outcome = advice(EACCES, false);

	assert_contains(outcome.because, "perf_event_paranoid is 3");
	ck_assert_str_eq(outcome.remedy, "sudo sysctl kernel.perf_event_paranoid=2");
	put_file("/proc/sys/kernel/perf_event_paranoid", "2\n");
	outcome = advice(EACCES, true);
	assert_contains(outcome.because, "perf_event_paranoid is 2");
	ck_assert_str_eq(outcome.remedy, "sudo sysctl kernel.perf_event_paranoid=1");
	/* At level 2 the user side is free, so something else says no. */
	assert_contains(advice(EACCES, false).because, "security module");
}
END_TEST

/* The same errno, three causes. */
START_TEST(test_causes)
{
	put_status("0000000000000000", "2");
	assert_contains(advice(EPERM, false).because, "seccomp filter");
	assert_contains(advice(EACCES, false).because, "perf_event_paranoid is 3");
	put_status("0000004000000000", "0");
	assert_contains(advice(EPERM, false).because, "security module");
	/* Capabilities in a user namespace of one's own don't count. */
	put_file("/proc/self/uid_map", "         0       1000          1\n");
	assert_contains(advice(EPERM, false).because, "perf_event_paranoid is 3");
}
END_TEST

START_TEST(test_missing_call)
{
	char path[256];

	assert_contains(advice(ENOSYS, false).because, "emulator or sandbox");
	put_status("0000000000000000", "2");
	assert_contains(advice(ENOSYS, false).because, "seccomp filter");
	put_status("0000000000000000", "0");
	snprintf(path, sizeof(path), "%s/proc/sys/kernel/perf_event_paranoid", root);
	unlink(path);
	assert_contains(advice(ENOSYS, false).because, "built without");
}
END_TEST

START_TEST(test_container)
{
	put_status("0000000000000000", "2");
	put_file("/.dockerenv", "");
	assert_contains(advice(EPERM, false).remedy, "--security-opt seccomp=unconfined");
}
END_TEST

START_TEST(test_errno_names)
{
	ck_assert_str_eq(advice_errno_name(EPERM), "EPERM");
	ck_assert_str_eq(advice_errno_name(517), "errno 517");
	assert_contains(advice(E2BIG, false).because, "older");
	assert_contains(advice(EBUSY, false).because, "somebody else holds the counters");
	assert_contains(advice(ENFILE, false).because, "ENFILE");
	assert_contains(advice(EFAULT, false).because, "EFAULT");
}
END_TEST

START_TEST(test_watchdog)
{
	static struct caps_context context;

	put_file("/proc/sys/kernel/nmi_watchdog", "0\n");
	caps_init(&context, root);
	ck_assert(!facts_watchdog(&context));
	put_file("/proc/sys/kernel/nmi_watchdog", "1\n");
	ck_assert(facts_watchdog(&context));
	assert_contains(advice(EBUSY, false).because, "EBUSY, the NMI watchdog holds a counter");
	assert_contains(advice(EBUSY, false).remedy, "sudo sysctl kernel.nmi_watchdog=0");
}
END_TEST

START_TEST(test_clock)
{
	static struct caps_context context;
	char why[128];

	caps_init(&context, root);
	ck_assert(!context.virtual_machine);
	if (!caps_clock_tsc_usable(&context, why, sizeof(why)))
		return;
	/* Only an x86 looks at the files at all. */
	put_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
	if (caps_clock_tsc_usable(&context, why, sizeof(why)))
		return;
	assert_contains(why, "hpet");
	assert_contains(caps_find("clock")->probe(&context).because, "system call");
	put_file("/proc/cpuinfo", "flags\t\t: constant_tsc hypervisor\n");
	caps_init(&context, root);
	ck_assert(context.virtual_machine);
	ck_assert(!caps_clock_tsc_usable(&context, why, sizeof(why)));
	assert_contains(why, "nonstop_tsc");
}
END_TEST

static int find_libc(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (!strstr(info->dlpi_name, "/libc.so") && !strstr(info->dlpi_name, "/libc-"))
		return 0;
	snprintf(path, PATH_MAX, "%s", info->dlpi_name);
	return 1;
}

static struct outcome preload(struct caps_context *context, const char *agent)
{
	snprintf(context->agent, sizeof(context->agent), "%s", agent);
	return caps_find("preload")->probe(context);
}

/* Any shared library of this machine will do for the file. */
START_TEST(test_preload)
{
	static struct caps_context context;
	char path[PATH_MAX], link[PATH_MAX], folder[PATH_MAX], head[64];
	struct outcome outcome;
	FILE *file;

	caps_init(&context, root);
	outcome = preload(&context, "");
	ck_assert_int_eq(outcome.available, CAPS_NO);
	ck_assert_int_eq(dl_iterate_phdr(find_libc, path), 1);
	snprintf(link, sizeof(link), "%s/library", root);
	ck_assert_int_eq(symlink(path, link), 0);
	outcome = preload(&context, link);
	ck_assert_int_eq(outcome.available, CAPS_PARTLY);
	assert_contains(outcome.because, "not-libasan.so");
	snprintf(folder, sizeof(folder), "%s/not-libasan.so", root);
	ck_assert_int_eq(mkdir(folder, 0755), 0);
	outcome = preload(&context, link);
	ck_assert_msg(outcome.available == CAPS_YES, "%s", outcome.because);
	rmdir(folder);
	unlink(link);
	file = fopen(path, "r");
	ck_assert_uint_eq(fread(head, 1, sizeof(head), file), sizeof(head));
	fclose(file);
	put_file("/agent", "no ELF");
	snprintf(path, sizeof(path), "%s/agent", root);
	assert_contains(preload(&context, path).because, "no shared library");
	head[18] ^= 0x55;
	file = fopen(path, "w");
	fwrite(head, 1, sizeof(head), file);
	fclose(file);
	assert_contains(preload(&context, path).because, "another machine");
	unlink(path);
	assert_contains(preload(&context, path).because, "ENOENT");
}
END_TEST

int main(int argc, char **argv)
{
	TCase *probes, *faked;
	SRunner *runner;
	Suite *suite;
	int failed;

	if (argc == 3 && !strcmp(argv[1], "--probe"))
		return probe_main(argv[2]);
	suite = suite_create("caps");
	probes = tcase_create("probes");
	faked = tcase_create("faked");
	tcase_add_test(probes, test_rows);
	tcase_add_test(probes, test_together);
	tcase_add_test(probes, test_read_costs);
	tcase_add_loop_test(probes, test_filter, 0, 4);
	tcase_add_loop_test(probes, test_no_pmu, 0, 5);
	tcase_add_test(probes, test_limit);
	tcase_add_test(probes, test_switch_detector);
	tcase_add_checked_fixture(faked, root_setup, root_teardown);
	tcase_add_test(faked, test_paranoid);
	tcase_add_test(faked, test_causes);
	tcase_add_test(faked, test_missing_call);
	tcase_add_test(faked, test_container);
	tcase_add_test(faked, test_errno_names);
	tcase_add_test(faked, test_watchdog);
	tcase_add_test(faked, test_clock);
	tcase_add_test(faked, test_preload);
	tcase_set_timeout(probes, 30);
	suite_add_tcase(suite, probes);
	suite_add_tcase(suite, faked);
	runner = srunner_create(suite);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
