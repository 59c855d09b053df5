/* SPDX-License-Identifier: MIT */
/* The ring of an event on this thread, for probes that want records; see try.h. */
#include "cli/caps/try.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base.h"
#include "common/perf.h"

enum { RING_PAGES = 8 };

int try_ring_open(struct try_ring *ring, struct perf_event_attr *attr, int group,
	enum try_stage *stage)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at;
	int err;

	*stage = TRY_OPEN;
	memset(ring, 0, sizeof(*ring));
	ring->fd = perf_open(attr, 0, -1, group, 0);
	if (ring->fd < 0)
		return ring->fd;
	*stage = TRY_MAP;
	ring->size = (1 + RING_PAGES) * page;
	at = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (at == MAP_FAILED) {
		err = -errno;
		close(ring->fd);
		return err;
	}
	ring->page = at;
	return 0;
}

/* Copies bytes out of the ring, which may wrap; offsets are those of the kernel, that only grow. */
static void ring_copy(const struct try_ring *ring, uint64_t from, void *to, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = RING_PAGES * page, i;
	const unsigned char *data = (const unsigned char *)ring->page + page;

	for (i = 0; i < len; i++)
		((unsigned char *)to)[i] = data[(from + i) % size];
}

size_t try_ring_next(struct try_ring *ring, uint32_t type, void *record, size_t size)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), at;
	struct perf_event_header header;

	while (head - ring->next >= sizeof(header)) {
		at = ring->next;
		ring_copy(ring, at, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - at)
			return 0;
		ring->next = at + header.size;
		if (header.type != type)
			continue;
		ring_copy(ring, at, record, MIN(size, header.size));
		return header.size;
	}
	return 0;
}

void try_ring_close(struct try_ring *ring)
{
	munmap(ring->page, ring->size);
	try_close(ring->fd);
}

struct outcome try_ring_advice(const struct caps_context *context, enum try_stage stage, int err,
	enum advice_scope scope)
{
	return stage == TRY_OPEN ? advice_perf_scope(context, err, scope) :
				   advice_ring(context, err);
}
