/* SPDX-License-Identifier: MIT */
/* What a session states about itself for the report. */
#define _GNU_SOURCE
#include "cli/session/blockio.h"
#include "cli/session/cgroup_own.h"
#include "cli/session/internal.h"
#include "cli/session/portion.h"
#include "cli/session/probing.h"
#include "cli/session/sampling.h"
#include "cli/session/tracing.h"
#include "cli/session/windows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/log.h"

static void cpu_model(struct session *s)
{
	const char *at, *end;

	at = strstr(s->caps.cpuinfo, "model name");
	at = at ? strchr(at, ':') : NULL;
	end = at ? strchr(at, '\n') : NULL;
	if (end)
		snprintf(s->cpu, sizeof(s->cpu), "%.*s", (int)(end - at - 2), at + 2);
	else
		s->cpu[0] = 0;
}

static void host_facts(struct session *s)
{
	struct utsname u;

	if (uname(&u) == 0) {
		snprintf(s->host, sizeof(s->host), "%s", u.nodename);
		snprintf(s->kernel, sizeof(s->kernel), "%s %s %s", u.sysname, u.release, u.machine);
	}
	cpu_model(s);
	s->facts.host = s->host;
	s->facts.kernel = s->kernel;
	s->facts.cpu = s->cpu[0] ? s->cpu : NULL;
	s->facts.clock = s->clock_kind == WIRE_CLOCK_TSC ? caps_counter_name() : "vdso";
}

static bool probed_asked(const struct session *s, const char *name)
{
	if (!strcmp(name, "preload"))
		return !s->options->outside && !s->facts.not_preloaded; /* that has a line of its own */
	if (!strcmp(name, "counting-hardware"))
		return totals_want_hardware(&s->totals);
	return (!strcmp(name, "counting") && !s->options->unarmed) || (s->hellos && !strcmp(name, "switch-detector"));
}

/* The agents have proven it in the target itself: better than a probe here, and quicker. */
static bool detector_known(const struct session *s, struct outcome *o)
{
	for (size_t i = 0; i < s->processes.count; i++)
		if (s->processes.list[i]->facts.detector == WIRE_DETECTOR_RSEQ) {
			*o = outcome_yes("rseq, proven when the agent started");
			return true;
		}
	return false;
}

/* What the run itself has tried need not be tried again. */
static bool outcome_known(const struct session *s, const char *name, struct outcome *o)
{
	if (!strcmp(name, "switch-detector"))
		return detector_known(s, o);
	if (!strcmp(name, "counting") && s->totals.all_software) {
		*o = outcome_yes("task-clock, page faults, context switches, migrations; user and kernel side");
		return true;
	}
	if (!strcmp(name, "counting-hardware") && s->totals.asked_hardware) {
		*o = s->totals.hardware;
		return true;
	}
	return false;
}

/* What came of it in this run. */
static void preload_judge(const struct session *s, struct outcome *o)
{
	if (s->facts.not_preloaded)
		*o = outcome_no("", "%s", s->facts.not_preloaded);
	else if (s->unstarted && s->unstarted == s->hellos)
		*o = outcome_no("ulimit -v unlimited", "the agent could not start in the program: too little memory, or another limit");
}

void session_probe(struct session *s)
{
	bool wanted[CAPS_MOST] = { false };
	size_t n;
	const struct capability *rows = caps_table(&n);

	for (size_t i = 0; i < n; i++)
		wanted[i] = !probed_asked(s, rows[i].name);
	caps_probe(&s->caps, wanted, s->outcomes);
	s->probed = true;
}

static void capability_facts(struct session *s)
{
	size_t n;
	const struct capability *rows = caps_table(&n);

	s->facts.ncapabilities = 0;
	for (size_t i = 0; i < n; i++) {
		struct outcome *o = &s->outcomes[i];
		bool asked = probed_asked(s, rows[i].name);

		/* Why the agent is not in the command has a line of its own, and stands here as well. */
		if (!asked && !s->probed && (s->options->outside || strcmp(rows[i].name, "preload") != 0))
			continue;
		if (!outcome_known(s, rows[i].name, o) && (asked || !o->because[0]))
			*o = rows[i].probe(&s->caps);
		if (!strcmp(rows[i].name, "preload"))
			preload_judge(s, o);
		s->capabilities[s->facts.ncapabilities++] = (struct capability_fact){
			.name = rows[i].name,
			.available = o->available != CAPS_NO,
			.asked = asked,
			.because = o->because,
			.remedy = o->remedy,
		};
	}
	s->facts.capabilities = s->capabilities;
}

static void process_list(struct session *s)
{
	u64 now = (s->attached && s->end_ns ? s->end_ns : session_now()) - s->start_ns;

	free(s->process_facts);
	s->facts.nprocesses = 0;
	s->process_facts = calloc(s->processes.count + 1, sizeof(*s->process_facts));
	if (!s->process_facts) {
		error("out of memory");
		return;
	}
	for (size_t i = 0; i < s->processes.count; i++) {
		struct process p = *s->processes.list[i];

		if (p.alive)
			p.facts.end_ns = now;
		process_settle(&p, NULL);
		s->process_facts[i] = p.facts;
		portion_process(s, s->processes.list[i], &s->process_facts[i]);
	}
	s->facts.processes = s->process_facts;
	s->facts.nprocesses = s->processes.count;
}

