/* SPDX-License-Identifier: MIT */
/*
 * Choosing what to sample by, and arming it: cycles where the CPU counts them, as precisely as it
 * can, else the task clock; with the kernel's side where that is allowed; at a rate that the kernel
 * allows now; with rings as large as the locked memory leaves room for.
 */
#define _GNU_SOURCE
#include "cli/session/sampling.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/session/chain.h"
#include "cli/session/internal.h"
#include "cli/session/offcpu.h"
#include "cli/session/record.h"
#include "cli/symbols/space.h"

#define PAGES_STACKS 512u          /* of a ring: 2 MiB, a quarter of a second of stacks of 8 KiB at 999 Hz */
#define PAGES_PLAIN 128u
#define PAGES_LEAST 8u
#define RESERVED_PAGES 32u         /* for each CPU: left to the agent's user pages of counters */
#define STACK_MOST 65528u          /* less than 64 KiB, a multiple of 8 (kernel/events/core.c, perf_copy_attr) */
#define SWITCHES_WAKEUP (WIRE_WATCH_ENTRIES * 3 / 4 * 64u) /* bytes: after so many switches that threads may have logged */
#define PRECISE_MOST 3u
/* A sample by the task clock takes 15 us, with a copy of the stack 20 to 30: with more of them the program stood still. */
#define CLOCK_RATE_MOST 20000u
#define CLOCK_RATE_COPIES 10000u

struct source {
	const char *name;
	u32 type;
	u64 config;
	bool clock;
};

/* Nothing comes round: for switches alone. */
static const struct source switches = { NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, true };

static const struct source sources[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true },
};

static u64 number_in(const char *path, u64 otherwise)
{
	unsigned long long v;
	FILE *f = fopen(path, "re");
	u64 n = otherwise;

	if (f && fscanf(f, "%llu", &v) == 1)
		n = v;
	if (f)
		fclose(f);
	return n;
}

static u64 rate_most(void)
{
	return number_in("/proc/sys/kernel/perf_event_max_sample_rate", 100000);
}

void sampling_note(struct sampling *p, const char *format, ...)
{
	char *before = p->samples.note, *more = NULL, *all = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&more, format, args) < 0)
		more = NULL;
	va_end(args);
	if (before && more && asprintf(&all, "%s; %s", before, more) < 0)
		all = NULL;
	p->samples.note = all ? all : more;
	if (all)
		free(more);
	free(before);
}

/* How often it is to be, as far as the program gets on then. */
static void rate_bound(const struct session *s, const struct source *from, struct perf_event_attr *attr)
{
	struct sampling *p = s->sampling;
	u64 most = p->stacks & PERF_SAMPLE_STACK_USER ? CLOCK_RATE_COPIES : CLOCK_RATE_MOST;
	bool bounded = p->samples.note && strstr(p->samples.note, "at most");

	if (!from->clock || (attr->freq ? attr->sample_freq <= most : attr->sample_period >= NSEC_PER_SEC / most))
		return;
	if (!bounded)
		sampling_note(p, "at most %llu a second", (unsigned long long)most);
	if (attr->freq)
		p->samples.frequency = attr->sample_freq = most;
	else
		attr->sample_period = NSEC_PER_SEC / most;
}

/* After so many samples: half of the ring, and half of what a thread logs of them (WIRE_WATCH_ENTRIES). */
static u32 wakeup(const struct session *s)
{
	const struct sampling *p = s->sampling;
	size_t record = 256 + (p->stacks & PERF_SAMPLE_STACK_USER ? s->options->sampling->stack_bytes + 1024u : 0);

	return (u32)MAX(MIN(p->pages * (size_t)sysconf(_SC_PAGESIZE) / 2 / record, WIRE_WATCH_ENTRIES / 4), 1);
}

