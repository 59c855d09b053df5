/* SPDX-License-Identifier: MIT */
/*
 * From an errno and the facts to a reason and a remedy. The gates of perf_event_open look alike
 * from outside: a seccomp filter (EPERM or ENOSYS, by its author's taste), perf_event_paranoid
 * (EACCES), a security module (EACCES or EPERM), a kernel without the call (ENOSYS); what tells
 * them apart is in perf_event_open(2), "ERRORS", and in kernel/events/core.c. What files and
 * mounts refuse is in advice_file.c.
 */
#include "cli/caps/caps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "common/base.h"

static const struct { int err; const char *name; } names[] = {
	{ EPERM, "EPERM" }, { ENOENT, "ENOENT" }, { EINTR, "EINTR" }, { EIO, "EIO" },
	{ ENXIO, "ENXIO" }, { E2BIG, "E2BIG" }, { EBADF, "EBADF" }, { EAGAIN, "EAGAIN" },
	{ ENOMEM, "ENOMEM" }, { EACCES, "EACCES" }, { EFAULT, "EFAULT" }, { EBUSY, "EBUSY" },
	{ ENODEV, "ENODEV" }, { ENOTDIR, "ENOTDIR" }, { EINVAL, "EINVAL" }, { ENFILE, "ENFILE" },
	{ EMFILE, "EMFILE" }, { ENOSPC, "ENOSPC" }, { ENOSYS, "ENOSYS" }, { ELOOP, "ELOOP" },
	{ EOVERFLOW, "EOVERFLOW" }, { EOPNOTSUPP, "EOPNOTSUPP" }, { ESRCH, "ESRCH" },
	{ EFBIG, "EFBIG" }, { EROFS, "EROFS" }, { EDQUOT, "EDQUOT" },
	{ EAFNOSUPPORT, "EAFNOSUPPORT" }, { ENODATA, "ENODATA" }, { EPROTONOSUPPORT, "EPROTONOSUPPORT" },
};

const char *advice_errno_name(int err)
{
	static char other[24];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].err == err)
			return names[i].name;
	snprintf(other, sizeof(other), "errno %d", err);
	return other;
}

struct outcome advice_errno(int err, const char *what)
{
	struct rlimit limit = { .rlim_cur = 0 };
	char remedy[32];
	const char *name = advice_errno_name(err);

	switch (err) {
	case EMFILE:
		getrlimit(RLIMIT_NOFILE, &limit);
		snprintf(remedy, sizeof(remedy), "ulimit -n %llu",
			limit.rlim_cur < 1024 ? 1024ULL : 2ULL * limit.rlim_cur);
		return outcome_no(remedy, "%s: EMFILE, the limit of %llu descriptors is reached",
			what, (unsigned long long)limit.rlim_cur);
	case ENFILE:
		return outcome_no("sudo sysctl fs.file-max=1000000",
			"%s: ENFILE, the system's table of open files is full", what);
	case EFBIG:
		return outcome_no("ulimit -f unlimited", "%s: EFBIG, beyond the limit of file sizes",
			what);
	case ENOMEM:
		return outcome_no("", "%s: ENOMEM, the kernel is out of memory for it", what);
	default:
		return outcome_no("", "%s: %s, %s", what, name, strerror(err));
	}
}

/* The capability with which container runtimes let a call through their filter. */
static const char *advice_capability(const char *call)
{
	static const struct { const char *call, *capability; } rows[] = {
		{ "perf_event_open", "PERFMON" },
		{ "get_mempolicy", "SYS_NICE" },
		{ "move_pages", "SYS_NICE" },
		{ "ptrace", "SYS_PTRACE" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].call, call))
			return rows[i].capability;
	return NULL;
}

/*
 * A filter stands in the way; who put it there decides what helps. Filters that list what they
 * forbid answer EPERM; those that list what they know answer ENOSYS to the rest.
 */
static struct outcome advice_filter(const struct caps_context *context, int err, const char *call)
{
	const char *capability = advice_capability(call);
	char remedy[192];

	if (err == ENOSYS)
		snprintf(remedy, sizeof(remedy), "run outside this %s, or update what set its "
			"filter up: it may be older than %s",
			context->container ? "container" : "sandbox", call);
	else if (context->container)
		snprintf(remedy, sizeof(remedy), "run outside this container, or start it with "
			"%s%s%s--security-opt seccomp=unconfined", capability ? "--cap-add " : "",
			capability ? capability : "", capability ? " or " : "");
	else
		snprintf(remedy, sizeof(remedy), "run outside this sandbox, or allow %s in its "
			"filter (systemd: SystemCallFilter=%s; container: %s%s)", call, call,
			capability ? "--cap-add " : "--security-opt seccomp=unconfined",
			capability ? capability : "");
	return outcome_no(remedy, "a seccomp filter %s answers %s with %s",
		context->container ? "of this container" : "on this process", call,
		advice_errno_name(err));
}

struct outcome advice_call(const struct caps_context *context, int err, const char *call)
{
	if (context->seccomp && (err == EPERM || err == ENOSYS))
		return advice_filter(context, err, call);
	if (err == ENOSYS)
		return outcome_no("", "%s: ENOSYS, this kernel was built without it", call);
	return advice_errno(err, call);
}