static void loss_facts(struct session *s)
{
	u64 strangers = 0;

	for (struct segment *g = s->segments; g; g = g->next)
		strangers += g->strangers;
	s->losses[0] = (struct loss_fact){ "segments", "segments could not be read", s->unreadable };
	s->losses[1] = (struct loss_fact){ "strangers", "threads of unknown processes were left out", strangers };
	s->losses[2] = (struct loss_fact){ "process-records", "records of forks, execs and exits came too fast to be read",
					   s->track.lost };
	s->losses[3] = (struct loss_fact){ "agents", "agents could not start in their process: too little memory, or another limit",
					   s->unstarted };
	s->losses[4] = (struct loss_fact){ "images", "programs not measured: no descriptor or memory for a segment", s->unmeasured };
	s->losses[5] = (struct loss_fact){ "trace", "markers are missing in the trace: they came faster than they could be read",
					   s->tracing ? s->tracing->trace.missing : 0 };
	s->losses[6] = (struct loss_fact){ "uprobe", "entries and returns of probed functions could not be read: they came too fast",
					   s->probing ? s->probing->lost : 0 };
	s->losses[7] = (struct loss_fact){ "window-list", "windows are counted in sums, not one by one: there are too many",
					   s->windows ? s->windows->lost : 0 };
	s->losses[8] = (struct loss_fact){ "outside-windows", "windows from outside were not opened: there are more than 65 536",
					   s->windows ? s->windows->unopened : 0 };
	s->facts.losses = s->losses;
	s->facts.nlosses = ARRAY_SIZE(s->losses);
}

/* The command itself by the kernel's record of it, or by its file where there are none. */
static enum totals_hidden totals_hidden_of(const struct session *s)
{
	if (s->main_hidden || (!s->track.count && s->target.guarded))
		return TOTALS_HIDDEN;
	return s->hidden ? TOTALS_LITTLE_HIDDEN : TOTALS_SEEN;
}

/* Why there is no agent in what the command started. */
static const char *no_agent_in(const struct process *p)
{
	if (p->no_agent)
		return p->no_agent;
	if (p->hidden)
		return "runs with other rights than its user's, or may not be read by him";
	return "no agent said hello: it can't enter that program, its environment was cleared, or something "
	       "kept it from reporting";
}

/* Why there are no regions of the command, and of what it started. */
static void preload_facts(struct session *s)
{
	struct target *t = &s->target;

	s->facts.not_preloaded = NULL;
	for (size_t i = 0; s->options->inject && i < s->processes.count; i++)
		s->processes.list[i]->facts.no_agent = s->processes.list[i]->no_agent;
	if (s->options->outside || !s->processes.count)
		return;
	/* While it goes on the agent may only be late. */
	if (s->over && !s->hellos && !t->obstacle[0])
		snprintf(t->obstacle, sizeof(t->obstacle), "%.240s did not load the agent, or a seccomp filter or "
			 "a limit kept it from reporting", s->options->argv[0]);
	if (!s->processes.list[0]->facts.agent && t->obstacle[0])
		s->facts.not_preloaded = t->obstacle;
	for (size_t i = 1; i < s->processes.count; i++) {
		struct process *p = s->processes.list[i];

		if (s->over && !p->facts.agent && p->image_ns)
			p->facts.no_agent = no_agent_in(p);
	}
}

/* Samples for each second of CPU time that the tree had. */
static void sampling_facts(struct session *s)
{
	struct samples *samples = &s->sampling->samples;
	double cpu_ns = 0, count = 0, weight = 0;

	for (u32 i = 0; i < samples->nrows; i++) {
		count += (double)samples->rows[i].count;
		weight += (double)samples->rows[i].weight;
	}
	for (size_t i = 0; i < s->facts.ntotals; i++)
		if (!strcmp(s->facts.totals[i].name, "task-clock") && s->facts.totals[i].cell.state == CELL_COUNTED)
			cpu_ns = s->facts.totals[i].cell.value;
	if (!cpu_ns && samples->clock)
		cpu_ns = weight;
	samples->effective = cpu_ns > 0 ? count / cpu_ns * 1e9 : 0;
	s->facts.samples = samples;
}

void session_collect_facts(struct session *s)
{
	u64 end = s->end_ns ? s->end_ns : session_now();

	s->facts.argv = (const char *const *)s->options->argv;
	s->facts.alive = !s->main_ended;
	s->facts.unfinished = !s->over;
	s->facts.timeout = s->timed_out;
	if (s->main_ended && WIFSIGNALED(s->wait_status))
		s->facts.signal = WTERMSIG(s->wait_status);
	else if (s->main_ended)
		s->facts.status = WEXITSTATUS(s->wait_status);
	s->facts.duration_ns = end - s->start_ns;
	s->facts.clock_map = &s->clock;
	for (size_t i = 0; s->over && i < s->processes.count; i++)
		if (s->processes.list[i]->alive)
			track_end(s, s->processes.list[i], session_now() - s->start_ns);
	if (!s->facts.clock)
		host_facts(s);
	s->totals.alone = s->processes.count == 1 && s->processes.list[0]->facts.threads == 1;
	totals_read(&s->totals, &s->caps, session_counted(s, end), &s->usage, s->main_ended,
		    totals_hidden_of(s));
	probing_totals(s);
	if (s->group)
		cgroup_own_totals(s->group, &s->totals);
	portion_facts(s, end);
	s->facts.totals = s->totals.facts;
	s->facts.ntotals = s->totals.nfacts;
	if (s->totals.hidden != TOTALS_SEEN)
		s->facts.uncounted = s->totals.hidden_note;
	session_steer_facts(s, end);
	surroundings_facts(s);
	if (s->sampling)
		sampling_facts(s);
	blockio_facts(s);
	preload_facts(s);
	s->facts.start_waits = s->start_waits;
	s->facts.start_longest_ns = s->start_longest_ns;
	s->facts.start_unheard = s->start_unheard;
	/* Of the tree alone: others say themselves what they lack. */
	if (!s->options->count)
		capability_facts(s);
	process_list(s);
	loss_facts(s);
	windows_facts(s);
}
