/* SPDX-License-Identifier: MIT */
/* See agent_harness.h. */
#include "agent_harness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Tests end children in the middle of Check's work: what that holds then is no leak. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

#define HARNESS_ENV "AGENT_HARNESS_FD"
#define THREADS 64u

static const u8 *base;
static u32 first_foreign;          /* slots from this one on were there before this process */

static _Noreturn void broken(const char *what)
{
	printf("Bail out! agent harness: %s\n", what);
	exit(99);
}

/* Ticks of 20 ms, as 32.32 fixed point of ticks in a nanosecond. */
static u64 ticks_rate(void)
{
	u64 ns = clock_ns(CLOCK_MONOTONIC_RAW), ticks = cpu_ticks(), now;

	do {
		now = clock_ns(CLOCK_MONOTONIC_RAW);
	} while (now - ns < 20 * NSEC_PER_MSEC);
	return ((cpu_ticks() - ticks) << 32) / (now - ns);
}

static int segment_make(u32 sources)
{
	int fd = memfd_create("spark", 0);
	struct wire_header *h;

	if (fd < 0 || ftruncate(fd, WIRE_SEGMENT_SIZE))
		broken("memfd");
	h = mmap(NULL, WIRE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (h == MAP_FAILED)
		broken("mmap");
	*h = (struct wire_header){ .magic = WIRE_MAGIC, .version = WIRE_VERSION,
		.clock = WIRE_CLOCK_TSC, .size = WIRE_SEGMENT_SIZE, .ticks_per_ns = ticks_rate(),
		.used = WIRE_PAGE, .sources = sources, .cells = source_cells(sources) };
	munmap(h, WIRE_PAGE);
	return fd;
}

static int listen_at(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 1))
		broken("cannot make a socket in the current directory");
	return fd;
}

