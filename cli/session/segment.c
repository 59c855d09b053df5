/* SPDX-License-Identifier: MIT */
/*
 * Segments as sparkctl sees them. It makes and sizes the memfd, preallocates its beginning, so that
 * the target neither meets RLIMIT_FSIZE nor pays for the first pages, and seals it against resizing
 * (memfd_create(2), fcntl(2) F_ADD_SEALS). It reads by pread(2) into private memory: nothing
 * changes under the decoder and holes cost nothing.
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"
#include "cli/session/tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/log.h"
#include "common/source_table.h"

#define PREALLOCATED (64u << 10)
#define COPY_ROUNDS 4

/* Behind what there is; the agent takes its own memory from behind that. The ref of it, or 0. */
static u32 segment_put(const struct segment *g, struct wire_header *h, const void *bytes, u32 size)
{
	u64 at = h->used;

	/* The agent has it in its first mapping. */
	if (at + size > WIRE_CHUNK || pwrite(g->fd, bytes, size, (off_t)at) != (ssize_t)size)
		return 0;
	h->used = at + ALIGN_UP(size, WIRE_PAGE);
	return (u32)(at / WIRE_UNIT);
}

static int segment_put_all(struct segment *g, struct wire_header *h, const struct segment_params *params)
{
	if (params->plan) {
		h->plan = segment_put(g, h, params->plan, params->plan->size);
		h->cells += wire_plan_cells(params->plan->events, params->plan->groups);
	}
	if (params->calls) {
		h->calls = segment_put(g, h, params->calls, params->calls->size);
		g->released = (off_t)h->calls * WIRE_UNIT + (off_t)offsetof(struct wire_calls, released);
	}
	if (params->files)
		h->files = segment_put(g, h, params->files, params->files->size);
	return (params->plan && !h->plan) || (params->calls && !h->calls) ? -1 : 0;
}

struct segment *segment_new(const struct segment_params *params)
{
	struct segment *g = calloc(1, sizeof(*g));
	struct wire_header *h;

