/* SPDX-License-Identifier: MIT */
/*
 * The order of an injection; see inject.h.
 *
 * A held thread's state is written below its stack's red zone as a signal frame, before anything else is done. What it
 * is then made to do ends in rt_sigreturn(2) to such a frame, so that it goes on where it was also if we are gone by
 * then; if we are there, all is put back in a stop instead, where the kernel begins interrupted system calls anew
 * itself. No instruction is written over, and nothing is done by single steps.
 */
#define _GNU_SOURCE
#include "cli/inject/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/inject/find.h"
#include "cli/inject/look.h"

#define STACK_BYTES (512u << 10)
#define CODE_BYTES 4096u
#define AREA_BYTES (STACK_BYTES + CODE_BYTES)
#define WORK_NS (20 * NSEC_PER_SEC)    /* between two system calls of the code; then it is left to find its way alone */
#define SYMBOL "spark_agent_wake"
#define SONAME "libsparkagent.so"

/* The code's data, and the texts that it names, at the upper end of the stack's memory. */
struct area_data {
	struct arch_data data;
	char soname[32], symbol[32], path[4096], file[32];
};

static s64 call(struct injection *i, u64 number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	const u64 arguments[] = { a, b, c, d, e, f };
	enum tracee_stop stop;

	return tracee_call(&i->tracee, &i->state, &i->places.gadgets, i->own_frame, number, arguments, &stop);
}

/* The agent's path in the process: its own, where that is the same file. */
static bool path_serves(const struct injection *i)
{
	char path[4200];
	struct stat own, there;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)i->inject->pid, i->inject->agent);
	return i->inject->agent[0] == '/' && strlen(i->inject->agent) < 4096 && stat(i->inject->agent, &own) == 0 &&
	       stat(path, &there) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

static bool area_fill(struct injection *i)
{
	struct area_data area = { .data = {
		.errno_location = i->places.errno_location, .open = i->places.open, .why = i->places.why,
		.find = i->places.find, .file = -1, .pair = { -1, -1 },
	}, .soname = SONAME, .symbol = SYMBOL, .file = SONAME };
	u64 frame, at = i->area + STACK_BYTES - sizeof(area);
	const u8 *code;
	size_t size;

	at &= ~63ULL;
	i->data = at;
	area.data.soname = at + offsetof(struct area_data, soname);
	area.data.symbol = at + offsetof(struct area_data, symbol);
	area.data.path = at + offsetof(struct area_data, path);
	if (path_serves(i)) {
		snprintf(area.path, sizeof(area.path), "%s", i->inject->agent);
	} else {
		/* The number is not known yet: file_fill() puts it in. */
		area.data.file_name = at + offsetof(struct area_data, file);
	}
	memcpy(area.data.token, i->inject->token, sizeof(area.data.token));
	frame = (at - ARCH_FRAME) & ~63ULL;
	area.data.frame = arch_frame_sp(frame);
	size = arch_frame(&i->state, &i->places.gadgets, frame, i->frame, sizeof(i->frame));
	code = arch_code(&i->look.size);
	return size && tracee_write(i->inject->pid, frame, i->frame, size) && tracee_write(i->inject->pid, at, &area, sizeof(area)) &&
	       tracee_write(i->inject->pid, i->area + STACK_BYTES, code, i->look.size);
}

/* Memory of our own there, with all that is needed in it. 0, or -errno. */
static s64 area_make(struct injection *i)
{
	s64 ret = call(i, SYS_mmap, 0, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0);

	if (ret < 0)
		return ret;
	i->area = (u64)ret;
	if (!area_fill(i))
		return -EFAULT;
	return call(i, SYS_mprotect, i->area + STACK_BYTES, CODE_BYTES, PROT_READ | PROT_EXEC, 0, 0, 0);
}

static bool data_read(const struct injection *i, struct arch_data *data)
{
	return tracee_read(i->inject->pid, i->data, data, sizeof(*data)) == sizeof(*data);
}

static bool file_copy(int to, const char *from)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	char bytes[16384];
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n)
			break;
	if (fd >= 0)
		close(fd);
	return n == 0;
}

static int descriptor_get(const struct injection *i, s64 fd)
{
	return (int)syscall(SYS_pidfd_getfd, i->pidfd, (int)fd, 0);
}

