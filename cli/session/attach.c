/* SPDX-License-Identifier: MIT */
/* From the processes that were asked for to the facts of a report; see attach.h. */
#define _GNU_SOURCE
#include "cli/session/attach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inject/inject.h"
#include "cli/log.h"
#include "cli/session/blockio.h"
#include "cli/session/count.h"
#include "cli/session/internal.h"
#include "cli/session/offcpu.h"
#include "cli/session/portion.h"
#include "cli/session/sampling.h"
#include "cli/session/steer.h"
#include "cli/session/windows.h"

/* A kernel thread has no command line. */
static void attach_name(struct process *p)
{
	char name[32], *argv[] = { name, NULL };

	process_describe(p);
	if (p->command || process_read_file(p->facts.pid, "comm", name, sizeof(name)) <= 0)
		return;
	name[strcspn(name, "\n")] = '\0';
	process_name(p, argv);
}

/* What its markers tell is told elsewhere, and takes time here as well. */
static void attach_note_agent(struct process *p)
{
	char text[200];

	if (inject_whose((pid_t)p->facts.pid, text, sizeof(text)))
		p->no_agent = strdup(text);
	p->facts.no_agent = p->no_agent;
}

/* One of those that were asked for, with what it has used until now. 0, or -1 after a message. */
static int attach_add(struct session *s, u32 pid)
{
	struct process *p = process_add(&s->processes, pid, 0, 0);
	struct process_stat stat;
	int status;

	if (!p)
		return -1;
	attach_name(p);
	if (s->options->outside && !s->options->inject)
		attach_note_agent(p);
	process_keep_open(p);
	p->uses = thread_uses_new();
	p->look_always = true;
	if (!p->uses)
		return error("out of memory");
	/* It may have ended by now: then there is nothing to take off, and the loop finds out. */
	if (!process_sample(p, s->options->sources, &status) || !process_stat(pid, &stat))
		return 0;
	p->attached = malloc(sizeof(*p->attached));
	if (!p->attached)
		return error("out of memory");
	*p->attached = p->last;
	p->look_always = false;
	p->threads = p->facts.threads = (u32)stat.threads;
	p->born = true;
	return 0;
}

static int attach_add_all(struct session *s)
{
	u32 pid;

	for (size_t i = 0; (pid = count_watched(s->options->count, i)); i++)
		if (attach_add(s, pid))
			return -1;
	return 0;
}

static int attach_arm(struct session *s)
{
	struct rlimit before;
	u64 from_ns;

	s->signal_fd = -1;
	s->attached = true;
	caps_init(&s->caps, "");
	session_clock_start(s);
	if (portion_open(s) || windows_open(s) || (s->options->inject && session_plan(s)))
		return -1;
	count_raise_limit(&before);
	if (signals_open(&s->signals, &s->signal_fd))
		return -1;
	from_ns = session_now();
	if (attach_open(s))
		return -1;
	session_clock_tick(s);
	s->start_ns = session_now();
	s->start_ticks = session_ticks(s);
	if (attach_add_all(s))
		return -1;
	offcpu_add_stacks(s);
	offcpu_begin(s);
	sampling_look(s, from_ns);
	if (s->options->inject && attach_inject(s))
		return -1;
	if (s->options->block_io)
		blockio_open(s);
	verbose(1, "attached in %.1f ms", (double)(session_now() - from_ns) / (double)NSEC_PER_MSEC);
	return 0;
}

static bool attach_targets_live(const struct session *s)
{
	u32 pid;

	for (size_t i = 0; (pid = count_watched(s->options->count, i)); i++)
		if (process_find(&s->processes, pid))
			return true;
	return false;
}

bool attach_over(const struct session *s, u64 now)
{
	return s->stop || (s->options->steer && s->options->steer->stopped) || !attach_targets_live(s) ||
	       (s->options->duration_ns && now - s->start_ns >= s->options->duration_ns + s->loading_ns);
}

/* What they have used until now: the loop's newest figures may be of a tenth of a second ago. */
static void attach_look_last(struct session *s)
{
	struct process **live;
	int status;
	size_t n;

	live = processes_live(&s->processes, &n);
	for (size_t i = 0; i < n; i++) {
		live[i]->look_always = live[i]->uses;
		process_sample(live[i], s->options->sources, &status);
	}
}

enum session_end session_attach(struct session **session, const struct session_options *options)
{
	struct session *s = session_new(options);

	*session = s;
	if (!s || attach_arm(s))
		return SESSION_FAILED;
	portion_start(s);
	windows_start(s);
	session_steer_start(s);
	session_loop(s);
	s->end_ns = session_now();
	steer_stop(options->steer, s->end_ns);
	attach_look_last(s);
	session_finish(s);
	return SESSION_ENDED;
}
