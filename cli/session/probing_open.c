/* SPDX-License-Identifier: MIT */
/* Opening probes and their rings; see probing.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/session/internal.h"
#include "cli/session/probe_ring.h"
#include "cli/session/probing.h"
#include "cli/symbols/unwind_arch.h"

#define PAGES_MOST 512u            /* of a ring: 2 MiB, 40,000 records */
#define PAGES_LEAST 8u

static void attr_make(struct perf_event_attr *attr, u32 type, u64 config)
{
	perf_attr_init(attr, type, config);
	attr->read_format = 0;
	attr->sample_period = 1;
	attr->sample_type = PROBE_SAMPLE;
	attr->sample_regs_user = 1ull << UNWIND_SP; /* perf and DWARF give it the same number here */
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC_RAW;
}

/* The ring of a CPU belongs to an event that only tells of forks, execs and exits. */
static int ring_open_on(struct probing *p, u32 cpu, size_t *pages)
{
	struct perf_event_attr attr;
	bool mapping = false;
	int ret;

	for (;; *pages /= 2) {
		attr_make(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
		attr.sample_period = 0;
		attr.task = attr.comm = attr.comm_exec = 1;
		attr.watermark = 1;
		attr.wakeup_watermark = (u32)(*pages * (size_t)sysconf(_SC_PAGESIZE) / 4);
		ret = ring_open(&p->rings[p->nrings], &attr, -1, cpu, *pages, &mapping);
		if (ret != -EPERM || !mapping || *pages <= PAGES_LEAST)
			break;
	}
	p->nrings += !ret;
	return ret;
}

static int event_open(struct probing *p, const char *path, u64 offset, u64 config, u32 function, bool at_return)
{
	const struct ring *ring = &p->rings[p->nrings - 1];
	struct probing_event *event = &p->events[p->nevents];
	struct perf_event_attr attr;
	int err;

	attr_make(&attr, p->list->type, config);
	attr.config1 = (u64)(uintptr_t)path;
	attr.config2 = offset;
	*event = (struct probing_event){ .function = function, .at_return = at_return };
	event->fd = perf_open(&attr, -1, (int)ring->cpu, -1, 0);
	if (event->fd < 0)
		return event->fd;
	p->nevents++;
	err = ioctl(event->fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) || ioctl(event->fd, PERF_EVENT_IOC_ID, &event->id) ? -errno
														      : 0;
	return err;
}

/* Ends first. */
static int sites_open(struct probing *p, const struct probe *probe, u32 function)
{
	int ret = 0;

	for (int ends = 1; ends >= 0; ends--)
		for (u32 i = 0; !ret && i < probe->nsites; i++)
			if (probe->site[i].ends == ends)
				ret = event_open(p, probe->path, probe->site[i].offset,
					probe->site[i].semaphore << p->list->semaphore_shift, function, ends);
	return ret;
}

/* Returns first: a call that is seen to begin is seen to end. */
static int events_open(struct probing *p, const struct probe **bad)
{
	u32 n = p->list->n;
	int ret = 0;

	for (u32 i = 0; !ret && i < n + p->nown; i++) {
		*bad = i < n ? &p->list->probe[i] : &p->own[i - n];
		if ((*bad)->nsites) {
			ret = sites_open(p, *bad, i);
			continue;
		}
		ret = event_open(p, (*bad)->path, (*bad)->offset, p->list->at_return, i, true);
		ret = ret ? ret : event_open(p, (*bad)->path, (*bad)->offset, 0, i, false);
	}
	return ret;
}

static int open_failed(struct session *s, const struct probe *bad, int err)
{
	struct outcome why = advice_perf_privilege(&s->caps, err);

	if (bad && (err == EINVAL || err == EIO || err == 524 || err == EOPNOTSUPP || err == EILSEQ))
		return error("the kernel refuses a probe at %s of %s (%s)", bad->name, bad->path, advice_errno_name(err));
	return error("no regions by uprobes: %s%s%s", why.because, why.remedy[0] ? ": " : "", why.remedy);
}

static int event_order(const void *a, const void *b)
{
	const struct probing_event *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int cpus_open(struct session *s, struct probing *p, u32 cpus)
{
	const struct probe *bad = NULL;
	size_t pages = PAGES_MOST;

	for (u32 cpu = 0; cpu < cpus; cpu++) {
		int ret = ring_open_on(p, cpu, &pages);

		if (ret == -ENODEV) /* offline */
			continue;
		ret = ret ? ret : events_open(p, &bad);
		if (ret)
			return open_failed(s, bad, -ret);
	}
	qsort(p->events, p->nevents, sizeof(*p->events), event_order);
	return 0;
}

/* A fork has a record of each ring, and that by which the process is known has a later time than ours. */
static u32 process_of(void *context, u32 pid, u64 ns)
{
	struct session *s = context;
	u64 at = ns > s->start_ns ? ns - s->start_ns : 0;
	struct process *p = process_find_at(&s->processes, pid, at);

	p = p ? p : process_find_at(&s->processes, pid, at + NSEC_PER_MSEC);
	return p ? p->facts.id : 0;
}

int probing_open(struct session *s)
{
	const struct probe_list *list = s->options->probes;
	struct probing *p = calloc(1, sizeof(*p));
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF), events = 2 * (size_t)PROBING_OWN;

	s->probing = p;
	if (!p)
		return error("out of memory");
	p->list = list;
	p->names = calloc(list->n, sizeof(*p->names));
	p->paths = calloc(list->n, sizeof(*p->paths));
	p->totals = calloc(list->n, sizeof(*p->totals));
	p->pair_ns = calloc(list->n, sizeof(*p->pair_ns));
	p->rings = calloc(cpus, sizeof(*p->rings));
	for (u32 i = 0; i < list->n; i++)
		events += list->probe[i].nsites ? list->probe[i].nsites : 2;
	p->events = calloc(cpus * events, sizeof(*p->events));
	p->calls = (struct calls){
		.profile = &s->profile, .names = p->names, .nfunctions = list->n, .process = process_of, .context = s,
		.bracket_ns = calloc(list->n, sizeof(u64)), .paired = calloc(list->n, sizeof(u64)),
		.paths = (const char *const *)p->paths, .met = calloc(list->n, sizeof(bool)),
	};
	if (!p->names || !p->paths || !p->totals || !p->calls.met || !p->pair_ns || !p->rings || !p->events || !p->calls.bracket_ns || !p->calls.paired)
		return error("out of memory");
	for (u32 i = 0; i < list->n; i++) {
		p->names[i] = list->probe[i].name;
		p->paths[i] = realpath(list->probe[i].path, NULL);
		if (asprintf(&p->totals[i], CALLS_PAIR "%s", p->names[i]) < 0)
			p->totals[i] = NULL;
	}
	probing_own(p);
	if (cpus_open(s, p, (u32)cpus))
		return -1;
	probing_measure(p);
	if (list->throwing)
		warning("an exception that leaves %s would end the program: the kernel's probes hide the caller from it",
			list->throwing);
	return 0;
}
