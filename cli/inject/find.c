/* SPDX-License-Identifier: MIT */
/* See find.h. The threads are tried in turn, each for a moment, until one is met at a safe place. */
#define _GNU_SOURCE
#include "cli/inject/find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/inject/look.h"
#include "cli/inject/room.h"
#include "cli/log.h"

#define TRIES_MOST 2000u
#define SEARCH_NS (10 * NSEC_PER_SEC)
#define STOPPED_NS (300 * NSEC_PER_MSEC) /* by job control; then it is not waited for */
#define BEGIN_NS (2 * NSEC_PER_SEC)      /* for a program that has just begun to load its C library */
#define WAITS_MOST 3u                /* for a thread in an uninterruptible wait */
#define NAP_LEAST_NS 200000
#define NAP_MOST_NS 1000000

static u64 now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

void find_held_end(struct injection *i)
{
	u64 held = now_ns() - i->tracee.since_ns;

	i->inject->held_ns += held;
	i->inject->held_most_ns = MAX(i->inject->held_most_ns, held);
}

void find_let_go(struct injection *i)
{
	tracee_let(&i->tracee);
	find_held_end(i);
}

/* Nothing was done to it. */
static void release(struct injection *i)
{
	arch_release(i->tracee.tid, &i->state);
	find_let_go(i);
}

static void threads_list(struct injection *i)
{
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)i->inject->pid);
	tasks = opendir(path);
	i->nthreads = 0;
	while (tasks && i->nthreads < ARRAY_SIZE(i->threads) && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			i->threads[i->nthreads++] = atoi(entry->d_name);
	if (tasks)
		closedir(tasks);
}

/* As /proc has it; 0: it is gone. */
static char thread_state(pid_t tid)
{
	char text[512], *at = NULL;

	if (look_read(tid, "stat", text, sizeof(text)) > 0)
		at = strrchr(text, ')');
	return at && at[1] == ' ' ? at[2] : 0;
}

static bool thread_lives(pid_t tid)
{
	char state = thread_state(tid);

	return state && state != 'Z' && state != 'X';
}

static void pause_serving(struct injection *i)
{
	nanosleep(&(struct timespec){ 0, NAP_MOST_NS }, NULL);
	i->inject->serve(i->inject->context, -1);
	i->inject->meanwhile(i->inject->context);
}

/* Refused if the process is stopped by job control and stays so. */
static enum inject_end stopped(struct injection *i)
{
	u64 end_ns = now_ns() + STOPPED_NS;

	for (; thread_state(i->inject->pid) == 'T'; pause_serving(i))
		if (now_ns() > end_ns)
			return inject_say(i->inject, INJECT_REFUSED, "is stopped by job control: continue it first (kill -CONT %d)",
					  (int)i->inject->pid);
	return INJECT_DONE;
}

/* What was found may be of two programs. false: it was one all the time, or that goes on for too long, which *end says. */
static bool became_another(struct injection *i, enum inject_end *end)
{
	if (*end == INJECT_DONE || *end == INJECT_GONE || image_is(&i->places.image, i->inject->pid))
		return false;
	if (now_ns() < i->until_ns)
		return true;
	*end = inject_say(i->inject, INJECT_REFUSED, "becomes another program again and again");
	return false;
}

enum inject_end find_look(struct injection *i)
{
	u64 begun_ns = now_ns();
	enum inject_end end, stop;

	i->until_ns = i->until_ns ? i->until_ns : begun_ns + SEARCH_NS;
	for (;; pause_serving(i)) {
		end = look_process(i->inject, &i->places);
		if (became_another(i, &end)) {
			begun_ns = now_ns();
			continue;
		}
		if (end != INJECT_DONE && end != INJECT_FAILED)
			return end;
		stop = stopped(i);
		if (stop != INJECT_DONE)
			return stop;
		if (end == INJECT_DONE || now_ns() - begun_ns > BEGIN_NS)
			return end;
	}
}

/* It has ended, as a thread or with the process. */
static enum inject_end ended(struct injection *i)
{
	i->unsafe = "its threads come and go";
	threads_list(i);
	if (i->nthreads <= 1 && !thread_lives(i->inject->pid))
		return inject_say(i->inject, INJECT_GONE, "has ended");
	return INJECT_FAILED;
}

/* Until it has stopped, as it was asked to. */
static enum tracee_stop stop_wait(struct injection *i, pid_t tid)
{
	enum tracee_stop stop = tracee_wait(&i->tracee, FIND_HOLD_NS);
	u64 end_ns = now_ns() + SEARCH_NS;
	u32 waits = 0;

	/* One in an uninterruptible wait does not stop, and cannot be let go before it does. */
	while (stop == TRACEE_LATE && waits < WAITS_MOST && now_ns() < end_ns) {
		if (!thread_lives(tid))
			return TRACEE_GONE;
		waits = thread_state(tid) == 'D' ? waits + 1 : 0;
		i->inject->serve(i->inject->context, -1);
		i->inject->meanwhile(i->inject->context);
		stop = tracee_wait(&i->tracee, FIND_HOLD_NS);
	}
	i->tracee.since_ns = now_ns();
	return stop;
}

/* A thread that ends cannot be traced, nor does it stop. */
static enum inject_end seize(struct injection *i, pid_t tid)
{
	int ret = tracee_seize(&i->tracee, i->inject->pid, tid, &i->state);

	if (ret == -ESRCH || (ret == -EPERM && !thread_lives(tid)))
		return ended(i);
	return ret ? look_refused(i->inject, -ret) : INJECT_DONE;
}