/* Where samples are not asked for. */
static void switches_attr(const struct session *s, struct perf_event_attr *attr)
{
	const struct sampling *p = s->sampling;
	u32 bytes = (u32)(p->pages * (size_t)sysconf(_SC_PAGESIZE) / 4);

	perf_attr_init(attr, switches.type, switches.config);
	attr->read_format = 0;
	attr->sample_type = RECORD_SAMPLE;
	attr->sample_id_all = 1;
	attr->disabled = attr->enable_on_exec = !s->attached;
	attr->inherit = !s->options->no_inherit;
	attr->context_switch = attr->task = attr->comm = attr->comm_exec = attr->mmap = attr->mmap2 = 1;
	attr->exclude_kernel = attr->exclude_hv = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC_RAW;
	attr->watermark = 1;
	attr->wakeup_watermark = MIN(bytes, SWITCHES_WAKEUP);
}

static void attr_make(const struct session *s, const struct source *from, struct perf_event_attr *attr)
{
	const struct session_sampling *o = s->options->sampling;
	const struct sampling *p = s->sampling;

	if (!o) {
		switches_attr(s, attr);
		return;
	}
	perf_attr_init(attr, from->type, from->config);
	attr->read_format = 0;
	attr->context_switch = s->options->off_cpu;
	attr->freq = !o->period;
	if (o->period)
		attr->sample_period = o->period;
	else
		attr->sample_freq = p->samples.frequency;
	rate_bound(s, from, attr);
	attr->sample_type = RECORD_SAMPLE | p->stacks;
	attr->sample_id_all = 1;
	attr->disabled = attr->enable_on_exec = !s->attached;
	attr->inherit = !s->options->no_inherit;
	attr->task = attr->comm = attr->comm_exec = attr->mmap = attr->mmap2 = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC_RAW;
	attr->wakeup_events = wakeup(s);
	attr->exclude_hv = attr->exclude_kernel = !p->kernel;
	attr->exclude_callchain_kernel = !p->kernel;
	if (p->stacks & PERF_SAMPLE_STACK_USER) {
		attr->sample_regs_user = p->regs;
		attr->sample_stack_user = o->stack_bytes;
	}
}

static void rings_close(struct sampling *p)
{
	while (p->nrings)
		ring_close(&p->rings[--p->nrings]);
}

/* All CPUs, or none. 0 or -errno; *mapping: for want of locked memory. */
static int rings_open(struct sampling *p, struct perf_event_attr *attr, pid_t child, bool *mapping)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (u32 cpu = 0; cpu < (u32)cpus; cpu++) {
		struct ring *ring = &p->rings[p->nrings];
		int ret = p->attached ? feed_ring_try(ring, attr, child, cpu, p->pages, mapping) :
			  ring_open(ring, attr, child, cpu, p->pages, mapping);

		p->attr = *attr;
		if (ret == -ENODEV) /* offline */
			continue;
		if (ret) {
			rings_close(p);
			return ret;
		}
		p->nrings++;
	}
	return p->nrings ? 0 : -ENODEV;
}

/* Build ids in the records of mappings since Linux 5.12. */
static int rings_open_identified(struct sampling *p, struct perf_event_attr *attr, pid_t child, bool *mapping)
{
	int ret;

	attr->build_id = 1;
	ret = rings_open(p, attr, child, mapping);
	if (ret != -EINVAL)
		return ret;
	attr->build_id = 0;
	return rings_open(p, attr, child, mapping);
}

/* The kernel lowers its limit when sampling takes it too long. */
static int rings_open_rate(struct sampling *p, struct perf_event_attr *attr, pid_t child, bool *mapping)
{
	int ret = rings_open_identified(p, attr, child, mapping);
	u64 most = rate_most();

	if (ret != -EINVAL || !attr->freq || attr->sample_freq <= most)
		return ret;
	sampling_note(p, "%llu Hz instead of %llu: perf_event_max_sample_rate", (unsigned long long)most,
		      (unsigned long long)attr->sample_freq);
	p->samples.frequency = attr->sample_freq = most;
	return rings_open_identified(p, attr, child, mapping);
}

