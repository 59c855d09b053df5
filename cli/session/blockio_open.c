/* SPDX-License-Identifier: MIT */
/* Opening the tracepoints of requests on each CPU; see blockio.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/session/blockio.h"
#include "cli/session/internal.h"
#include "cli/session/tracepoint.h"

#define PAGES_MOST 256u            /* of a ring: 1 MiB, some 8,000 records */
#define PAGES_LEAST 8u

static const char *const event_names[BLOCKIO_EVENTS] = {
	[BLOCKIO_ISSUE] = "block/block_rq_issue", [BLOCKIO_COMPLETE] = "block/block_rq_complete",
	[BLOCKIO_REQUEUE] = "block/block_rq_requeue",
};

const char *blockio_format(const char *text, struct blockio_format *f)
{
	u32 size;
	u64 id;

	*f = (struct blockio_format){ .id = 0 };
	if (!tracepoint_id(text, &id) || !id || id > UINT16_MAX)
		return "ID";
	f->id = (u32)id;
	if (!tracepoint_field(text, "dev", &f->dev, &size) || size != sizeof(u32))
		return "dev";
	if (!tracepoint_field(text, "sector", &f->sector, &size) || size != sizeof(u64))
		return "sector";
	if (!tracepoint_field(text, "nr_sector", &f->sectors, &size) || size != sizeof(u32))
		return "nr_sector";
	if (!tracepoint_field(text, "rwbs", &f->rwbs, &f->rwbs_size) || !f->rwbs_size || f->rwbs_size > 64)
		return "rwbs";
	if (!tracepoint_field(text, "error", &f->error, &size) || size != sizeof(u32))
		f->error = 0;
	return NULL;
}

/* What a user may not do is the reason, whatever he may read. */
static bool cpu_refused(struct session *s, struct outcome *why)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	fd = perf_open(&attr, -1, 0, -1, 0);
	if (fd >= 0)
		close(fd);
	if (fd != -EACCES && fd != -EPERM)
		return false;
	*why = advice_perf_scope(&s->caps, -fd, ADVICE_TRACE);
	return true;
}

/* Why not is in *why. */
static bool formats_read(struct session *s, struct outcome *why)
{
	struct blockio *b = s->blockio;
	const char *missing;
	char text[4096];

	for (u32 i = 0; i < BLOCKIO_EVENTS; i++) {
		if (!tracing_format(&s->caps, event_names[i], text, sizeof(text), why))
			return false;
		missing = blockio_format(text, &b->format[i]);
		if (missing) {
			*why = outcome_no("", "the tracepoint %s has no %s", event_names[i], missing);
			return false;
		}
	}
	return true;
}

/* Ends first: a request that is seen to begin is seen to end. 0 or -errno. */
static int cpu_open(struct blockio *b, u32 cpu, size_t *pages)
{
	struct ring *ring = &b->rings[b->nrings];
	struct perf_event_attr attr;
	bool mapping = false;
	int ret;

	for (;; *pages /= 2) {
		tracepoint_attr(&attr, b->format[BLOCKIO_COMPLETE].id, 0, *pages);
		ret = ring_open(ring, &attr, -1, cpu, *pages, &mapping);
		if (ret != -EPERM || !mapping || *pages <= PAGES_LEAST)
			break;
	}
	if (ret)
		return ret;
	b->nrings++;
	for (u32 i = 0; i < BLOCKIO_EVENTS; i++) {
		if (i == BLOCKIO_COMPLETE)
			continue;
		tracepoint_attr(&attr, b->format[i].id, 0, *pages);
		ret = perf_open(&attr, -1, (int)cpu, -1, 0);
		if (ret < 0)
			return ret;
		b->events[b->nevents++] = ret;
		if (ioctl(ret, PERF_EVENT_IOC_SET_OUTPUT, ring->fd))
			return -errno;
	}
	return 0;
}

static void rings_close(struct blockio *b)
{
	while (b->nevents)
		close(b->events[--b->nevents]);
	while (b->nrings)
		ring_close(&b->rings[--b->nrings]);
}

static int cpus_open(struct blockio *b, u32 cpus)
{
	size_t pages = PAGES_MOST;

	for (u32 cpu = 0; cpu < cpus; cpu++) {
		int ret = cpu_open(b, cpu, &pages);

		if (ret && ret != -ENODEV) /* offline */
			return ret;
	}
	return b->nrings ? 0 : -ENODEV;
}

void blockio_open_rings(struct session *s)
{
	struct blockio *b = s->blockio;
	size_t cpus = (size_t)MAX(sysconf(_SC_NPROCESSORS_CONF), 1l);
	struct outcome why = { .because = "out of memory" };
	int ret;

	if (!cpu_refused(s, &why) && formats_read(s, &why)) {
		b->pairs = block_pairs_new(&b->block);
		b->rings = calloc(cpus, sizeof(*b->rings));
		b->last_ns = calloc(cpus, sizeof(*b->last_ns));
		b->events = calloc(cpus * BLOCKIO_EVENTS, sizeof(*b->events));
		ret = b->pairs && b->rings && b->last_ns && b->events ? cpus_open(b, (u32)cpus) : -ENOMEM;
		if (ret)
			rings_close(b);
		if (ret && ret != -ENOMEM)
			why = advice_perf_scope(&s->caps, -ret, ADVICE_TRACE);
	}
	b->block.records = b->nrings;
	if (!b->nrings)
		snprintf(b->block.why, sizeof(b->block.why), "%s%s%s", why.because, why.remedy[0] ? ": " : "", why.remedy);
}