/* Nothing was done to it, and it is let go. */
static enum inject_end hold_in_vain(struct injection *i, enum tracee_stop stop, int err)
{
	tracee_let(&i->tracee);
	if (err == -EOPNOTSUPP)
		return inject_say(i->inject, INJECT_REFUSED, "has a shadow stack, which forbids the returns that loading takes");
	i->unsafe = "its threads come and go";
	if (err == -EBUSY)
		i->unsafe = "its threads compute in a mode of the processor that functions are not called in";
	if (stop != TRACEE_STOPPED)
		return INJECT_FAILED;
	i->unsafe = "it is stopped by job control again and again";
	return stopped(i) == INJECT_REFUSED ? INJECT_REFUSED : INJECT_FAILED;
}

/* Holds the thread, and takes what there is to know. INJECT_DONE: it is held. */
static enum inject_end hold(struct injection *i, pid_t tid)
{
	enum inject_end end = seize(i, tid);
	enum tracee_stop stop;
	int err;

	if (end != INJECT_DONE)
		return end;
	stop = stop_wait(i, tid);
	if (stop == TRACEE_GONE)
		return ended(i);
	if (stop == TRACEE_LATE)
		return inject_say(i->inject, INJECT_REFUSED, "has a thread (%d) %s", (int)tid,
				  thread_state(tid) == 'D' ? "in an uninterruptible wait" : "that gets no CPU");
	err = stop == TRACEE_HELD ? arch_read(tid, &i->state, i->tracee.signalled) : 0;
	return stop == TRACEE_HELD && !err ? INJECT_DONE : hold_in_vain(i, stop, err);
}

/* The state as a frame on the thread's own stack. NULL: it is there; else why not, as the end of a sentence. */
static const char *frame_put(struct injection *i)
{
	size_t size = arch_frame(&i->state, &i->places.gadgets, 0, i->frame, sizeof(i->frame));
	u64 sp = arch_sp(&i->state), at = (sp - arch_red_zone() - size - 64) & ~63ULL;
	const struct room room = { i->inject->pid, i->tracee.tid, sp, at, i->places.stack_start, i->places.stack_end };
	const char *why = room_tell(&room, &i->stack);

	if (why)
		return why;
	size = size ? arch_frame(&i->state, &i->places.gadgets, at, i->frame, sizeof(i->frame)) : 0;
	i->own_frame = at;
	return size && tracee_write(i->inject->pid, at, i->frame, size) ? NULL : ROOM_NONE;
}

static void stack_print(const struct injection *i, pid_t tid)
{
	for (u32 f = 0; f < i->stack.n; f++)
		verbose(3, "thread %d: #%u %s in %s", (int)tid, f,
			i->stack.frames[f].function ? i->stack.frames[f].function : "?", i->stack.frames[f].path);
}

/* It is another program than the one that was looked at. INJECT_FAILED: its threads can be tried. */
static enum inject_end look_again(struct injection *i)
{
	enum inject_end end;

	release(i);
	i->unsafe = "it becomes another program again and again";
	end = find_look(i);
	if (end == INJECT_DONE)
		return INJECT_FAILED;
	/* Something is missing, and did not come: what was found is of the new program, and not enough to enter it. */
	return end == INJECT_FAILED ? INJECT_REFUSED : end;
}

/*
 * One try. The first one only looks, and lets the thread go before it is told whether that place was safe: all files
 * that are needed to tell are read meanwhile.
 */
static enum inject_end try_thread(struct injection *i, pid_t tid)
{
	enum inject_end end = hold(i, tid);

	if (end != INJECT_DONE)
		return end;
	i->inject->tries++;
	safe_take(&i->look, i->inject->pid, tid, &i->state);
	if (!i->rehearsed) {
		i->rehearsed = true;
		release(i);
		safe_tell(&i->look, i->live, &i->stack);
		return INJECT_FAILED;
	}
	if (!image_is(&i->places.image, i->inject->pid))
		return look_again(i);
	i->unsafe = safe_tell(&i->look, i->live, &i->stack);
	if (!i->unsafe)
		i->unsafe = frame_put(i);
	if (!i->unsafe)
		return INJECT_DONE;
	if (log_level() >= 3)
		stack_print(i, tid);
	release(i);
	return INJECT_FAILED;
}

static void nap(u32 try)
{
	struct timespec t = { 0, NAP_LEAST_NS + (long)(try * 7919u % 17u) * (NAP_MOST_NS - NAP_LEAST_NS) / 16 };

	nanosleep(&t, NULL);
}

enum inject_end find_thread(struct injection *i)
{
	enum inject_end end;

	i->unsafe = "its threads come and go";
	for (u32 try = 0; try < TRIES_MOST && now_ns() < i->until_ns; try++) {
		/* The first thread twice: its files are known by then. */
		u32 at = try ? try - 1 : 0;

		if (at % 8 == 0)
			threads_list(i);
		if (!i->nthreads)
			return inject_say(i->inject, INJECT_GONE, "has ended");
		end = try_thread(i, i->threads[at % i->nthreads]);
		if (end != INJECT_FAILED)
			return end;
		if (try)
			nap(try);
		i->inject->serve(i->inject->context, -1);
		i->inject->meanwhile(i->inject->context);
	}
	return inject_say(i->inject, INJECT_FAILED, "was never met at a safe place in %u tries: %s", i->inject->tries, i->unsafe);
}

