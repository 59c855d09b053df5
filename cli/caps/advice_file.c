/* SPDX-License-Identifier: MIT */
/* The other half of advice.c: what files, mounts and processes refuse, and what helps. */
#include "cli/caps/ids.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static struct outcome advice_tracefs_absent(const struct caps_context *context)
{
	if (facts_config(context, "CONFIG_TRACING") == FACTS_NOT_BUILT)
		return outcome_no("boot a kernel with CONFIG_FTRACE=y",
			"this kernel was built without tracing");
	return outcome_no("sudo mount -t tracefs tracefs /sys/kernel/tracing",
		"tracefs is not mounted, nor is debugfs");
}

struct outcome advice_tracefs(const struct caps_context *context, int err, const char *mount,
	const char *name)
{
	if (!mount && err == ENOENT)
		return advice_tracefs_absent(context);
	if (!mount)
		return advice_errno(err, "/proc/self/mountinfo");
	if (err == EACCES || err == EPERM)
		return outcome_no(IDS_COMMAND, "tracefs at %.120s is closed to uid %u (%s)", mount,
			(unsigned int)context->uid, advice_errno_name(err));
	if (err == ENOENT)
		return outcome_no("", "tracefs at %.120s has no tracepoint %s", mount, name);
	return advice_errno(err, mount);
}

void advice_remount(const char *mount, char *remedy, size_t size)
{
	/* The mode opens the directory, the group the files in it. */
	snprintf(remedy, size, "sudo mount -o remount,mode=755,gid=%u %.120s", (unsigned int)getegid(), mount);
}

struct outcome advice_pressure(const struct caps_context *context, int err, const char *name)
{
	enum facts_built built = facts_config(context, "CONFIG_PSI");
	char path[64];

	switch (err) {
	case ENOENT:
		if (built == FACTS_NOT_BUILT)
			return outcome_no("boot a kernel with CONFIG_PSI=y",
				"/proc/pressure/%s: this kernel was built without CONFIG_PSI",
				name);
		return outcome_no("boot with psi=1", "no /proc/pressure/%s: PSI is %s", name,
			built == FACTS_BUILT ? "built in, but off" :
					       "off (psi=0), or not built in (CONFIG_PSI)");
	case EOPNOTSUPP:
		return outcome_no("boot with psi=1",
			"/proc/pressure/%s: EOPNOTSUPP, PSI is built in, but off", name);
	default:
		snprintf(path, sizeof(path), "/proc/pressure/%s", name);
		return advice_errno(err, path);
	}
}

struct outcome advice_cgroup(const struct caps_context *context, int err, const char *group)
{
	if (context->seccomp && (err == EPERM || err == ENOSYS))
		return advice_call(context, err, "mkdir");
	switch (err) {
	case EACCES:
	case EPERM:
		return outcome_no(facts_exists(context, "/run/systemd/system") ?
				"systemd-run --user --scope -p Delegate=yes sparkctl ..." : "",
			"uid %u may not make a group in %.120s (%s)", (unsigned int)context->uid,
			group, advice_errno_name(err));
	case EROFS:
		return outcome_no("run outside this container, or mount /sys/fs/cgroup writable",
			"%.120s is mounted read-only (EROFS)", group);
	case EAGAIN:
		return outcome_no("", "%.120s has as many groups as it may have (EAGAIN)", group);
	default:
		return advice_errno(err, group);
	}
}

struct outcome advice_ptrace(const struct caps_context *context, int err, int yama)
{
	static const char start[] = "start the program with sparkctl run, which needs no ptrace";

	if (context->seccomp && (err == EPERM || err == ENOSYS) && yama < 2)
		return advice_call(context, err, "ptrace");
	if (err == EPERM && yama > 0)
		return outcome_no(start, "Yama's ptrace_scope is %d: %s (EPERM)", yama,
			yama == 1 ? "only what sparkctl started" :
			yama == 2 ? "only with CAP_SYS_PTRACE" : "nobody, until the next boot");
	if (err == EPERM || err == EACCES)
		return outcome_no(start, "ptrace of an own process: %s, by a security module",
			advice_errno_name(err));
	return advice_call(context, err, "ptrace");
}

struct outcome advice_sysfs(const struct caps_context *context, int err, const char *path)
{
	if (err == ENOENT)
		return outcome_no("sudo mount -t sysfs sysfs /sys", "no %s (ENOENT)", path);
	if (context->seccomp && (err == EPERM || err == ENOSYS))
		return advice_call(context, err, "getdents64");
	return advice_errno(err, path);
}