/* The memfd gets the agent's bytes, and the code its name. */
static bool file_fill(const struct injection *i, s64 file)
{
	int fd = descriptor_get(i, file);
	char path[32];
	/* What the process says is its number may be anything: memory files alone have seals (fcntl(2)). */
	bool filled = fd >= 0 && fcntl(fd, F_GET_SEALS) >= 0 && file_copy(fd, i->inject->agent);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", (int)file);
	if (fd >= 0)
		close(fd);
	return filled && tracee_write(i->inject->pid, i->data + offsetof(struct area_data, path), path, sizeof(path));
}

/* At the first mark: the code has made descriptors. */
static enum inject_end mark_file(struct injection *i)
{
	struct arch_data data;
	int fd;

	if (!data_read(i, &data))
		return INJECT_FAILED;
	fd = descriptor_get(i, data.pair[1]);
	if (fd < 0)
		return inject_say(i->inject, INJECT_FAILED, "made a socket that could not be fetched (pidfd_getfd: %s)", strerror(errno));
	i->inject->serve(i->inject->context, fd);
	if (!data.handle && data.file >= 0 && !file_fill(i, data.file))
		return inject_say(i->inject, INJECT_FAILED, "could not be given the agent's file");
	return INJECT_DONE;
}

static void text_read(const struct injection *i, u64 address, char *text, size_t size)
{
	text[tracee_read(i->inject->pid, address, text, size - 1)] = 0;
	for (size_t k = 0; text[k]; k++)
		if (text[k] == '\n')
			text[k] = ' ';
}

/* At the last mark. */
static enum inject_end mark_end(struct injection *i)
{
	struct arch_data data;
	char text[256];

	if (!data_read(i, &data))
		return INJECT_FAILED;
	if (data.stage == ARCH_DONE && data.result == 0)
		return INJECT_DONE;
	if (data.stage == ARCH_DONE && data.result == -EBUSY)
		return inject_say(i->inject, INJECT_FAILED, "has threads in the midst of markers of a session before, for too long");
	if (data.stage == ARCH_DONE)
		return inject_say(i->inject, INJECT_FAILED, "has an agent that does not wake up: %s", strerror((int)-data.result));
	if (data.error) {
		text_read(i, data.error, text, sizeof(text));
		return inject_say(i->inject, INJECT_FAILED, "cannot load the agent: %s", text);
	}
	return inject_say(i->inject, INJECT_FAILED, "%s: %s", data.stage == ARCH_SOCKETS ? "gets no socket" : "gets no memory file",
			  strerror((int)-data.result));
}

/* The number of a system call at its entry, if it is one of the code's marks; else 0. */
static u32 mark_of(const struct injection *i)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, i->tracee.tid, (void *)sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr != SYS_gettid || (u32)info.entry.args[0] != ARCH_MARK)
		return 0;
	return (u32)info.entry.args[1];
}

/* The code is run up to its last mark. true: it is there, and *end says how it went. */
static bool code_run(struct injection *i, enum inject_end *end)
{
	u32 mark = 0;

	*end = INJECT_DONE;
	i->tracee.entered = false;
	for (;;) {
		enum tracee_stop stop;

		if (tracee_step(&i->tracee))
			return false;
		stop = tracee_wait(&i->tracee, WORK_NS);
		if (stop == TRACEE_FAULT)
			*end = inject_say(i->inject, INJECT_FAILED, "got signal %d while it loaded the agent", i->tracee.fault);
		if (stop == TRACEE_FAULT)
			return true;
		if (stop == TRACEE_HELD)
			continue;
		if (stop != TRACEE_ENTRY && stop != TRACEE_EXIT)
			return false;
		if (stop == TRACEE_ENTRY)
			mark = mark_of(i);
		else if (mark == ARCH_STEP_FILE && *end == INJECT_DONE)
			*end = mark_file(i);
		else if (mark == ARCH_STEP_END)
			*end = *end == INJECT_DONE ? mark_end(i) : *end;
		if (stop == TRACEE_EXIT && mark == ARCH_STEP_END)
			return true;
		i->inject->serve(i->inject->context, -1);
	}
}

