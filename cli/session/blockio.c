/* SPDX-License-Identifier: MIT */
/* Devices at both ends of a run; see blockio.h. */
#define _GNU_SOURCE
#include "cli/session/blockio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/session/internal.h"

#define DISKSTATS "/proc/diskstats"
#define DISKSTATS_ROOM (1u << 20)  /* bytes: some thousand devices */

/* Why it cannot be read is in floor. */
static bool stats_read(struct session *s, struct block_stats *stats, char *floor, size_t size)
{
	char *text = malloc(DISKSTATS_ROOM);
	long got = text ? facts_read(&s->caps, DISKSTATS, text, DISKSTATS_ROOM) : -ENOMEM;

	*stats = (struct block_stats){ .time_ns = session_now() };
	floor[0] = '\0';
	if (got < 0)
		snprintf(floor, size, DISKSTATS ": %s", advice_errno_name((int)-got));
	else if (got >= (long)DISKSTATS_ROOM - 1)
		snprintf(floor, size, DISKSTATS " has more devices than are looked at");
	else if (block_stats_parse(stats, text, (size_t)got))
		snprintf(floor, size, "out of memory");
	else if (!stats->n)
		snprintf(floor, size, DISKSTATS " names no device");
	if (got >= 0)
		stats->time_ns = session_now();
	free(text);
	return !floor[0];
}

static enum block_kind kind_of(const struct block_stat *stat)
{
	return disk_kind(stat->name);
}

void blockio_open(struct session *s)
{
	struct blockio *b = calloc(1, sizeof(*b));

	s->blockio = b;
	if (!b) {
		warning("no block I/O: out of memory");
		return;
	}
	blockio_open_rings(s);
	stats_read(s, &b->before, b->block.floor, sizeof(b->block.floor));
}

u32 blockio_polled(const struct session *s)
{
	return s->blockio ? s->blockio->nrings : 0;
}

u32 blockio_poll_fds(const struct session *s, struct pollfd *fds)
{
	u32 n = blockio_polled(s);

	for (u32 i = 0; i < n; i++)
		fds[i] = (struct pollfd){ .fd = s->blockio->rings[i].fd, .events = POLLIN };
	return n;
}

static void blockio_look(struct session *s)
{
	struct blockio *b = s->blockio;
	struct block_stats now;

	/* Without a beginning there is no difference. */
	if (b->before.n && stats_read(s, &now, b->block.floor, sizeof(b->block.floor))) {
		if (block_between(&b->block, &b->before, &now, kind_of))
			snprintf(b->block.floor, sizeof(b->block.floor), "out of memory");
		block_stats_free(&now);
	}
	if (b->block.floor[0])
		b->block.ndevices = 0;
}

void blockio_end(struct session *s)
{
	struct blockio *b = s->blockio;

	if (!b || b->ended)
		return;
	blockio_drain(s, true);
	if (b->pairs)
		block_pairs_end(b->pairs);
	blockio_look(s);
	b->ended = true;
}

void blockio_facts(struct session *s)
{
	if (!s->blockio)
		return;
	if (!s->blockio->ended)
		blockio_look(s);
	s->facts.block = &s->blockio->block;
}

void blockio_free(struct session *s)
{
	struct blockio *b = s->blockio;

	if (!b)
		return;
	/* The kernel takes 100 ms to close them. */
	if (b->nevents)
		descriptors_leave();
	for (u32 i = 0; i < b->nevents; i++)
		close(b->events[i]);
	while (b->nrings)
		ring_close(&b->rings[--b->nrings]);
	descriptors_left();
	block_pairs_free(b->pairs);
	block_stats_free(&b->before);
	block_fini(&b->block);
	free(b->events);
	free(b->last_ns);
	free(b->rings);
	free(b);
	s->blockio = NULL;
}
