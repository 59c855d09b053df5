/* SPDX-License-Identifier: MIT */
/*
 * The shared segment as the agent sees it: mapped chunk by chunk, so that a target under RLIMIT_AS
 * or mlockall() pays for what it uses, and without a descriptor, which the target may close at any
 * time.
 *
 * A further chunk is had by mremap(2) with old_size 0 of the chunk before it: that maps the same
 * shared file again, from the old address's offset on, to any length (mremap(2), "old_size is
 * zero"). Chunks are published by compare-and-swap; the loser unmaps. Mappings are never undone:
 * markers hold pointers into them. A later session's segment is mapped in the place of the one before.
 */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <sys/mman.h>

#include "banned.h"

char *segment_chunks[WIRE_CHUNKS];

static void segment_publish(u32 chunk, char *p)
{
	char *expected = NULL;

	madvise(p, WIRE_CHUNK, MADV_DONTDUMP);
	if (!compare_exchange(&segment_chunks[chunk], &expected, p))
		munmap(p, WIRE_CHUNK);
}

int segment_open(int fd)
{
	for (u32 i = 0; i < WIRE_CHUNKS; i++) {
		char *at = load_relaxed(&segment_chunks[i]), *p;

		if (i && !at)
			continue;
		p = mmap(at, WIRE_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, (off_t)i * WIRE_CHUNK);
		if (p == MAP_FAILED)
			return -errno;
		if (at)
			madvise(p, WIRE_CHUNK, MADV_DONTDUMP);
		else
			segment_publish(i, p);
	}
	return 0;
}

/* MARKER. Maps chunks in order up to the one asked for. */
static bool segment_grow(u32 chunk)
{
	int saved = errno;
	bool ok = true;

	for (u32 i = 1; ok && i <= chunk; i++) {
		char *p;

		if (load_relaxed(&segment_chunks[i]))
			continue;
		if (agent_sealed()) {
			ok = false;
			break;
		}
		p = mremap(load_relaxed(&segment_chunks[i - 1]), 0, 2 * (size_t)WIRE_CHUNK, MREMAP_MAYMOVE);
		if (p == MAP_FAILED) {
			ok = false;
			break;
		}
		munmap(p, WIRE_CHUNK);
		segment_publish(i, p + WIRE_CHUNK);
	}
	errno = saved;
	return ok;
}

bool segment_reach(u32 ref)
{
	u32 chunk = ref / (WIRE_CHUNK / WIRE_UNIT);

	return chunk < WIRE_CHUNKS && (load_relaxed(&segment_chunks[chunk]) || segment_grow(chunk));
}

void *segment_map_ref(u32 ref)
{
	/* Nobody can go on without the memory that a ref names: a page that is never read by anyone stands in. */
	static char sink[WIRE_PAGE * 3] __attribute__((aligned(64)));

	if (!segment_grow(ref / (WIRE_CHUNK / WIRE_UNIT) % WIRE_CHUNKS))
		return sink;
	return segment_ptr(ref);
}

u32 segment_alloc(u32 bytes)
{
	u64 used = load_relaxed(&agent.header->used), at;

	/* Who cannot map it leaves it to the others. */
	do {
		at = used;
		if (at / WIRE_CHUNK != (at + bytes - 1) / WIRE_CHUNK)
			at = ALIGN_UP(at, (u64)WIRE_CHUNK);
		if (at > WIRE_SEGMENT_SIZE - bytes || !segment_reach((u32)(at / WIRE_UNIT)))
			return 0;
	} while (!compare_exchange(&agent.header->used, &used, at + bytes));
	return (u32)(at / WIRE_UNIT);
}

void *segment_private(size_t bytes, enum private_kind kind)
{
	int saved = errno;
	void *p;

	if (agent_sealed())
		return NULL;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		p = NULL;
	else if (kind != PRIVATE_INHERITED && madvise(p, bytes, kind == PRIVATE_WIPED ? MADV_WIPEONFORK : MADV_DONTFORK)) {
		munmap(p, bytes);
		p = NULL;
	}
	errno = saved;
	return p;
}

void segment_private_drop(void *p, size_t bytes)
{
	int saved = errno;

	if (!agent_sealed())
		munmap(p, bytes);
	errno = saved;
}