static void hello_answer(int fd, int memfd, u32 flags, u32 sources)
{
	struct wire_config config = { .magic = WIRE_MAGIC, .version = WIRE_VERSION,
		.size = sizeof(config), .verdict = WIRE_GO, .flags = flags, .sources = sources,
		.clock = WIRE_CLOCK_TSC, .peer_pid = (u32)getpid(), .peer_fd = memfd };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { &config, sizeof(config) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct wire_hello hello;

	memcpy(CMSG_DATA(&control.head), &memfd, sizeof(int));
	if (recv(fd, &hello, sizeof(hello), 0) != sizeof(hello) || hello.magic != WIRE_MAGIC)
		_exit(1);
	_exit(sendmsg(fd, &m, MSG_NOSIGNAL) != sizeof(config));
}

/* A child answers one hello; this process says it, from its next image's constructor. */
static _Noreturn void invite(char **argv, u32 flags, u32 sources)
{
	char path[64], text[160];
	int memfd = segment_make(sources), fd;
	pid_t pid;

	snprintf(path, sizeof(path), "agent-harness-%d", (int)getpid());
	unlink(path);
	fd = listen_at(path);
	pid = fork();
	if (pid < 0)
		broken("fork");
	if (!pid) {
		alarm(5);
		fd = accept(fd, NULL, NULL);
		unlink(path);
		hello_answer(fd, memfd, flags, sources);
	}
	/* However many seccomp filters there are on us: they are none of the test's. */
	snprintf(text, sizeof(text), "%d,%d,%u,%032d,%s", WIRE_VERSION, (int)pid, UINT32_MAX, 0, path);
	setenv(WIRE_ENV, text, 1);
	snprintf(text, sizeof(text), "%d", memfd);
	setenv(HARNESS_ENV, text, 1);
	execv("/proc/self/exe", argv);
	broken("exec");
}

void harness_start(char **argv, u32 flags, u32 sources)
{
	const char *fd = getenv(HARNESS_ENV);
	int status;

	if (!fd)
		invite(argv, flags, sources);
	base = mmap(NULL, WIRE_SEGMENT_SIZE, PROT_READ, MAP_SHARED | MAP_NORESERVE, atoi(fd), 0);
	if (base == MAP_FAILED)
		broken("mmap of the segment");
	close(atoi(fd));
	unsetenv(HARNESS_ENV);
	unsetenv(WIRE_ENV);
	if (wait(&status) < 0 || status)
		broken("no hello came");
	if (!agent.ready)
		broken("the agent is dormant");
}

struct wire_view harness_view(void)
{
	const struct wire_header *h = (const struct wire_header *)base;

	return (struct wire_view){ .base = base, .size = load_relaxed(&h->used) };
}

u64 harness_loss(enum wire_loss loss)
{
	return load_relaxed(&((const struct wire_header *)base)->losses[loss]);
}

void harness_setup(void)
{
	first_foreign = agent.header->slots;
	agent.header->free_slots = 0;
}

void harness_fresh_chunk(void)
{
	store_relaxed(&agent.header->used, ALIGN_UP(agent.header->used, (u64)WIRE_CHUNK));
	if (!segment_alloc(WIRE_PAGE))
		broken("no further chunk");
}

static const struct wire_slot *next_slot(const struct wire_view *view, struct wire_walk *walk)
{
	const struct wire_slot *slot;

	while (walk->next != first_foreign && (slot = wire_next_slot(view, walk)))
		if (slot->pid == (u32)getpid())
			return slot;
	return NULL;
}

u32 harness_slots(void)
{
	struct wire_view view = harness_view();
	struct wire_walk walk = wire_walk_slots(&view);
	u32 n = 0;

	while (next_slot(&view, &walk))
		n++;
	return n;
}

const struct wire_process *harness_process(void)
{
	struct wire_view view = harness_view();

	return wire_view_process_of(&view, (u32)getpid());
}

bool harness_name_is(u32 ref, const char *bytes, size_t len)
{
	struct wire_view view = harness_view();
	const char *kept;
	size_t n;

	return wire_view_name(&view, ref, &kept, &n) && n == len && memcmp(kept, bytes, n) == 0;
}

/* What is looked for: kind, and path or name; both NULL: everything of the kind. */
struct wanted {
	u32 kind;
	const char *path;
	const char *name;
};

static bool path_is(const struct wire_view *view, const struct wire_node *node, const char *path)
{
	const struct wire_header *h = wire_view_header(view);
	size_t left = strlen(path), n;
	const char *bytes;

	while (node && wire_view_name(view, wire_node_name(node), &bytes, &n)) {
		if (left < n || memcmp(path + left - n, bytes, n))
			return false;
		left -= n;
		node = wire_view_node(view, node->parent, h->cells);
		if (node && !node->parent)
			return left == 0;
		if (!left || path[--left] != ';')
			return false;
	}
	return false;
}

static bool node_wanted(const struct wire_view *view, const struct wire_node *node,
			const struct wanted *wanted)
{
	if (!node->parent || wire_node_kind(node) != wanted->kind)
		return false;
	if (wanted->path)
		return path_is(view, node, wanted->path);
	return !wanted->name ||
	       harness_name_is(wire_node_name(node), wanted->name, strlen(wanted->name));
}

static u64 hist_sum(const struct wire_view *view, u32 ref)
{
	const struct wire_hist *hist = wire_view_hist(view, ref);
	u64 sum = 0;

	for (u32 i = 0; hist && i < WIRE_HIST_OCTAVES; i++) {
		const struct wire_hist_chunk *chunk = wire_view_hist_chunk(view, hist->chunk[i]);

		for (u32 k = 0; chunk && k < WIRE_HIST_SUB; k++)
			sum += chunk->count[k];
	}
	return sum;
}

/* The lane's newest duration is not in the histogram yet: told for the thread's own lanes. */
static bool duration_waits(u32 lane_ref, u32 node)
{
	struct thread *t = thread_self;

	for (u32 level = 0; level < WIRE_LANES; level++) {
		const struct lane *l = level ? t->upper[level - 1] : &t->lane;

		if (l && l->w == segment_ptr(lane_ref))
			return l->bucket != &l->sink && l->w->pending.node == node;
	}
	return false;
}

static void lane_add_up(struct wire_view *view, u32 lane_ref, const struct wire_lane *lane,
			const struct wanted *wanted, struct harness_totals *t)
{
	struct wire_node_walk walk = wire_walk_nodes(view, lane);
	const struct wire_node *n;

	while ((n = wire_next_node(view, &walk))) {
		if (!node_wanted(view, n, wanted))
			continue;
		t->nodes++;
		t->calls += n->calls;
		t->wall = wanted->kind == WIRE_NODE_REGION ? t->wall + n->wall : n->wall;
		t->off = wanted->kind == WIRE_NODE_REGION ? t->off + n->off : n->off;
		t->min = wanted->kind == WIRE_NODE_REGION ? MIN(t->min, n->min) : n->min;
		t->max = wanted->kind == WIRE_NODE_REGION ? MAX(t->max, n->max) : n->max;
		t->units += n->units;
		t->hist += hist_sum(view, n->hist);
		t->hist += duration_waits(lane_ref, walk.ref);
		for (u32 i = 0; i < walk.cells; i++)
			t->cells[i] += wire_view_cells(n)[i];
	}
}

static struct harness_totals add_up(struct wanted wanted)
{
	struct harness_totals t = { .min = UINT64_MAX };
	struct wire_view view = harness_view();
	struct wire_walk walk = wire_walk_slots(&view);
	const struct wire_slot *slot;

	while ((slot = next_slot(&view, &walk)))
		for (u32 i = 0; i < WIRE_LANES; i++) {
			const struct wire_lane *lane = wire_view_lane(&view, slot, i);

			if (lane)
				lane_add_up(&view, slot->lanes[i], lane, &wanted, &t);
		}
	return t;
}

struct harness_totals harness_region(const char *path)
{
	return add_up((struct wanted){ .kind = WIRE_NODE_REGION, .path = path });
}

struct harness_totals harness_metric(const char *path)
{
	return add_up((struct wanted){ .kind = WIRE_NODE_METRIC, .path = path });
}

struct harness_totals harness_named(const char *name)
{
	return add_up((struct wanted){ .kind = WIRE_NODE_REGION, .name = name });
}

u64 harness_diagnosed(enum wire_diagnosis kind, const char *name)
{
	return add_up((struct wanted){ .kind = WIRE_NODE_DIAGNOSIS + kind, .name = name }).calls;
}

__attribute__((noinline)) void harness_deeper(void (*function)(void *), void *arg)
{
	char room[8192];

	/* Neither compiler may do without it, or leave it for the call. */
	__asm__ volatile("" : : "r"(room) : "memory");
	function(arg);
	__asm__ volatile("" : : "r"(room) : "memory");
}

int harness_fork(void (*function)(void *), void *arg)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		broken("fork");
	if (!pid) {
		first_foreign = agent.header->slots;
		function(arg);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		broken("waitpid");
	return status;
}

void harness_thread_ends(void)
{
	if (HARNESS_TSAN && thread_self->slot)
		thread_self->rounds = 1;
}

static pthread_barrier_t barrier_start;
static void (*thread_function)(u32);

static void *thread_main(void *arg)
{
	pthread_barrier_wait(&barrier_start);
	thread_function((u32)(uintptr_t)arg);
	harness_thread_ends();
	return NULL;
}

void harness_threads(u32 n, void (*function)(u32 index))
{
	pthread_t threads[THREADS];

	if (n > THREADS)
		broken("too many threads");
	thread_function = function;
	pthread_barrier_init(&barrier_start, NULL, n);
	for (u32 i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, thread_main, (void *)(uintptr_t)i))
			broken("pthread_create");
	for (u32 i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier_start);
}
