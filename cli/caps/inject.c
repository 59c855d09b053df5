/* SPDX-License-Identifier: MIT */
/*
 * The probe "inject": a process stops another that it did not start, reads its registers, takes a descriptor of it and
 * lets it go. Both are children of this one; where only descendants may be traced, this one tries.
 */
#define _GNU_SOURCE
#include "cli/caps/arch.h"
#include "cli/caps/caps.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* A copy of its standard error, as of the socket by which the agent says hello. Returns 0 or an errno. */
static int inject_take(pid_t pid)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0), fd = -1, err = 0;

	if (process >= 0)
		fd = (int)syscall(SYS_pidfd_getfd, process, STDERR_FILENO, 0);
	/* It may have none: that is told of what could be had. */
	if (fd < 0 && errno != EBADF)
		err = errno;
	if (fd >= 0)
		close(fd);
	if (process >= 0)
		close(process);
	return err;
}

/* Returns 0 or an errno. */
static int inject_try(pid_t pid)
{
	char registers[4096];
	struct iovec area = { registers, sizeof(registers) };
	int status, err = 0;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		return errno;
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		return errno;
	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		return ECHILD;
	if (ptrace(PTRACE_GETREGSET, pid, (void *)(uintptr_t)NT_PRSTATUS, &area) || !area.iov_len)
		err = errno;
	if (!err)
		err = inject_take(pid);
	if (ptrace(PTRACE_DETACH, pid, NULL, NULL) && !err)
		err = errno;
	return err;
}

/* A process that waits until it is killed, or until this one has gone. Returns it or -errno. */
static pid_t inject_start_victim(void)
{
	pid_t parent = getpid(), child = fork();

	if (child)
		return child < 0 ? -errno : child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(0);
}

/* The same from a brother of the victim. Returns 0 or an errno. */
static int inject_try_brother(pid_t victim)
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(inject_try(victim));
	if (child < 0)
		return errno;
	if (waitpid(child, &status, 0) != child)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

static int inject_read_yama(const struct caps_context *context)
{
	char text[16];

	if (facts_read(context, "/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) <= 0)
		return -1;
	return atoi(text);
}

static struct outcome inject_probe_here(struct caps_context *context)
{
	int yama = inject_read_yama(context), err, own = 0;
	pid_t victim = inject_start_victim();
	struct outcome why;

	if (victim < 0)
		return advice_errno(-victim, "a child to trace");
	err = inject_try_brother(victim);
	if (err)
		own = inject_try(victim);
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	if (!err)
		return outcome_yes("a process of uid %u was stopped, read and released by another",
			(unsigned int)context->uid);
	why = advice_ptrace(context, err, yama);
	if (own)
		return why;
	return outcome_partly(why.remedy, "descendants alone can be traced: %.200s", why.because);
}

struct outcome inject_probe(struct caps_context *context)
{
	if (!ARCH_INJECT)
		return outcome_no(NULL, "loading into a process that runs is there for x86-64 and arm64 alone");
	return inject_probe_here(context);
}