	if (!g) {
		error("out of memory");
		return NULL;
	}
	g->fd = descriptor_keep(memfd_create("spark", MFD_CLOEXEC | MFD_ALLOW_SEALING), DESCRIPTORS_SPARE);
	if (g->fd < 0 || ftruncate(g->fd, WIRE_SEGMENT_SIZE))
		goto fail;
	/* Only a gain in time: a file system without it fills the pages when they are touched. */
	if (fallocate(g->fd, 0, 0, PREALLOCATED))
		verbose(2, "cannot preallocate a segment: %s", strerror(errno));
	if (fcntl(g->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		goto fail;
	h = mmap(NULL, WIRE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, g->fd, 0);
	if (h == MAP_FAILED)
		goto fail;
	h->version = WIRE_VERSION;
	h->clock = params->clock;
	h->size = WIRE_SEGMENT_SIZE;
	h->ticks_per_ns = params->ticks_per_ns;
	h->used = WIRE_PAGE;
	h->sources = params->sources;
	h->cells = source_cells(params->sources);
	if (segment_put_all(g, h, params))
		goto fail;
	h->magic = WIRE_MAGIC;
	g->header = h;
	return g;
fail:
	error("cannot make shared memory for the agent: %s", strerror(errno));
	segment_free(g);
	return NULL;
}

/* Whoever still runs need not pay for regions that nobody will see. */
static void segment_release(const struct segment *g)
{
	const u32 yes = 1;

	if (g->over)
		return;
	if (pwrite(g->fd, &yes, sizeof(yes), (off_t)offsetof(struct wire_header, released)) != (ssize_t)sizeof(yes))
		verbose(1, "a process that goes on stays measured: %s", strerror(errno));
	if (g->released && pwrite(g->fd, &yes, sizeof(yes), g->released) != (ssize_t)sizeof(yes))
		verbose(1, "calls of a process that goes on stay bracketed: %s", strerror(errno));
}

int segment_put_functions(struct segment *g, const struct wire_functions *functions)
{
	g->header->functions = segment_put(g, g->header, functions, functions->size);
	return g->header->functions ? 0 : -1;
}

void segment_put_files(struct segment *g, const struct wire_files *files)
{
	g->header->files = segment_put(g, g->header, files, files->size);
}

void segment_close(struct segment *g)
{
	if (g->fd < 0)
		return;
	segment_release(g);
	if (g->header)
		munmap(g->header, WIRE_PAGE);
	g->header = NULL;
	close(g->fd);
	g->fd = -1;
}

void segment_free(struct segment *g)
{
	if (!g)
		return;
	segment_close(g);
	free(g->slots);
	ref_map_fini(&g->regions);
	tracing_drop(g);
	free(g);
}

/* The kernel refuses to seal a file against writing as long as somebody has it mapped to be written. */
bool segment_in_use(struct segment *g)
{
	bool used;
	void *h;

	if (g->over)
		return false;
	munmap(g->header, WIRE_PAGE);
	used = fcntl(g->fd, F_ADD_SEALS, F_SEAL_WRITE) != 0 && errno == EBUSY;
	h = used ? mmap(NULL, WIRE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, g->fd, 0) : MAP_FAILED;
	/* The target has the descriptor too, and may have set seals of its own: then we read what there is. */
	if (h == MAP_FAILED) {
		used = false;
		h = mmap(NULL, WIRE_PAGE, PROT_READ, MAP_PRIVATE, g->fd, 0);
	}
	g->header = h == MAP_FAILED ? NULL : h;
	g->over = !used;
	return used;
}

static int copy_extent(int fd, u8 *base, off_t from, off_t to)
{
	while (from < to) {
		ssize_t n = pread(fd, base + from, (size_t)(to - from), from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		from += n;
	}
	return 0;
}

static off_t segment_used(const struct segment *g)
{
	return (off_t)ALIGN_UP(MIN(load_acquire(&g->header->used), (u64)WIRE_SEGMENT_SIZE), (u64)WIRE_PAGE);
}

static int copy_range(int fd, u8 *base, off_t to, off_t end)
{
	off_t from;

	while (to < end && (from = lseek(fd, to, SEEK_DATA)) >= 0 && from < end) {
		to = lseek(fd, from, SEEK_HOLE);
		to = to < 0 ? end : MIN(to, end);
		if (copy_extent(fd, base, from, to))
			return -1;
	}
	return 0;
}

/* What was taken into use meanwhile is copied too: what has been copied may refer to it. */
int segment_copy(const struct segment *g, struct wire_view *view)
{
	off_t have = 0, size;
	u8 *base = NULL;

	for (u32 round = 0; round < COPY_ROUNDS && (size = segment_used(g)) > have; round++) {
		void *more = base ? mremap(base, (size_t)have + 1, (size_t)size + 1, MREMAP_MAYMOVE)
				  : mmap(NULL, (size_t)size + 1, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (more == MAP_FAILED)
			goto fail;
		base = more;
		if (copy_range(g->fd, base, have, size)) {
			have = size;
			goto fail;
		}
		have = size;
	}
	*view = (struct wire_view){ .base = base, .size = (u64)have };
	return 0;
fail:
	error("cannot read a segment: %s", strerror(errno));
	if (base)
		munmap(base, (size_t)have + 1);
	return -1;
}

void segment_drop_copy(struct wire_view *view)
{
	if (view->base)
		munmap((void *)(uintptr_t)view->base, view->size + 1);
	view->base = NULL;
}

static void write_at(const struct segment *g, const void *bytes, size_t size, u64 at)
{
	if (pwrite(g->fd, bytes, size, (off_t)at) != (ssize_t)size)
		verbose(1, "cannot empty a slot: %s", strerror(errno));
}

/* Items gone, links kept: the agent takes the pages again. */
static void reap_pages(const struct segment *g, struct wire_view *view, u32 first)
{
	struct wire_walk walk = wire_walk_from(first);
	const struct wire_page *p;

	/* Each page lies in one list: more than there are is no good faith. */
	while (view->reaped++ < view->size / WIRE_PAGE && (p = wire_next_page(view, &walk))) {
		u8 empty[WIRE_PAGE] = { 0 };
		struct wire_page *head = (struct wire_page *)empty;

		head->next = p->next;
		head->kind = p->kind;
		write_at(g, empty, sizeof(empty), (u64)walk.ref * WIRE_UNIT);
	}
}

void segment_reap_slot(const struct segment *g, struct wire_view *view, u32 ref)
{
	const struct wire_slot *slot = wire_view_slot(view, ref);
	u64 at = (u64)ref * WIRE_UNIT, head = load_acquire(&g->header->free_slots);
	struct wire_slot empty = { .next = slot->next, .watch = slot->watch };

	memcpy(empty.lanes, slot->lanes, sizeof(empty.lanes));
	for (u32 i = 0; i < WIRE_LANES; i++) {
		const struct wire_lane *l = wire_view_lane(view, slot, i);

		if (!l)
			continue;
		reap_pages(g, view, l->node_pages);
		reap_pages(g, view, l->hist_pages);
	}
	do {
		empty.next_free = (u32)head;
		write_at(g, &empty, sizeof(empty), at);
	} while (!compare_exchange(&g->header->free_slots, &head, ((head >> 32) + 1) << 32 | ref));
}
