/* SPDX-License-Identifier: MIT */
/*
 * See tracee.h. A thread that is seized (PTRACE_SEIZE) gets no signal of ours, so that none can be lost or seen by the
 * program, and a tracer's end lets it run on.
 */
#define _GNU_SOURCE
#include "cli/inject/tracee.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPTIONS ((void *)(uintptr_t)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC))
#define NAP_NS 100000
#define CALL_NS NSEC_PER_SEC

int tracee_seize(struct tracee *t, pid_t pid, pid_t tid, struct arch_state *s)
{
	*t = (struct tracee){ .pid = pid, .tid = tid };
	if (ptrace(PTRACE_SEIZE, tid, NULL, OPTIONS))
		return -errno;
	t->seized = true;
	arch_before(tid, s);
	return ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ? -errno : 0;
}

int tracee_interrupt(struct tracee *t)
{
	if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) || ptrace(PTRACE_CONT, t->tid, NULL, NULL))
		return -errno;
	return 0;
}

int tracee_step(struct tracee *t)
{
	return ptrace(PTRACE_SYSCALL, t->tid, NULL, NULL) ? -errno : 0;
}

void tracee_let(struct tracee *t)
{
	if (t->seized)
		ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
	t->seized = false;
	for (int n = 1; t->later && n < 32; n++)
		if (t->later >> n & 1)
			syscall(SYS_tgkill, t->pid, t->tid, n);
	t->later = 0;
}

void tracee_abandon(struct tracee *t)
{
	if (t->seized && ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) == 0)
		tracee_wait(t, NSEC_PER_SEC);
	tracee_let(t);
}

static bool stops_jobs(int n)
{
	return n == SIGSTOP || n == SIGTSTP || n == SIGTTIN || n == SIGTTOU;
}

/* Signals that a thread raises by what it does; all others are blocked while it works for us. */
static bool is_fault(int n)
{
	return n == SIGSEGV || n == SIGBUS || n == SIGILL || n == SIGFPE || n == SIGTRAP || n == SIGSYS;
}

/* True: *stop says what it is; false: it goes on. */
static bool status_take(struct tracee *t, int status, bool working, enum tracee_stop *stop)
{
	int n = WIFSTOPPED(status) ? WSTOPSIG(status) : 0, event = status >> 16;
	siginfo_t info;

	*stop = TRACEE_GONE;
	if (!WIFSTOPPED(status)) {
		t->seized = false;
		return true;
	}
	if (event == PTRACE_EVENT_EXEC) {
		tracee_let(t);
		return true;
	}
	if (event == PTRACE_EVENT_STOP && stops_jobs(n)) {
		/* The kernel stops it once more when it is let go: until then it finishes what it was made to begin. */
		*stop = working ? TRACEE_HELD : TRACEE_STOPPED;
		return true;
	}
	if (event == PTRACE_EVENT_STOP) {
		*stop = TRACEE_HELD;
		return true;
	}
	if (n == (SIGTRAP | 0x80)) {
		t->entered = !t->entered;
		*stop = t->entered ? TRACEE_ENTRY : TRACEE_EXIT;
		return true;
	}
	/* Sent by somebody and not raised by what the thread does for us: it gets that when it is let go. */
	if (working && is_fault(n) && ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &info) == 0 && info.si_code <= 0) {
		t->later |= 1ULL << n;
		ptrace(PTRACE_SYSCALL, t->tid, NULL, NULL);
		return false;
	}
	if (working && is_fault(n)) {
		t->fault = n;
		*stop = TRACEE_FAULT;
		return true;
	}
	/* On its way before we came: with all that the kernel knows of it. */
	t->signalled = true;
	ptrace(working ? PTRACE_SYSCALL : PTRACE_CONT, t->tid, NULL, (void *)(uintptr_t)n);
	return false;
}

enum tracee_stop tracee_wait(struct tracee *t, u64 limit_ns)
{
	u64 end = clock_ns(CLOCK_MONOTONIC) + limit_ns;
	const struct timespec nap = { 0, NAP_NS };
	enum tracee_stop stop;
	sigset_t child;
	int status;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		pid_t got = waitpid(t->tid, &status, __WALL | WNOHANG);

		if (got == t->tid) {
			if (status_take(t, status, t->since_ns != 0, &stop))
				return stop;
		} else if (got < 0) {
			t->seized = false;
			return TRACEE_GONE;
		} else if (clock_ns(CLOCK_MONOTONIC) > end) {
			return TRACEE_LATE;
		} else {
			/* SIGCHLD is blocked: it wakes us, if nobody else takes it. */
			sigtimedwait(&child, NULL, &nap);
		}
	}
}

/* All signals but those that it raises by what it does. */
static int signals_block(const struct tracee *t)
{
	u64 mask = UINT64_MAX;

	for (int n = 1; n < 32; n++)
		if (is_fault(n))
			mask &= ~(1ULL << (n - 1));
	return ptrace(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(mask), &mask) ? -errno : 0;
}

s64 tracee_call(struct tracee *t, const struct arch_state *s, const struct arch_gadgets *g, u64 frame, u64 number,
		const u64 *arguments, enum tracee_stop *stop)
{
	int ret = arch_call(t->tid, s, g, frame, number, arguments);

	*stop = TRACEE_HELD;
	/* Blocked once the frame is where it will return to: with that they are what they were. */
	if (!ret)
		ret = signals_block(t);
	if (ret)
		return ret;
	t->entered = false;
	do {
		ret = tracee_step(t);
		if (ret)
			return ret;
		*stop = tracee_wait(t, CALL_NS);
	} while (*stop == TRACEE_ENTRY || *stop == TRACEE_HELD);
	return *stop == TRACEE_EXIT ? arch_result(t->tid) : -EINTR;
}

size_t tracee_read(pid_t pid, u64 address, void *to, size_t size)
{
	struct iovec here = { to, size }, there = { (void *)(uintptr_t)address, size };
	ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

bool tracee_write(pid_t pid, u64 address, const void *from, size_t size)
{
	struct iovec here = { (void *)(uintptr_t)from, size }, there = { (void *)(uintptr_t)address, size };

	return process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}