static int rings_open_precise(struct sampling *p, const struct source *from, struct perf_event_attr *attr, pid_t child,
			      bool *mapping)
{
	int ret = -EOPNOTSUPP;

	for (u32 precise = from->clock ? 1 : PRECISE_MOST + 1; precise--;) {
		attr->precise_ip = precise & 3;
		ret = rings_open_rate(p, attr, child, mapping);
		if (!ret && precise)
			sampling_note(p, "precise level %u", precise);
		if (ret != -EOPNOTSUPP && ret != -EINVAL && ret != -ENOENT)
			return ret;
	}
	return ret;
}

static int rings_open_side(struct session *s, const struct source *from, bool *mapping)
{
	struct sampling *p = s->sampling;
	struct perf_event_attr attr;
	int ret;

	p->kernel = true;
	attr_make(s, from, &attr);
	ret = rings_open_precise(p, from, &attr, p->task, mapping);
	if ((ret != -EACCES && ret != -EPERM) || *mapping)
		return ret;
	p->kernel = false;
	attr_make(s, from, &attr);
	return rings_open_precise(p, from, &attr, p->task, mapping);
}

/* Need and limits, in the report and at once. */
static void rings_tell(struct sampling *p)
{
	size_t kib = (size_t)sysconf(_SC_PAGESIZE) / 1024;
	unsigned long long user = number_in("/proc/sys/kernel/perf_event_mlock_kb", 0);
	struct rlimit limit = { .rlim_cur = 0 };
	char own[32] = "unlimited";

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur != RLIM_INFINITY)
		snprintf(own, sizeof(own), "%llu", (unsigned long long)limit.rlim_cur / 1024);
	sampling_note(p, "rings of %zu KiB instead of %zu (perf_event_mlock_kb %llu, ulimit -l %s)", p->pages * kib,
		      p->wanted * kib, user, own);
	verbose(1, "sampling rings of %zu KiB for each CPU instead of %zu: perf_event_mlock_kb is %llu, ulimit -l is %s, and what"
		" this user has locked already counts", p->pages * kib, p->wanted * kib, user, own);
}

/* Rings shrink until they fit into what the user may lock (perf_event_open(2), "perf_event_mlock_kb"). */
static int rings_open_fitting(struct session *s, const struct source *from, bool *mapping)
{
	struct sampling *p = s->sampling;
	size_t planned = p->pages;
	int ret;

	for (;; p->pages /= 2) {
		ret = rings_open_side(s, from, mapping);
		if (ret != -EPERM || !*mapping || p->pages <= PAGES_LEAST)
			break;
	}
	if (!ret && p->pages < p->wanted)
		rings_tell(p);
	else if (ret)
		p->pages = planned;
	return ret;
}

/* What the locked memory leaves for each CPU's ring, by the kernel's account (kernel/events/core.c, perf_mmap). */
static size_t pages_planned(const struct session *s, size_t wanted)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	size_t user = number_in("/proc/sys/kernel/perf_event_mlock_kb", 516) * 1024 / page * cpus, taken = 0;
	struct rlimit limit;

	if (geteuid() == 0)
		return wanted;
	for (u32 i = 0; i < s->track.count; i++)
		taken += s->track.rings[i].size / page;
	if (s->plan.wire)
		taken += RESERVED_PAGES * cpus;
	if (!getrlimit(RLIMIT_MEMLOCK, &limit))
		user += limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX / 2 : (size_t)limit.rlim_cur / page;
	while (wanted > PAGES_LEAST && (wanted + 1) * cpus + taken > user)
		wanted /= 2;
	return wanted;
}

