/* SPDX-License-Identifier: MIT */
/*
 * The head watch: which region a sample of this thread belongs to. The rings of samples, one for
 * each CPU, are mapped here for reading. A marker that finds the head of its CPU's ring moved logs
 * whose the records in between were (struct wire_watch): one entry a sample, whatever the number
 * of markers, and no clock to compare.
 *
 * A thread can only come to another CPU by being switched out, which the detector sees; the entry
 * of the marker that follows tells sparkctl until when samples from any other CPU were of the
 * region before (thread.watch_switched).
 *
 * The kernel does not give a forked child its parent's mappings of rings (VM_DONTCOPY): the child
 * finds none, and asks sparkctl for them again.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "bracket.h"
#include "hello.h"
#include "watch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "banned.h"

/* Wiped by fork. */
static struct watch_rings {
	u32 n;
	u32 bytes;                 /* of each mapping */
	const volatile u64 *head[WIRE_CPUS];
} *rings;

static const u64 unmoving;

static void ring_map(int fd, u32 cpu, u32 bytes)
{
	struct perf_event_mmap_page *page;

	if (cpu >= WIRE_CPUS || rings->head[cpu])
		return;
	page = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return;
	madvise(page, bytes, MADV_DONTDUMP);
	rings->head[cpu] = (const volatile u64 *)&page->data_head;
	rings->n++;
}

/* One message. 0 or -errno: none, not all descriptors of it, or no such message. */
static int rings_message(int socket, u32 bytes)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(WIRE_RINGS * sizeof(int))];
	} control;
	struct wire_rings w;
	struct iovec iov = { &w, sizeof(w) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	struct cmsghdr *h;
	u32 got = 0;
	ssize_t n;

	do {
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	h = CMSG_FIRSTHDR(&m);
	if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS)
		got = MIN((u32)((h->cmsg_len - CMSG_LEN(0)) / sizeof(int)), WIRE_RINGS);
	for (u32 i = 0; i < got; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof(fd));
		if (n == sizeof(w) && w.magic == WIRE_MAGIC && w.n == got)
			ring_map(fd, w.cpu[i], bytes);
		close(fd);
	}
	return n == sizeof(w) && w.magic == WIRE_MAGIC && w.n == got ? 0 : -EPROTO;
}

void watch_receive(int socket, const struct wire_config *c)
{
	u32 n = c->flags & WIRE_WATCH ? MIN(c->rings, WIRE_CPUS) : 0;

	if (n && !rings)
		rings = segment_private(sizeof(*rings), PRIVATE_WIPED);
	if (!n || !rings)
		return;
	rings->bytes = c->ring_bytes;
	for (u32 i = 0; i < n; i += WIRE_RINGS)
		if (rings_message(socket, c->ring_bytes))
			return;
}

/* The head lies in the first page of its ring's mapping. */
static long ring_start(u32 cpu)
{
	return (long)((u64)(uintptr_t)rings->head[cpu] & ~((u64)WIRE_PAGE - 1));
}

void watch_rest(void)
{
	for (u32 i = 0; rings && i < WIRE_CPUS; i++)
		/* Over it, since a thread may be about to read there. */
		if (rings->head[i] && syscall_raw(SYS_mmap, ring_start(i), rings->bytes, PROT_READ,
						  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == ring_start(i))
			/* Nor does a forked child have a ring's mapping. */
			syscall_raw(SYS_madvise, ring_start(i), rings->bytes, MADV_DONTFORK, 0, 0, 0);
}

void watch_leave(void)
{
	for (u32 i = 0; rings && i < WIRE_CPUS; i++)
		if (rings->head[i])
			syscall_raw(SYS_munmap, ring_start(i), rings->bytes, 0, 0, 0, 0);
	if (rings)
		memset(rings, 0, sizeof(*rings));
}

/* SAFE. */
static bool watch_ready(void)
{
	return rings && rings->n;
}

void watch_forked(void)
{
	int saved = errno;

	if (rings && !agent_sealed())
		hello_rings();
	errno = saved;
}

/* MARKER. The CPU that the thread is on; WIRE_CPUS: not to be told without a system call. */
static u32 cpu_now(void)
{
	u32 cpu = detect_cpu();

	if (cpu < WIRE_CPUS || agent_sealed())
		return cpu;
	return syscall_raw(SYS_getcpu, (long)&cpu, 0, 0, 0, 0, 0) ? WIRE_CPUS : cpu;
}

void watch_log(struct thread *t, const struct lane *l)
{
	/* A handler's entry between here and the end is overwritten, and its samples come to this region. */
	u64 count = t->watch->count;
	struct wire_watch_entry *e = &t->watch->entry[count % WIRE_WATCH_ENTRIES];
	u32 cpu = t->watch_cpu;

	if (t->watch_switched || t->detector == WIRE_DETECTOR_NONE) {
		t->watch_switched = false;
		barrier();
		cpu = cpu_now();
		t->watch_cpu = MIN(cpu, WIRE_CPUS);
		t->watch_head = cpu < WIRE_CPUS && rings->head[cpu] ? rings->head[cpu] : &unmoving;
	}
	t->watch_seen = *t->watch_head;
	*e = (struct wire_watch_entry){
		.head = t->watch_seen,
		.ticks = agent_ticks(),
		.node = bracket_parent(l),
		.tid = t->slot->tid,
		.cpu = t->watch_head == &unmoving ? WIRE_CPUS : cpu,
	};
	store_release(&t->watch->count, count + 1);
}

bool watch_strayed(const struct thread *t)
{
	return cpu_now() != t->watch_cpu;
}

void watch_open(struct thread *t)
{
	t->watch_head = &unmoving;
	t->watch_seen = unmoving;
	t->lane.special &= ~(u32)LANE_WATCH;
	if (!watch_ready())
		t->slot->watch = 0;
	else if (!t->slot->watch)
		t->slot->watch = segment_alloc(sizeof(struct wire_watch));
	if (!t->slot->watch)
		return;
	t->watch = segment_ptr(t->slot->watch);
	t->lane.special |= LANE_WATCH;
	t->watch_switched = true;
	watch_log(t, &t->lane);
}
