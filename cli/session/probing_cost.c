/* SPDX-License-Identifier: MIT */
/*
 * What an entry and a return that are caught take, tried on functions that do nothing. The kernel does
 * itself what a function's first instruction would, if it knows how; else it lets the CPU step it,
 * which can take ten times as long in a virtual machine. So there are two functions.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/session/internal.h"
#include "cli/session/probe_ring.h"
#include "cli/session/probing.h"
#include "cli/symbols/function.h"
#include "cli/symbols/unwind_arch.h"

#define ROUNDS 16
#define CALLS 32

static __attribute__((noinline)) u64 inner(u64 value)
{
	barrier();
	return value + 1; /* unlike empty(): equal ones may be made one */
}

/* What has to keep something begins with a push. */
static __attribute__((noinline)) u64 keeping(u64 value)
{
	inner(value);
	barrier();
	return value;
}

static __attribute__((noinline)) u64 empty(u64 value)
{
	barrier();
	return value;
}

static u64 (*const functions[PROBING_OWN])(u64) = { empty, keeping };

/* Where a function's code lies in our own file, by what is mapped. */
static bool own_offset(u64 address, u64 *offset)
{
	unsigned long long start, end, from;
	char line[512];
	bool found = false;
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && !found && fgets(line, sizeof(line), f)) {
		found = sscanf(line, "%llx-%llx %*s %llx", &start, &end, &from) == 3 && address >= start && address < end;
		if (found)
			*offset = address - start + from;
	}
	if (f)
		fclose(f);
	return found;
}

void probing_own(struct probing *p)
{
	static char name[] = "sparkctl", path[] = "/proc/self/exe";
	/* Not what is in memory: another sparkctl's probes may be there. */
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	u8 code[4];

	for (u32 i = 0; i < PROBING_OWN; i++) {
		u64 offset;

		if (!own_offset((u64)(uintptr_t)functions[i], &offset) || pread(fd, code, sizeof(code), (off_t)offset) != sizeof(code))
			continue;
		p->own[p->nown++] = (struct probe){
			.name = name, .path = path, .offset = offset, .stepped = function_stepped(UNWIND_MACHINE, code),
		};
	}
	if (p->nown != PROBING_OWN)
		p->nown = 0;
	if (fd >= 0)
		close(fd);
}

struct spans {
	const struct probing *probing;
	u64 entered_ns;
	u64 list[PROBING_OWN][ROUNDS * CALLS];
	u32 n[PROBING_OWN];
};

static void span_take(void *context, const struct probe_record *r)
{
	struct spans *spans = context;
	const struct probing_event *event = r->type == PERF_RECORD_SAMPLE ? probing_event(spans->probing, r->id) : NULL;
	u32 own = event && event->function >= spans->probing->list->n ? event->function - spans->probing->list->n : PROBING_OWN;

	if (own >= PROBING_OWN || r->pid != (u32)getpid())
		return;
	if (event->at_return && spans->entered_ns && spans->n[own] < ROUNDS * CALLS)
		spans->list[own][spans->n[own]++] = r->time_ns - spans->entered_ns;
	spans->entered_ns = event->at_return ? 0 : r->time_ns;
}

static int span_order(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The time of a call when nothing came between. */
static u64 call_ns(u64 (*function)(u64))
{
	u64 least = UINT64_MAX;

	for (u32 i = 0; i < ROUNDS; i++) {
		u64 before = session_now();

		for (u32 k = 0; k < CALLS; k++)
			function(k);
		least = MIN(least, (session_now() - before) / CALLS);
	}
	return least;
}

/* The one that is like it, else the first. */
static u32 own_like(const struct probing *p, const struct probe *probe)
{
	for (u32 i = 0; i < p->nown; i++)
		if (p->own[i].stepped == probe->stepped)
			return i;
	return 0;
}

void probing_measure(struct probing *p)
{
	struct spans *spans = calloc(1, sizeof(*spans));
	u64 pair_ns[PROBING_OWN];

	for (u32 i = 0; i < p->nown; i++)
		pair_ns[i] = call_ns(functions[i]);
	for (u32 i = 0; i < p->nevents; i++)
		if (p->events[i].function >= p->list->n)
			ioctl(p->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	if (!spans || !p->nown) {
		free(spans);
		return;
	}
	spans->probing = p;
	probe_rings_read(p->rings, p->nrings, session_now(), span_take, spans);
	for (u32 i = 0; i < p->nown; i++)
		qsort(spans->list[i], spans->n[i], sizeof(spans->list[i][0]), span_order);
	for (u32 i = 0; i < p->list->n; i++) {
		u32 own = own_like(p, &p->list->probe[i]);

		/* Of static probes it is not known. */
		if (!spans->n[own] || p->list->probe[i].nsites)
			continue;
		p->pair_ns[i] = pair_ns[own];
		p->calls.bracket_ns[i] = spans->list[own][spans->n[own] / 2];
	}
	free(spans);
}
