/* SPDX-License-Identifier: MIT */
/*
 * From an errno and the facts to a reason and a remedy. The gates of perf_event_open look alike
 * from outside: a seccomp filter (EPERM or ENOSYS, by its author's taste), perf_event_paranoid
 * (EACCES), a security module (EACCES or EPERM), a kernel without the call (ENOSYS); what tells
 * them apart is in perf_event_open(2), "ERRORS", and in kernel/events/core.c.
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
	{ EAFNOSUPPORT, "EAFNOSUPPORT" }, { EPROTONOSUPPORT, "EPROTONOSUPPORT" },
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
	const char *name = advice_errno_name(err);

	switch (err) {
	case EMFILE:
		getrlimit(RLIMIT_NOFILE, &limit);
		return outcome_no("ulimit -n 1024",
			"%s: EMFILE, the limit of %llu descriptors is reached", what,
			(unsigned long long)limit.rlim_cur);
	case ENFILE:
		return outcome_no("sudo sysctl fs.file-max=1000000",
			"%s: ENFILE, the system's table of open files is full", what);
	case ENOMEM:
		return outcome_no("", "%s: ENOMEM, the kernel is out of memory for it", what);
	default:
		return outcome_no("", "%s: %s, %s", what, name, strerror(err));
	}
}

/* A filter stands in the way; who put it there decides what helps. */
static struct outcome advice_filter(const struct caps_context *context, int err)
{
	if (context->container)
		return outcome_no("run outside this container, or start it with "
			"--cap-add PERFMON or --security-opt seccomp=unconfined",
			"a seccomp filter of this container answers perf_event_open with %s",
			advice_errno_name(err));
	return outcome_no("run outside this sandbox, or allow perf_event_open in its filter "
		"(systemd: SystemCallFilter=perf_event_open; container: --cap-add PERFMON)",
		"a seccomp filter on this process answers perf_event_open with %s",
		advice_errno_name(err));
}

static struct outcome advice_missing_call(const struct caps_context *context)
{
	if (context->seccomp)
		return advice_filter(context, ENOSYS);
	if (context->paranoid == CAPS_PARANOID_ABSENT)
		return outcome_no("boot a kernel with CONFIG_PERF_EVENTS=y",
			"this kernel was built without performance events (ENOSYS)");
	return outcome_no("run outside this sandbox", "perf_event_open is missing (ENOSYS) "
		"although the kernel has it: an emulator or sandbox");
}

/*
 * Mainline kernels refuse kernel-side events from level 2 and CPU-wide ones from level 1;
 * distributions add levels 3 and 4, at which nothing is allowed. All of them answer EACCES.
 */
static struct outcome advice_refused(const struct caps_context *context, int err, bool kernel_side)
{
	int limit = kernel_side ? 1 : 2;
	bool paranoid = context->paranoid != CAPS_PARANOID_ABSENT && context->paranoid > limit &&
		!context->may_perf;

	if (context->seccomp && (err == EPERM || !paranoid))
		return advice_filter(context, err);
	if (paranoid)
		return outcome_no(kernel_side ? "sudo sysctl kernel.perf_event_paranoid=1" :
						"sudo sysctl kernel.perf_event_paranoid=2",
			"perf_event_paranoid is %d and uid %u has no CAP_PERFMON (%s)",
			context->paranoid, (unsigned int)context->uid, advice_errno_name(err));
	return outcome_no("see the audit log: ausearch -m AVC -ts recent, or journalctl -k",
		"%s although neither perf_event_paranoid nor seccomp forbids it: "
		"a security module or lockdown", advice_errno_name(err));
}

struct outcome advice_perf(const struct caps_context *context, int err, bool kernel_side)
{
	switch (err) {
	case ENOSYS:
		return advice_missing_call(context);
	case EPERM:
	case EACCES:
		return advice_refused(context, err, kernel_side);
	case E2BIG:
		return outcome_no("",
			"perf_event_open: E2BIG, this kernel is older than sparkctl's headers");
	case EBUSY:
		return outcome_no("end other profilers; sudo sysctl kernel.nmi_watchdog=0",
			"perf_event_open: EBUSY, somebody else holds the counters");
	default:
		return advice_errno(err, "perf_event_open");
	}
}

/* perf_uprobe_event_init() asks for CAP_PERFMON, whatever perf_event_paranoid says. */
struct outcome advice_uprobe(const struct caps_context *context, int err)
{
	if ((err == EACCES || err == EPERM) && !context->may_perf)
		return outcome_no("run it as root, or give sparkctl CAP_PERFMON (setcap cap_perfmon+ep)",
			"uprobes need CAP_PERFMON, which uid %u has not (%s)", (unsigned int)context->uid,
			advice_errno_name(err));
	return advice_perf(context, err, true);
}

struct outcome advice_tracefs(int err)
{
	if (err == ENOENT)
		return outcome_no("sudo mount -t tracefs tracefs /sys/kernel/tracing",
			"tracefs, where the ids of tracepoints stand, is not mounted");
	return outcome_no("sudo mount -o remount,mode=750,gid=$(id -g) /sys/kernel/tracing",
		"the ids of tracepoints are in /sys/kernel/tracing, which this user may not read (%s)",
		advice_errno_name(err));
}
