/* SPDX-License-Identifier: MIT */
/*
 * The life of the agent in a process: constructor, a forked child's first marker, exit.
 *
 * The constructor talks to sparkctl once; whatever fails leaves the agent dormant, and the program
 * runs as without. A marker may come before the constructor (other libraries' constructors): it
 * then does the constructor's work. State that a forked child must not inherit lies in memory that
 * fork wipes (struct process_life); the child finds it zero at its first marker and makes itself a
 * record, without a hello.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "call.h"
#include "hello.h"
#include "instrumented.h"
#include "proc.h"
#include "watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"

struct agent agent = { .session = 1 };
/* Stands for the real one until there is wiped memory: nothing is live in it. */
static struct process_life no_life = { .state = PROCESS_DORMANT };
struct process_life *life = &no_life;

#define RETIRE_NS 50000
#define RETIRE_TRIES 400

enum start_state { START_NONE, START_RUNNING, START_DONE };
static u32 start_state;
static u64 early_markers;

const struct spark_agent_v1 spark_agent_v1 = {
	.size = sizeof(spark_agent_v1),
	.abi = SPARK_ABI_VERSION,
	.region_begin = region_begin,
	.region_end = region_end,
	.site_begin = region_site_begin,
	.site_end = region_site_end,
	.name_begin = region_name_begin,
	.name_end = region_name_end,
	.region_units = client_units,
	.metric = client_metric,
	.frame = client_frame,
	.window_begin = window_begin,
	.window_end = window_end,
	.window_part = window_part,
};

void agent_lose(enum wire_loss loss)
{
	if (agent.header)
		fetch_add(&agent.header->losses[loss], 1);
}

s64 agent_ns_to_ticks(s64 ns)
{
	u64 rate = load_relaxed(&agent.header->ticks_per_ns);

	return (s64)((__int128)ns * (s64)rate >> 32);
}

void agent_usage(enum source_scope scope, u32 sources, struct wire_usage *usage)
{
	int saved = errno;

	memset(usage, 0, sizeof(*usage));
	if (!agent_sealed()) {
		usage->cpu_ns = clock_ns(scope == SOURCE_PROCESS ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID);
		source_usage_all(scope, sources, usage);
		usage->valid = 1;
	}
	errno = saved;
}

void agent_publish_costs(void)
{
	struct wire_process *p = life->wire;

	p->bracket = agent.bracket;
	p->pair = agent.pair;
	memcpy(p->source_cost, agent.source_cost, sizeof(p->source_cost));
}

/* SAFE. Enters this process into the segment. */
static bool process_enter(u32 flags)
{
	u32 ref = name_record(sizeof(struct wire_process));
	struct wire_process *p;

	if (!ref)
		return false;
	p = segment_ptr(ref);
	if (!agent_sealed()) {
		life->pid = (u32)syscall_raw(SYS_getpid, 0, 0, 0, 0, 0, 0);
		p->ppid = (u32)syscall_raw(SYS_getppid, 0, 0, 0, 0, 0, 0);
	} else {
		/* A forked child has one thread, whose id the C library has noted: the process's. */
		life->pid = agent.tid_offset ? *(u32 *)((char *)pthread_self() + agent.tid_offset) : 0;
		flags |= WIRE_PROCESS_SEALED;
	}
	p->pid = life->pid;
	p->flags = flags;
	p->detector = agent.detector;
	p->abi = SPARK_ABI_VERSION;
	p->start = agent_ticks();
	life->wire = p;
	proc_own_begin(!(flags & WIRE_PROCESS_FORKED));
	agent_usage(SOURCE_PROCESS, agent.flags & WIRE_EXECED ? SOURCE_ALL : 1u << SOURCE_rusage, &p->begin_usage);
	agent_publish_costs();
	p->next = load_relaxed(&agent.header->processes);
	while (!compare_exchange(&agent.header->processes, &p->next, ref))
		;
	return true;
}

/* Runs late among the exit handlers: it is registered early. Markers may still come after it. */
static void agent_exit(int status, void *unused)
{
	struct wire_process *p = life->wire;

	(void)unused;
	if (load_acquire(&life->state) != PROCESS_LIVE || load_relaxed(&agent.blind))
		return;
	thread_settle();
	agent_usage(SOURCE_PROCESS, SOURCE_ALL, &p->end_usage);
	p->status = status;
	p->end = agent_ticks();
	barrier();
	p->flags |= WIRE_PROCESS_EXITED;
}