/* To the stop in which the kernel looks at interrupted system calls. */
static bool stop_again(struct injection *i)
{
	enum tracee_stop stop;

	if (tracee_interrupt(&i->tracee))
		return false;
	do {
		stop = tracee_wait(&i->tracee, FIND_HOLD_NS);
	} while (stop == TRACEE_ENTRY || stop == TRACEE_EXIT);
	return stop == TRACEE_HELD;
}

/* There all is put back, or just before. */
static bool put_back(struct injection *i)
{
	u64 first;

	if (!stop_again(i))
		return false;
	if (!arch_again(&i->state, &first))
		return arch_write(i->tracee.tid, &i->state) == 0;
	return call(i, SYS_gettid, first, 0, 0, 0, 0, 0) > 0 && arch_write(i->tracee.tid, &i->state) == 0 && stop_again(i);
}

/* The thread is at a safe place. */
static enum inject_end work(struct injection *i)
{
	enum inject_end end;
	s64 ret;
	bool there;

	ret = area_make(i);
	if (ret == 0 && arch_enter(i->tracee.tid, &i->state, i->area + STACK_BYTES, i->data, i->data - 2 * ARCH_FRAME) == 0) {
		there = code_run(i, &end);
	} else {
		there = true;
		end = inject_say(i->inject, INJECT_FAILED, "gets no memory for it: %s", strerror((int)-ret));
	}
	if (there && i->area)
		call(i, SYS_munmap, i->area, AREA_BYTES, 0, 0, 0, 0);
	if (there && i->tracee.seized && put_back(i)) {
		find_let_go(i);
		return end;
	}
	if (!i->tracee.seized)
		return inject_say(i->inject, INJECT_GONE, "has ended, or become another program");
	/* It finds its way alone. */
	tracee_abandon(&i->tracee);
	find_held_end(i);
	return inject_say(i->inject, INJECT_FAILED, "does not get on with loading the agent: another of its threads may hold the loader");
}

/* ---- entries ------------------------------------------------------------------------------------ */

enum inject_end inject_look(struct inject *j)
{
	struct places places;

	j->why[0] = 0;
	return look_process(j, &places);
}

static enum inject_end inject_with(struct injection *i)
{
	enum inject_end end = find_look(i);

	if (end != INJECT_DONE)
		return end;
	i->pidfd = (int)syscall(SYS_pidfd_open, i->inject->pid, 0);
	if (i->pidfd < 0 || ((i->live = live_new((u32)i->inject->pid)) == NULL))
		return inject_say(i->inject, INJECT_FAILED, "cannot be held: %s", strerror(errno));
	end = find_thread(i);
	return end == INJECT_DONE ? work(i) : end;
}

struct inject_work {
	struct injection *i;
	enum inject_end end;
};

static void *inject_thread(void *argument)
{
	struct inject_work *w = argument;

	w->end = inject_with(w->i);
	return NULL;
}

/*
 * On a thread of its own: with that ends whatever is still held (ptrace(2), tracers are threads), such as one that was
 * in an uninterruptible wait and would stop later.
 */
static enum inject_end inject_apart(struct injection *i)
{
	struct inject_work w = { i, INJECT_FAILED };
	pthread_t thread;

	if (pthread_create(&thread, NULL, inject_thread, &w))
		return inject_say(i->inject, INJECT_FAILED, "cannot be held: no thread can be had for that");
	pthread_join(thread, NULL);
	return w.end;
}

enum inject_end inject_run(struct inject *j)
{
	struct injection *i = calloc(1, sizeof(*i));
	enum inject_end end;
	sigset_t child, before;

	j->why[0] = 0;
	j->held_ns = j->held_most_ns = 0;
	j->tries = 0;
	if (!i)
		return inject_say(j, INJECT_FAILED, "cannot be held: out of memory");
	i->inject = j;
	i->pidfd = -1;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	end = inject_apart(i);
	sigprocmask(SIG_SETMASK, &before, NULL);
	/* Of a look that was in vain, before the one that was not. */
	if (end == INJECT_DONE)
		j->why[0] = 0;
	live_free(i->live);
	if (i->pidfd >= 0)
		close(i->pidfd);
	free(i);
	return end;
}
