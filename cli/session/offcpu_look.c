/* SPDX-License-Identifier: MIT */
/*
 * Why threads wait that do, by what /proc has of them: the call of the system with its descriptor, the state, and
 * where its stack is, which is copied and unwound. The registers of the callers are not to be had without stopping
 * the thread, so that a stack ends early where a function needs them to tell its frame.
 *
 * Each interval is looked at once, so that threads that sleep for long cost nothing, and few of the short ones are.
 *
 * A look takes longer than many a wait. The kernel tells the call of a thread only if that waits and does not move
 * meanwhile, so that this first step is of one wait, whatever the others meet; they hold, too, if the call is the same
 * again afterwards.
 */
#define _GNU_SOURCE
#include "cli/session/offcpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cli/names/blocking.h"
#include "cli/session/chain.h"
#include "cli/session/internal.h"
#include "cli/session/record.h"
#include "cli/session/sampling.h"
#include "cli/symbols/unwind.h"
#include "common/proc.h"

#define LOOKS_MOST 32u             /* at a time */
#define SCAN_MOST 1024u            /* threads that are gone through for them */

/* Of /proc/PID/task/TID/syscall. */
struct look {
	u32 pid, tid;
	long call;
	u64 arguments[2];
	u64 sp, pc;
	char state;
	size_t copied;               /* of the stack */
};

static ssize_t thread_read(u32 pid, u32 tid, const char *name, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "task/%u/%s", tid, name);
	return process_read_file(pid, path, text, size);
}

/* 1, 0: it runs, or is gone, or -EACCES. */
static int look_call(struct look *l)
{
	char text[256];
	unsigned long long arg[2], sp, pc;
	ssize_t n = thread_read(l->pid, l->tid, "syscall", text, sizeof(text));

	if (n <= 0)
		return n == -EACCES || n == -EPERM ? -EACCES : 0;
	if (sscanf(text, "%ld %llx %llx %*x %*x %*x %*x %llx %llx", &l->call, &arg[0], &arg[1], &sp, &pc) == 5) {
		l->arguments[0] = arg[0];
		l->arguments[1] = arg[1];
	} else if (sscanf(text, "%ld %llx %llx", &l->call, &sp, &pc) != 3 || l->call != -1) {
		return 0;
	}
	l->sp = sp;
	l->pc = pc;
	return 1;
}

static enum blocking_class file_class(u32 pid, u64 fd)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/fd/%u", pid, (u32)fd);
	if (stat(path, &st))
		return BLOCKING_OTHER;
	return S_ISREG(st.st_mode) || S_ISBLK(st.st_mode) || S_ISDIR(st.st_mode) ? BLOCKING_DISK : BLOCKING_IO;
}

static u32 class_kind(enum blocking_class class)
{
	static const u32 kinds[] = {
		[BLOCKING_OTHER] = SAMPLES_OFF_OTHER, [BLOCKING_FUTEX] = SAMPLES_OFF_FUTEX,
		[BLOCKING_SLEEP] = SAMPLES_OFF_SLEEP, [BLOCKING_IO] = SAMPLES_OFF_IO, [BLOCKING_DISK] = SAMPLES_OFF_DISK,
	};

	return kinds[class];
}

/* Its cause by its call and the descriptor of that; SAMPLES_OFF_UNSEEN: they do not tell. */
static u32 look_kind_call(const struct look *l, const struct blocking_call *call)
{
	if (!call || call->class == BLOCKING_DISK)
		return SAMPLES_OFF_UNSEEN;
	return class_kind(call->class == BLOCKING_BY_FILE ? file_class(l->pid, l->arguments[call->argument]) : call->class);
}

/* The same with its state. */
static u32 look_kind(const struct look *l, const struct blocking_call *call, u32 kind_call)
{
	char place[64] = "";

	if (l->state == 'D' && (!call || call->class == BLOCKING_DISK || call->class == BLOCKING_BY_FILE))
		return SAMPLES_OFF_DISK;
	if (kind_call != SAMPLES_OFF_UNSEEN || (l->state != 'S' && l->state != 'D'))
		return kind_call;
	/* A call that may wait for a disk, or a page that is not there, and it waits for something else. */
	thread_read(l->pid, l->tid, "wchan", place, sizeof(place));
	return class_kind(blocking_by_place(place));
}