static void stacks_choose(struct session *s)
{
	const struct session_sampling *o = s->options->sampling;
	struct sampling *p = s->sampling;

	p->stacks = o && o->stacks == SESSION_STACKS_NONE ? 0 : PERF_SAMPLE_CALLCHAIN;
	if (!o || o->stacks == SESSION_STACKS_BEST || o->stacks == SESSION_STACKS_DWARF)
		p->regs = chains_registers();
	if (p->regs)
		p->stacks |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	else if (o && o->stacks == SESSION_STACKS_DWARF)
		sampling_note(p, "stacks by frame pointers: unwinding does not work here");
	p->wanted = p->stacks & PERF_SAMPLE_STACK_USER ? PAGES_STACKS : PAGES_PLAIN;
	p->pages = pages_planned(s, p->wanted);
	if (!o)
		return;
	p->samples.stack_bytes = p->stacks & PERF_SAMPLE_STACK_USER ? o->stack_bytes : 0;
	p->samples.stacks = strdup(!p->stacks ? "none" : p->samples.stack_bytes ? "dwarf" : "fp");
}

/* The first source that works. 0 or -errno. */
static int sources_try(struct session *s, bool *mapping)
{
	struct sampling *p = s->sampling;
	int ret = -ENOENT;

	if (!s->options->sampling)
		return rings_open_fitting(s, &switches, mapping);
	for (size_t i = 0; ret && i < ARRAY_SIZE(sources); i++) {
		ret = rings_open_fitting(s, &sources[i], mapping);
		if (ret)
			continue;
		p->samples.event = strdup(sources[i].name);
		p->samples.clock = sources[i].clock;
	}
	return ret;
}

static void sampling_open_on(struct session *s, pid_t task, bool attached)
{
	struct sampling *p = calloc(1, sizeof(*p));
	struct outcome why;
	bool mapping = false;
	int ret = -ENOMEM;

	s->sampling = p;
	if (!p)
		return;
	p->task = task;
	p->attached = attached;
	samples_init(&p->samples);
	/* Four times: for stacks at switches, wake-ups and their stacks, too. */
	p->rings = calloc(4 * (size_t)sysconf(_SC_NPROCESSORS_CONF), sizeof(*p->rings));
	p->spaces = spaces_new();
	p->chains = chains_new();
	if (s->options->sampling && !s->options->sampling->period)
		p->samples.frequency = s->options->sampling->frequency;
	if (p->samples.frequency == SESSION_FREQUENCY_MAX)
		p->samples.frequency = rate_most();
	p->walks = calloc(4 * (size_t)sysconf(_SC_NPROCESSORS_CONF), sizeof(*p->walks));
	p->edges = calloc((size_t)sysconf(_SC_NPROCESSORS_CONF), sizeof(*p->edges));
	if (p->rings && p->walks && p->edges && p->spaces && p->chains) {
		stacks_choose(s);
		ret = sources_try(s, &mapping);
	}
	if (!ret && !p->kernel && s->options->sampling)
		sampling_note(p, "user mode alone");
	if (!ret && s->options->off_cpu)
		offcpu_open(s);
	if (!ret)
		return;
	why = mapping ? advice_ring(&s->caps, -ret) : advice_perf_scope(&s->caps, -ret, ADVICE_USER);
	warning("no %s: %s%s%s", s->options->sampling ? "samples" : "switches", why.because, why.remedy[0] ? ": " : "", why.remedy);
	if (s->options->off_cpu && p->rings && p->spaces && p->chains)
		offcpu_open(s);
	else
		sampling_free(s);
}

void sampling_open(struct session *s)
{
	sampling_open_on(s, s->spawn.pid, false);
}

void sampling_open_attached(struct session *s, pid_t tid)
{
	sampling_open_on(s, tid, true);
}

int sampling_add(struct session *s, pid_t tid)
{
	struct sampling *p = s->sampling;
	int err = p ? feed_add(&p->feed, p->rings, p->nrings, &p->attr, tid) : 0;

	return p && p->off && !err ? offcpu_add(s, tid) : err;
}

void sampling_look(struct session *s, u64 time_ns)
{
	for (size_t i = 0; s->sampling && i < s->processes.count; i++)
		spaces_snapshot(s->sampling->spaces, s->processes.list[i]->facts.pid, time_ns);
}