static int agent_configure(const struct wire_config *c)
{
	int ret;

	agent.flags = c->flags;
	agent.clock = c->clock;
	agent.header = (struct wire_header *)segment_chunks[0];
	agent.sources = source_open_all(c->sources);
	agent.plan_cell = source_cells(agent.sources);
	agent.cells = agent.header->cells;
	if (counters_plan(agent.header->plan) ||
	    agent.cells != agent.plan_cell + (agent.plan ? wire_plan_cells(agent.plan->events, agent.plan->groups) : 0)) {
		source_close_all();
		return -EPROTO;
	}
	agent.stride = wire_node_stride(agent.header->cells);
	agent.detector = detect_prove();
	ret = thread_start();
	if (ret)
		return ret;
	if (life == &no_life)
		life = segment_private(WIRE_PAGE, PRIVATE_WIPED);
	if (!life) {
		life = &no_life;
		return -ENOMEM;
	}
	life->state = PROCESS_STARTING;
	if (!process_enter(0))
		return -ENOMEM;
	if (!agent.ready)
		on_exit(agent_exit, NULL);
	agent.ready = true;
	store_release(&life->state, (u32)PROCESS_LIVE);
	fetch_add(&agent.header->losses[WIRE_LOSS_EARLY], early_markers);
	return 0;
}

/*
 * CTOR. Gives the program's children the environment that they would have without us: sparkctl put
 * the agent first in LD_PRELOAD, and added the invitation.
 */
static void environment_restore(void)
{
	static const char preload[] = "LD_PRELOAD=", invitation[] = WIRE_ENV "=";
	char **to = environ;

	for (char **from = environ; *from; from++) {
		char *value = *from + sizeof(preload) - 1, *rest;

		if (!strncmp(*from, invitation, sizeof(invitation) - 1))
			continue;
		if (!strncmp(*from, preload, sizeof(preload) - 1)) {
			rest = strchr(value, ':');
			if (!rest)
				continue;
			memmove(value, rest + 1, strlen(rest + 1) + 1);
		}
		*to++ = *from;
	}
	*to = NULL;
}

/* Loaded twice, by two paths, the agent's table is that of the first in the order of look-up. */
static bool agent_first(void)
{
	const struct spark_agent_v1 *volatile table = &spark_agent_v1;

	return table->region_begin == region_begin;
}

/* CTOR, or SAFE in a marker that came before it. */
static void agent_start(void)
{
	struct wire_config config;
	u32 expected = START_NONE;
	int saved = errno;

	if (!compare_exchange(&start_state, &expected, (u32)START_RUNNING))
		return;
	if (!agent_first()) {
		/* The other one does it all. */
		instrumented_start(false);
		store_release(&start_state, (u32)START_DONE);
		return;
	}
	if (hello_say(&config) || agent_configure(&config)) {
		slots_set(0);
		instrumented_start(false);
	} else {
		slots_set((unsigned long)&spark_agent_v1);
		patch_start(agent.header->calls);
		instrumented_start(true);
	}
	if (agent.flags & WIRE_NO_FORKS && environ)
		environment_restore();
	store_release(&start_state, (u32)START_DONE);
	errno = saved;
}

__attribute__((constructor(101))) static void agent_constructor(void)
{
	agent_start();
}

/* SAFE. A forked child's first marker. */
static bool child_live(void)
{
	u32 expected = PROCESS_NEW;

	if (!compare_exchange(&life->state, &expected, (u32)PROCESS_STARTING))
		return false;
	unit_forked();
	agent.calibrated = agent.pair != 0; /* the parent may have been in the midst of it */
	watch_forked();
	if (agent.flags & WIRE_NO_FORKS || load_relaxed(&agent.header->released) || !process_enter(WIRE_PROCESS_FORKED)) {
		store_release(&life->state, (u32)PROCESS_DORMANT);
		return false;
	}
	store_release(&life->state, (u32)PROCESS_LIVE);
	return true;
}

