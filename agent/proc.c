/* SPDX-License-Identifier: MIT */
/* Files of /proc, and the count of the agent's own reads; see proc.h. */
#define _GNU_SOURCE
#include "proc.h"

#include "agent.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "banned.h"

static __thread struct proc_own own __attribute__((tls_model("initial-exec")));
static __thread u32 own_pid __attribute__((tls_model("initial-exec"))); /* whose they are: not a forked child's */
/* Of the process, before it has a record. */
static struct proc_own early;

static void own_check(void)
{
	if (likely(own_pid == life->pid))
		return;
	own_pid = life->pid;
	store_relaxed(&own.calls, 0);
	store_relaxed(&own.bytes, 0);
}

static void own_add(u64 bytes)
{
	struct wire_process *p = life->wire;

	own_check();
	fetch_add(&own.bytes, bytes);
	fetch_add(&own.calls, 1);
	fetch_add(p ? &p->own_bytes : &early.bytes, bytes);
	fetch_add(p ? &p->own_calls : &early.calls, 1);
}

long proc_read(int directory, const char *path, char *text, size_t size)
{
	long n, fd = syscall_raw(SYS_openat, directory, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);

	if (fd < 0)
		return fd;
	n = syscall_raw(SYS_read, fd, (long)text, (long)size, 0, 0, 0);
	own_add((u64)MAX(n, 0));
	syscall_raw(SYS_close, fd, 0, 0, 0, 0, 0);
	return n;
}

struct proc_own proc_own_thread(void)
{
	own_check();
	return (struct proc_own){ load_relaxed(&own.calls), load_relaxed(&own.bytes) };
}

struct proc_own proc_own_process(void)
{
	struct wire_process *p = life->wire;

	if (!p)
		return (struct proc_own){ load_relaxed(&early.calls), load_relaxed(&early.bytes) };
	return (struct proc_own){ load_relaxed(&p->own_calls), load_relaxed(&p->own_bytes) };
}

void proc_own_begin(bool started)
{
	if (!started)
		return;
	life->wire->own_calls = early.calls;
	life->wire->own_bytes = early.bytes;
}
