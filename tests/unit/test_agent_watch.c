/* SPDX-License-Identifier: MIT */
/* agent/watch: what markers log of the rings of samples. The rings are files, whose heads the test moves. */
#define _GNU_SOURCE
#include "agent_harness.h"
#include "agent/watch.h"
#include "suite.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define RING_BYTES (2 * WIRE_PAGE)
#define CPUS 40u                   /* more than one message's */

static struct perf_event_mmap_page *rings[CPUS];

/* One message of n descriptors, of which the receiver is told as many as it says. */
static void send_rings(int socket, const int *fds, u32 first, u32 n, u32 says)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(WIRE_RINGS * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct wire_rings w = { .magic = WIRE_MAGIC, .n = says };
	struct iovec iov = { &w, sizeof(w) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	*h = (struct cmsghdr){ .cmsg_len = CMSG_LEN(n * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(h), fds + first, n * sizeof(int));
	for (u32 i = 0; i < n; i++)
		w.cpu[i] = first + i;
	ck_assert_int_ge(sendmsg(socket, &m, 0), 0);
}

/* As sparkctl would give them; says: in each message, of WIRE_RINGS. */
static void rings_give(u32 says)
{
	const struct wire_config config = { .flags = WIRE_WATCH, .rings = CPUS, .ring_bytes = RING_BYTES };
	int fds[CPUS], pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	for (u32 i = 0; i < CPUS; i++) {
		fds[i] = memfd_create("ring", MFD_CLOEXEC);
		ck_assert_int_eq(ftruncate(fds[i], RING_BYTES), 0);
		rings[i] = mmap(NULL, WIRE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fds[i], 0);
	}
	for (u32 i = 0; i < CPUS; i += WIRE_RINGS)
		send_rings(pair[0], fds, i, MIN(CPUS - i, WIRE_RINGS), says ? says : MIN(CPUS - i, WIRE_RINGS));
	watch_receive(pair[1], &config);
	for (u32 i = 0; i < CPUS; i++)
		close(fds[i]);
	close(pair[0]);
	close(pair[1]);
}

/* A sample on every CPU: the thread may be on any. */
static void sampled(u64 head)
{
	for (u32 i = 0; i < CPUS; i++)
		store_release(&rings[i]->data_head, head);
}

static const struct wire_watch_entry *newest(void)
{
	const struct wire_watch *w = thread_self->watch;

	return &w->entry[(w->count - 1) % WIRE_WATCH_ENTRIES];
}

static void check_newest(u64 head, const char *region)
{
	const struct wire_watch_entry *e = newest();
	const struct wire_node *n = segment_ptr(e->node);

	ck_assert_uint_eq(e->head, head);
	ck_assert_uint_eq(e->tid, thread_self->slot->tid);
	ck_assert_uint_lt(e->cpu, CPUS);
	if (region)
		ck_assert(harness_name_is(n->region, region, strlen(region)));
	else
		ck_assert_uint_eq(n->region, 0);
}

static void one_entry_a_sample(void)
{
	/* The calibration at a first marker has brackets of its own, and a switch in them would be logged. */
	region_name_begin("first");
	region_name_end("first");
	sampled(100);
	region_name_begin("outer");
	check_newest(100, NULL);
	sampled(200);
	region_name_begin("inner");
	check_newest(200, "outer");
	sampled(300);
	region_name_end("inner");
	check_newest(300, "inner");
	sampled(400);
	region_name_end("outer");
	check_newest(400, "outer");
	sampled(500);
	region_name_begin("outer");
	check_newest(500, NULL);
	region_name_end("outer");
}

START_TEST(test_regions)
{
	rings_give(0);
	one_entry_a_sample();
	/* Again by the fast way: the regions are known, and their durations have their places. */
	one_entry_a_sample();
}
END_TEST

START_TEST(test_quiet)
{
	u64 before, switches;

	rings_give(0);
	one_entry_a_sample();
	before = thread_self->watch->count;
	switches = thread_self->slot->switches;
	for (u32 i = 0; i < 10000; i++) {
		region_name_begin("outer");
		region_name_end("outer");
	}
	ck_assert_uint_le(thread_self->watch->count - before, thread_self->slot->switches - switches);
}
END_TEST

static void *short_thread(void *data)
{
	region_name_begin("short");
	sampled(*(u64 *)data + 1);
	region_name_end("short");
	harness_thread_ends();
	return NULL;
}

/* The slot of an ended thread goes on with another's entries. */
START_TEST(test_threads)
{
	struct wire_watch *watch = NULL;
	u32 tids[2] = { 0, 0 }, found = 0;
	pthread_t t;

	rings_give(0);
	one_entry_a_sample();
	for (u64 i = 1000; i < 1002; i++) {
		ck_assert_int_eq(pthread_create(&t, NULL, short_thread, &i), 0);
		pthread_join(t, NULL);
	}
	for (u32 ref = agent.header->slots; ref && !found; ref = ((struct wire_slot *)segment_ptr(ref))->next) {
		const struct wire_slot *s = segment_ptr(ref);

		if (s == thread_self->slot || !s->watch || s->pid != (u32)getpid())
			continue;
		watch = segment_ptr(s->watch);
		for (u64 i = 0; i < watch->count && found < 2; i++)
			if (!found || tids[0] != watch->entry[i].tid)
				tids[found++] = watch->entry[i].tid;
	}
	ck_assert_ptr_nonnull(watch);
	ck_assert_uint_eq(found, 2);
}
END_TEST

static void forked(void *unused)
{
	(void)unused;
	region_name_begin("child");
	_exit(thread_self->slot && !thread_self->slot->watch && !(thread_self->lane.special & LANE_WATCH) ? 0 : 1);
}

/* A forked child has no mapping of them; here nobody gives it others. */
START_TEST(test_fork)
{
	rings_give(0);
	one_entry_a_sample();
	ck_assert_int_eq(harness_fork(forked, NULL), 0);
}
END_TEST

/* A message that says something else than what came with it. */
START_TEST(test_lies)
{
	rings_give(WIRE_RINGS + 1);
	region_name_begin("alone");
	region_name_end("alone");
	ck_assert_uint_eq(thread_self->slot->watch, 0);
	ck_assert_uint_eq(harness_region("alone").calls, 1);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *tests = tcase_create("watch");

	(void)argc;
	harness_start(argv, 0, 0);
	tcase_add_checked_fixture(tests, harness_setup, NULL);
	tcase_add_test(tests, test_regions);
	tcase_add_test(tests, test_quiet);
	tcase_add_test(tests, test_threads);
	tcase_add_test(tests, test_fork);
	tcase_add_test(tests, test_lies);
	return suite_run("agent_watch", tests);
}