bool agent_live(void)
{
	u32 state = load_acquire(&life->state);

	if (unlikely(load_relaxed(&agent.blind))) {
		agent_lose(WIRE_LOSS_NO_CLOCK);
		return false;
	}
	if (likely(state == PROCESS_LIVE))
		return true;
	if (load_acquire(&start_state) != START_DONE) {
		agent_start();
		state = load_acquire(&life->state);
		if (state != PROCESS_LIVE)
			fetch_add(&early_markers, 1);
		return state == PROCESS_LIVE;
	}
	if (state == PROCESS_NEW && child_live())
		return true;
	/* Another thread, or the marker that this handler interrupted, is at it. */
	if (load_acquire(&life->state) == PROCESS_STARTING)
		agent_lose(WIRE_LOSS_EARLY);
	return false;
}

bool agent_takes(const char *name)
{
	if (!agent_live())
		return false;
	if (!name)
		agent_lose(WIRE_LOSS_NULL_NAMES);
	return name != NULL;
}

void agent_rest(void)
{
	u32 live = PROCESS_LIVE;
	int saved = errno;

	__atomic_fetch_add(&life->resting, 1, __ATOMIC_SEQ_CST);
	if (!agent_sealed() && compare_exchange(&life->state, &live, (u32)PROCESS_DORMANT)) {
		slots_clear();
		patch_release();
		hooks_clear();
		watch_rest();
		unit_rest();
	}
	__atomic_fetch_sub(&life->resting, 1, __ATOMIC_RELEASE);
	errno = saved;
}

/* ---- later sessions --------------------------------------------------------------------------- */

/*
 * Whatever thread is about to take a marker's fast way has shut its gate by now, or sees that its lane knows no region
 * any more: the nap is longer than any store takes to be seen. False: a thread was switched out in the midst of one.
 */
static bool markers_ended(void)
{
	for (u32 i = 0; i < RETIRE_TRIES; i++) {
		struct timespec nap = { 0, RETIRE_NS };

		unit_retire();
		/* Not nanosleep(2): the kernel would forget how to begin a call anew that the thread was held in. */
		syscall_raw(SYS_pselect6, 0, 0, 0, 0, (long)&nap, 0);
		if (unit_retired())
			return true;
	}
	return false;
}

/* CTOR. Ends the session before, if there was one. 0, or -errno. */
static int session_leave(void)
{
	u32 fresh = PROCESS_NEW;

	if (!agent.ready)
		return 0;
	/* A forked child that had no marker yet. */
	if (compare_exchange(&life->state, &fresh, (u32)PROCESS_STARTING)) {
		unit_forked();
		store_release(&life->state, (u32)PROCESS_DORMANT);
	} else if (fresh == PROCESS_STARTING) {
		return -EBUSY;
	}
	agent_rest();
	agent.session++;
	/* Its words and its list are of the segment before. */
	instrumented_start(false);
	if (!markers_ended())
		return -EBUSY;
	life->open = life->ended_marks = 0;
	/* It may have been at a look before. */
	patch_release();
	unit_rest();
	watch_leave();
	source_close_all();
	agent.calibrated = false;
	agent.pair = agent.bracket = 0;
	/* What costs nothing is not calibrated. */
	memset(agent.source_cost, 0, sizeof(agent.source_cost));
	return 0;
}

/* CTOR, in a process that runs: the loader is not held, and other threads go on. */
static int agent_wake(int socket, const u8 *token)
{
	struct wire_config config;
	int ret;

	if (load_acquire(&start_state) != START_DONE || !agent_first())
		return -EAGAIN;
	if (agent_sealed() || load_relaxed(&agent.blind))
		return -EPERM;
	ret = session_leave();
	if (!ret)
		ret = hello_say_on(socket, token, &config);
	if (!ret) {
		/* Not before: slots that were not cleared still lead here, and names would be of the segment before. */
		name_forget();
		instrumented_forget();
		agent.joined = true;
		ret = agent_configure(&config);
	}
	if (ret)
		return ret;
	slots_set((unsigned long)&spark_agent_v1);
	patch_start(agent.header->calls);
	instrumented_start(true);
	hooks_set();
	return 0;
}

long spark_agent_wake(int socket, const u8 *token)
{
	int cancel, ret;

	/* A thread that is to be cancelled shall not be so here. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ret = agent_wake(socket, token);
	pthread_setcancelstate(cancel, NULL);
	return ret;
}