static struct outcome advice_missing_call(const struct caps_context *context)
{
	if (context->seccomp)
		return advice_filter(context, ENOSYS, "perf_event_open");
	if (context->paranoid == CAPS_PARANOID_ABSENT)
		return outcome_no("boot a kernel with CONFIG_PERF_EVENTS=y",
			"this kernel was built without performance events (ENOSYS)");
	return outcome_no("run outside this sandbox", "perf_event_open is missing (ENOSYS) "
		"although the kernel has it: an emulator or sandbox");
}

/*
 * Mainline kernels refuse kernel-side events from level 2, CPU-wide ones from level 1 and the
 * fields of tracepoints from level 0; distributions add levels 3 and 4, at which nothing is
 * allowed. They answer EACCES, to tracepoints EPERM.
 */
static struct outcome advice_refused(const struct caps_context *context, int err,
	enum advice_scope scope)
{
	static const int most[] = { 2, 1, 0, -1 };
	bool paranoid = context->paranoid != CAPS_PARANOID_ABSENT &&
		context->paranoid > most[scope] && !context->may_perf;
	char remedy[64];

	if (context->seccomp && ((err == EPERM && scope != ADVICE_TRACE) || !paranoid))
		return advice_filter(context, err, "perf_event_open");
	snprintf(remedy, sizeof(remedy), "sudo sysctl kernel.perf_event_paranoid=%d", most[scope]);
	if (paranoid)
		return outcome_no(remedy,
			"perf_event_paranoid is %d and uid %u has no CAP_PERFMON (%s)",
			context->paranoid, (unsigned int)context->uid, advice_errno_name(err));
	return outcome_no("see the audit log: ausearch -m AVC -ts recent, or journalctl -k",
		"%s although neither perf_event_paranoid nor seccomp forbids it: "
		"a security module or lockdown", advice_errno_name(err));
}

struct outcome advice_perf_scope(const struct caps_context *context, int err,
	enum advice_scope scope)
{
	switch (err) {
	case ENOSYS:
		return advice_missing_call(context);
	case EPERM:
	case EACCES:
		return advice_refused(context, err, scope);
	case E2BIG:
		return outcome_no("",
			"perf_event_open: E2BIG, this kernel is older than sparkctl's headers");
	case EBUSY:
		if (facts_watchdog(context))
			return outcome_no("sudo sysctl kernel.nmi_watchdog=0, or end other profilers",
				"perf_event_open: EBUSY, the NMI watchdog holds a counter, and others may, too");
		return outcome_no("end other profilers", "perf_event_open: EBUSY, somebody else holds the counters");
	default:
		return advice_errno(err, "perf_event_open");
	}
}

struct outcome advice_perf_privilege(const struct caps_context *context, int err)
{
	/* Kernels differ in which one they ask for, and answer alike. */
	static const char remedy[] = "sudo setcap cap_perfmon,cap_sys_admin=ep $(command -v sparkctl)";

	if (err == EACCES && !context->may_perf)
		return outcome_no(remedy, "uid %u has no CAP_PERFMON (EACCES)", (unsigned int)context->uid);
	if (err == EACCES && !context->may_admin)
		return outcome_no(remedy, "this kernel lets nobody without CAP_SYS_ADMIN do that, and uid %u has only "
			"CAP_PERFMON (EACCES)", (unsigned int)context->uid);
	return advice_perf_scope(context, err, ADVICE_TRACE);
}

struct outcome advice_perf(const struct caps_context *context, int err, bool kernel_side)
{
	return advice_perf_scope(context, err, kernel_side ? ADVICE_KERNEL : ADVICE_USER);
}

bool advice_means_absent(int err)
{
	return err == ENOENT || err == ENODEV || err == ENXIO || err == EOPNOTSUPP || err == EINVAL;
}

struct outcome advice_no_pmu(const struct caps_context *context, int err)
{
	if (context->virtual_machine)
		return outcome_no("on the host: give the machine a virtual PMU "
				  "(QEMU/KVM: -cpu host,pmu=on), or take a bare-metal instance",
			"no PMU: this is a virtual machine without PMU passthrough (%s)",
			advice_errno_name(err));
	return outcome_no("sudo dmesg | grep -i pmu",
		"no PMU: the kernel has no driver for this CPU's counters (%s)",
		advice_errno_name(err));
}

struct outcome advice_ring(const struct caps_context *context, int err)
{
	struct rlimit limit = { .rlim_cur = 0 };
	char text[32] = "";

	if (err != EPERM)
		return advice_errno(err, "the ring of an event");
	facts_read(context, "/proc/sys/kernel/perf_event_mlock_kb", text, sizeof(text));
	getrlimit(RLIMIT_MEMLOCK, &limit);
	return outcome_no("sudo sysctl kernel.perf_event_mlock_kb=4096",
		"the ring of an event: EPERM, perf_event_mlock_kb (%.*s) and the limit of locked "
		"memory (%llu KiB) are used up", (int)strcspn(text, "\n"), text,
		(unsigned long long)limit.rlim_cur / 1024);
}