/* A call as the innermost step of chains: its frame. */
static u32 call_frame(struct sampling *p, long number, const struct blocking_call *call)
{
	u32 object = samples_object(&p->samples, "[blocked]", NULL, SAMPLES_KERNEL);
	u32 frame = object == SAMPLES_NONE ? object : samples_frame(&p->samples, object, (u64)(number + 1));
	struct samples_line line = { .file = SAMPLES_NONE };
	char text[32];

	if (frame == SAMPLES_NONE || p->samples.frames[frame].nlines)
		return frame;
	if (number < 0)
		snprintf(text, sizeof(text), "page fault");
	else
		snprintf(text, sizeof(text), "call %ld", number);
	line.function = samples_string(&p->samples, call ? call->name : text, strlen(call ? call->name : text));
	samples_name(&p->samples, frame, &line, 1);
	return frame;
}

/* Its stack, from the pages that are there. */
static size_t stack_copy(u32 pid, u64 sp, u8 *stack)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), first = MIN(page - (sp & (page - 1)), OFFCPU_STACK), n = 1;
	struct iovec to = { stack, OFFCPU_STACK }, from[OFFCPU_STACK / 4096 + 1];
	ssize_t got;

	from[0] = (struct iovec){ (void *)(uintptr_t)sp, first };
	for (size_t at = first; at < OFFCPU_STACK; at += from[n++].iov_len)
		from[n] = (struct iovec){ (void *)(uintptr_t)(sp + at), MIN(page, OFFCPU_STACK - at) };
	got = process_vm_readv((pid_t)pid, &to, 1, from, n, 0);
	return got > 0 ? (size_t)got : 0;
}

static u32 look_chain(struct sampling *p, const struct look *l, u8 *stack, u64 now_ns, u32 *flags)
{
	u64 chain[] = { (u64)PERF_CONTEXT_USER, l->pc }, regs[64];
	struct record r = { .type = PERF_RECORD_SAMPLE, .pid = l->pid, .tid = l->tid, .time_ns = now_ns };

	if (!l->pc)
		return SAMPLES_NONE;
	r.sample.ip = l->pc;
	r.sample.chain = chain;
	r.sample.nchain = ARRAY_SIZE(chain);
	if (p->regs && unwind_regs_make(l->sp, l->pc, regs)) {
		r.sample.abi = PERF_SAMPLE_REGS_ABI_64;
		r.sample.regs = regs;
		r.sample.stack = stack;
		r.sample.stack_size = l->copied;
	}
	return chain_take(p, &r, flags);
}

/* It waits in the same call, or again. */
static bool look_stays(const struct look *l)
{
	struct look now = { .pid = l->pid, .tid = l->tid, .call = -1 };

	return look_call(&now) > 0 && now.call == l->call && now.arguments[0] == l->arguments[0] &&
	       now.arguments[1] == l->arguments[1] && now.sp == l->sp && now.pc == l->pc;
}

void offcpu_thread_look(struct session *s, struct offcpu_thread *t)
{
	static u8 stack[OFFCPU_STACK] __attribute__((aligned(8)));
	struct sampling *p = s->sampling;
	struct look l = { .pid = t->sums.pid, .tid = t->sums.tid, .call = -1 };
	u64 before = session_now(), called;
	struct process_stat stat;
	int read = look_call(&l);
	const struct blocking_call *call = read > 0 ? blocking_call(l.call) : NULL;
	u32 kind;

	p->off->refused += read < 0;
	if (!read)
		return;
	called = session_now();
	t->look_kind_call = look_kind_call(&l, call);
	l.state = process_thread_stat(l.pid, l.tid, &stat) ? stat.state : 0;
	kind = look_kind(&l, call, t->look_kind_call);
	if (kind == SAMPLES_OFF_UNSEEN)
		return;
	if (l.pc && p->regs)
		l.copied = stack_copy(l.pid, l.sp, stack);
	t->look_end_ns = session_now();
	t->look_same = read > 0 && look_stays(&l);
	t->look_flags = 0;
	t->look_kind = kind;
	t->look_chain = look_chain(p, &l, stack, before, &t->look_flags);
	t->look_call = read > 0 ? call_frame(p, l.call, call) : SAMPLES_NONE;
	t->look_ns = before;
	t->look_call_ns = called;
}

void offcpu_look(struct session *s, u64 now_ns)
{
	struct offcpu *o = s->sampling ? s->sampling->off : NULL;
	u32 looks = 0;

	if (!o || now_ns < o->next_ns)
		return;
	o->next_ns = now_ns + OFFCPU_LOOK_NS;
	if (o->polled) {
		offcpu_poll(s, now_ns);
		return;
	}
	sampling_drain(s, false);
	for (u32 i = 0; i < MIN(o->nthreads, SCAN_MOST) && looks < LOOKS_MOST; i++) {
		struct offcpu_thread *t = o->threads[o->at++ % o->nthreads];

		if (t->state != OFFCPU_BLOCKED || t->look_ns)
			continue;
		offcpu_thread_look(s, t);
		looks++;
	}
}
