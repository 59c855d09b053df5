/* SPDX-License-Identifier: MIT */
/* Events of many threads into one ring for each CPU; see feed.h. */
#define _GNU_SOURCE
#include "cli/session/feed.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/session/internal.h"

#define FEED_SPARE 32                /* descriptors for everything else */

int feed_ring_open(struct ring *ring, u32 cpu, size_t pages, bool *mapping)
{
	struct perf_event_attr attr;

	perf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.read_format = 0;
	attr.disabled = 1;
	attr.exclude_kernel = attr.exclude_hv = 1;
	/* Events of another clock are not let in. */
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC_RAW;
	attr.watermark = 1;
	attr.wakeup_watermark = (u32)(pages * (size_t)sysconf(_SC_PAGESIZE) / 2);
	return ring_open(ring, &attr, 0, cpu, pages, mapping);
}

static int feed_open(const struct ring *ring, struct perf_event_attr *attr, pid_t tid)
{
	int fd = perf_open(attr, tid, (int)ring->cpu, -1, 0);

	if (fd < 0)
		return fd;
	if (descriptor_keep(fd, FEED_SPARE) < 0)
		return -EMFILE;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

int feed_ring_try(struct ring *ring, struct perf_event_attr *attr, pid_t tid, u32 cpu, size_t pages, bool *mapping)
{
	struct feed trial = { .fd = NULL };
	int ret = feed_ring_open(ring, cpu, pages, mapping);

	if (ret)
		return ret;
	ret = feed_add(&trial, ring, 1, attr, tid);
	feed_close(&trial);
	if (ret)
		ring_close(ring);
	return ret;
}

int feed_add(struct feed *feed, const struct ring *rings, u32 nrings, struct perf_event_attr *attr, pid_t tid)
{
	size_t before = feed->n;

	if (feed->n + nrings > feed->room) {
		size_t room = MAX(2 * feed->room, feed->n + nrings);
		int *list = realloc(feed->fd, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		feed->fd = list;
		feed->room = room;
	}
	for (u32 i = 0; i < nrings; i++) {
		int fd = feed_open(&rings[i], attr, tid);

		if (fd < 0) {
			while (feed->n > before)
				close(feed->fd[--feed->n]);
			return fd;
		}
		feed->fd[feed->n++] = fd;
	}
	return 0;
}

void feed_close(struct feed *feed)
{
	while (feed->n)
		close(feed->fd[--feed->n]);
	free(feed->fd);
	*feed = (struct feed){ .fd = NULL };
}
