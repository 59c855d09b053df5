/* SPDX-License-Identifier: MIT */
/*
 * The loop of a run: signals, hellos, ends of processes, and a tick each 100 ms for the clock, for
 * what the dead left and for figures of the living.
 */
#define _GNU_SOURCE
#include "cli/session/attach.h"
#include "cli/session/blockio.h"
#include "cli/session/internal.h"
#include "cli/session/offcpu.h"
#include "cli/session/portion.h"
#include "cli/session/probing.h"
#include "cli/session/sampling.h"
#include "cli/session/steer.h"
#include "cli/session/tracing.h"
#include "cli/session/windows.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/log.h"

#define INTERRUPTS_REPORT 2

static u64 relative_now(const struct session *s)
{
	return session_now() - s->start_ns;
}

static void segment_left(struct process *p)
{
	if (!p->segment)
		return;
	p->segment->live--;
	p->segment->dead++;
}

void session_process_gone(struct process *p, int status, u64 end_ns)
{
	enum process_end how = PROCESS_UNKNOWN;

	if (status >= 0) {
		how = WIFSIGNALED(status) ? PROCESS_SIGNAL : PROCESS_EXIT;
		p->facts.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		p->facts.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	}
	process_end(p, how, end_ns);
	segment_left(p);
}

struct process *session_image_replaced(struct session *s, struct process *old, u64 at_ns)
{
	struct process *p;
	int io_fd = old->io_fd;

	old->io_fd = -1;
	process_end(old, PROCESS_EXEC, at_ns);
	segment_left(old);
	p = process_add(&s->processes, old->facts.pid, 0, at_ns);
	if (!p) {
		close(io_fd);
		return NULL;
	}
	p->exec = p->born = true;
	p->io_fd = io_fd;
	p->facts.parent = old->facts.parent;
	p->image_ns = at_ns;
	p->threads = old->threads ? 1 : 0; /* exec ends the others */
	portion_replaced(s, old, p);
	return p;
}

/*
 * It may have been measured before its exec, in the segment of whom it was forked from: that entry comes first.
 * Returns its parent where that had to be looked up, else 0.
 */
static u32 forked_before(struct session *s, u32 hello_pid)
{
	u32 pid = hello_pid, parent = 0;
	struct process *p = process_find(&s->processes, pid);

	for (u32 up = 0; up < 16 && (!p || !p->segment); up++) {
		if (p && p->facts.parent) {
			p = s->processes.list[p->facts.parent - 1];
		} else if (!p && (pid = process_parent(pid))) {
			parent = parent ? parent : pid;
			p = process_find(&s->processes, pid);
		} else {
			return parent;
		}
	}
	if (p && p->segment && p->segment->header && !p->segment->closed)
		harvest_discover(s, p->segment);
	/* The record of its fork may come later, but the hello's pid is the kernel's word too. */
	for (struct process *q = p ? s->processes.by_pid[hello_pid % PROCESS_BUCKETS] : NULL; q; q = q->older)
		if (q->facts.pid == hello_pid && q->segment == p->segment) {
			process_confirm(q);
			break;
		}
	return parent;
}

/* The entry for an image that says hello. One without a segment waited for it; one with a segment has been replaced. */
static struct process *image_of(struct session *s, u32 pid)
{
	struct process *p;
	u32 parent;

	parent = forked_before(s, pid);
	p = process_find(&s->processes, pid);
	if (p && p->segment)
		p = session_image_replaced(s, p, relative_now(s));
	else if (!p)
		p = process_add(&s->processes, pid, parent ? parent : process_parent(pid), relative_now(s));
	if (!p)
		return NULL;
	p->image_ns = relative_now(s);
	p->facts.agent = true;
	process_describe(p);
	return p;
}

struct segment_params session_segment_params(const struct session *s)
{
	return (struct segment_params){ s->clock_kind, s->ticks_per_ns, s->options->sources, s->plan.wire, s->options->calls,
					s->files };
}

static struct segment *segment_next(struct session *s)
{
	struct segment_params params = session_segment_params(s);
	struct segment *g = s->ready;

	if (!g && session_now() >= s->refill_ns)
		g = segment_new(&params);
	s->ready = NULL;
	if (!g) {
		s->refill_ns = session_now() + NSEC_PER_SEC;
		s->unmeasured++;
		return NULL;
	}
	g->next = s->segments;
	s->segments = g;
	return g;
}

/* A recording keeps threads apart, but is not to delay their ends; that is for who asks for their rows. */
static u32 thread_flags(const struct session_options *options)
{
	if (options->group != PROFILE_BY_THREAD)
		return 0;
	return options->threads_most ? WIRE_PER_THREAD : WIRE_PER_THREAD | WIRE_THREAD_USAGE;
}

static struct wire_config hello_config(const struct session *s, const struct ring **rings)
{
	struct wire_config config = {
		.magic = WIRE_MAGIC,
		.version = WIRE_VERSION,
		.size = sizeof(config),
		.sources = s->options->sources,
		.clock = s->clock_kind,
		.peer_pid = (u32)getpid(),
		.peer_fd = -1,
		.verdict = WIRE_GO,
		.flags = (s->options->cpu_clock ? WIRE_CPU_CLOCK : 0u) | (s->options->no_inherit ? WIRE_NO_FORKS : 0u) |
			 (s->tracing ? WIRE_TRACE : 0u) | thread_flags(s->options),
	};

	if (s->sampling && s->sampling->nrings && !s->sampling->hidden) {
		*rings = s->sampling->rings;
		config.flags |= WIRE_WATCH;
		config.rings = s->sampling->nrings;
		config.ring_bytes = (u32)s->sampling->rings[0].size;
	}
	return config;
}

void session_hello(struct session *s, struct server_hello *h)
{
	const struct ring *rings = NULL;
	struct wire_config config = hello_config(s, &rings);
	struct segment *g = NULL;
	struct origin_map map;
	struct process *p;

	if (h->hello.version != WIRE_VERSION) {
		if (!s->mismatches++)
			warning("the agent in process %d speaks version %u of the protocol, this sparkctl %u: it is not measured",
				(int)h->pid, h->hello.version, WIRE_VERSION);
		config.verdict = WIRE_MISMATCH;
	} else if (s->options->no_inherit && !s->attached && h->pid != s->spawn.pid) {
		config.verdict = WIRE_DORMANT;
	} else if (!(h->hello.flags & WIRE_HELLO_FORKED)) {
		g = segment_next(s);
		if (!g)
			config.verdict = WIRE_DORMANT;
	}
	if (g) {
		config.peer_fd = g->fd;
		g->pid = (u32)h->pid;
		g->wire_pid = h->hello.pid;
		g->live = 1;
		chosen_tell(s, g);
	}
	p = g ? image_of(s, (u32)h->pid) : NULL;
	if (p && (p->exec || p->attached))
		config.flags |= WIRE_EXECED;
	/* It waits for the answer: what the answer does not need comes after it. */
	if (p)
		origin_map(s, p->facts.pid, &map);
	if (config.verdict != WIRE_GO)
		config.rings = 0;
	hello_waited(s, h, server_answer(h, &config, g ? g->fd : -1, rings), p, g);
	if (h->hello.flags & WIRE_HELLO_FORKED)
		return;
	if (p) {
		origin_objects(s, &map);
		process_join(p, g);
		p->wire_pid = h->hello.pid;
	}
	s->hellos++;
}

static void main_changed(struct session *s)
{
	siginfo_t info = { 0 };
	struct process *p;

	/* Left a zombie first, so that /proc still has its own figures, apart from its children's. */
	if (waitid(P_PID, (id_t)s->spawn.pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) || info.si_pid == 0)
		return;
	if (info.si_code == CLD_STOPPED) {
		waitid(P_PID, (id_t)s->spawn.pid, &info, WSTOPPED | WNOHANG);
		signals_stopped(s->spawn.pid, info.si_status);
		return;
	}
	s->end_ns = session_now();
	session_steer_ended(s);
	/* All records of it are written; later they would be about a process that is gone. */
	track_drain(s, true);
	sampling_drain(s, false);
	offcpu_delays(s);
	windows_ending(s, !s->options->follow);
	p = process_find(&s->processes, (u32)s->spawn.pid);
	if (p) {
		int status;

		process_sample(p, s->options->sources, &status);
	}
	wait4(s->spawn.pid, &s->wait_status, 0, &s->usage);
	s->main_ended = true;
	if (!p)
		return;
	track_end(s, p, s->end_ns - s->start_ns);
	process_reaped(p, &s->usage);
	session_process_gone(p, s->wait_status, s->end_ns - s->start_ns);
}

/* From a terminal the whole group got it; from kill(1) only we did, and the command is meant. */
static void signal_taken(struct session *s, const struct signalfd_siginfo *info)
{
	int n = (int)info->ssi_signo;

	if (n == SIGCHLD)
		return;
	if (s->attached) {
		s->stop = true;
		return;
	}
	/* What the tree sends to its parent or to its group is not meant for the command. */
	if (info->ssi_code <= 0 && process_find(&s->processes, info->ssi_pid))
		return;
	/* When a terminal hangs up the kernel tells the leader of its session alone. */
	if (!s->main_ended && (info->ssi_code <= 0 || (n == SIGHUP && getsid(0) == getpid())))
		kill(s->spawn.pid, n);
	if (n != SIGINT && n != SIGTERM && n != SIGHUP)
		return;
	s->interrupted = n;
	/* The next one finds the default action and ends us, whatever the report is at. */
	if (++s->interrupts >= INTERRUPTS_REPORT || s->main_ended)
		s->stop = true;
}

static void signals_read(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info))
		signal_taken(s, &info);
	if (!s->main_ended && !s->attached)
		main_changed(s);
	/* As the first process of a container we inherit all orphans. */
	if (getpid() == 1)
		offspring_reap(s->main_ended ? 0 : s->spawn.pid);
}

static void ends_look(struct session *s, const struct pollfd *fds, u32 n, struct process **whose)
{
	for (u32 i = 0; i < n; i++) {
		int status;

		if (!(fds[i].revents & (POLLIN | POLLERR | POLLHUP)) || !whose[i]->alive)
			continue;
		process_sample(whose[i], s->options->sources, &status);
		session_process_gone(whose[i], status, track_end(s, whose[i], relative_now(s)));
	}
}

static void segments_look(struct session *s)
{
	for (struct segment *g = s->segments; g; g = g->next) {
		if (g->closed)
			continue;
		harvest_discover(s, g);
		harvest_dead(s, g);
		if (g->live == 0 && !segment_in_use(g))
			harvest_all(s, g);
	}
}

void session_drain(struct session *s)
{
	session_clock_tick(s);
	track_drain(s, false);
	sampling_drain(s, false);
	probing_drain(s, false);
	blockio_drain(s, false);
	segments_look(s);
}

static void tick(struct session *s, u64 now)
{
	struct process **live;
	int status;
	size_t n;

	s->next_tick_ns = now + SESSION_TICK_NS;
	caps_reap(false);
	session_drain(s);
	offcpu_delays(s);
	surroundings_tick(s);
	live = processes_live(&s->processes, &n);
	for (size_t i = 0; i < n; i++)
		if (!live[i]->unwatched && !process_sample(live[i], s->options->sources, &status) &&
		    live[i]->pidfd < 0)
			session_process_gone(live[i], -1, track_end(s, live[i], now - s->start_ns));
}

/* Somebody of the tree runs still. */
static bool descendants_live(struct session *s)
{
	size_t n;
	struct process **live = processes_live(&s->processes, &n);

	for (size_t i = 0; i < n; i++)
		if (!live[i]->unwatched)
			return true;
	for (struct segment *g = s->segments; g; g = g->next)
		if (!g->closed && g->header && g->live == 0 && segment_in_use(g))
			return true;
	return false;
}

static bool loop_done(struct session *s, u64 now)
{
	if (s->attached)
		return attach_over(s, now);
	if (s->stop)
		return true;
	if (!s->main_ended)
		return false;
	if (!descendants_live(s))
		return true;
	if (s->timed_out)
		return s->killed_ns && now > s->killed_ns + SESSION_DRAIN_NS;
	return !s->options->follow && now - s->end_ns >= SESSION_DRAIN_NS;
}

static int poll_wait_ms(const struct session *s, u64 now)
{
	u64 until = s->next_tick_ns;

	if (s->options->duration_ns)
		until = MIN(until, s->start_ns + s->options->duration_ns + s->loading_ns);
	if (s->options->timeout_ns && !s->kill_ns)
		until = MIN(until, s->start_ns + s->options->timeout_ns);
	if (s->watch_ns && !s->main_ended)
		until = MIN(until, s->watch_ns);
	if (s->tracing)
		until = MIN(until, s->tracing->next_ns);
	if (s->sampling && s->sampling->off)
		until = MIN(until, s->sampling->off->next_ns);
	until = windows_until(s, steer_until(s->options->steer, until));
	if (s->main_ended && !s->options->follow)
		until = MIN(until, now + 5 * NSEC_PER_MSEC);
	return until <= now ? 0 : (int)((until - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

static struct pollfd ring_pollfd(const struct ring *r)
{
	return (struct pollfd){ .fd = r->over ? -1 : r->fd, .events = POLLIN };
}

static void rings_polled(struct ring *rings, u32 n, const struct pollfd *fds)
{
	for (u32 i = 0; i < n; i++)
		rings[i].over |= (fds[i].revents & POLLHUP) != 0;
}

/* One round: waits, and does what there is to do. */
static int loop_round(struct session *s)
{
	size_t nlive;
	struct process **live = processes_live(&s->processes, &nlive);
	u32 nrings = s->sampling ? sampling_rings(s->sampling) : 0, nprobed = s->probing ? s->probing->nrings : 0;
	size_t most = 4 + 2 + SERVER_PENDING + TRACK_CPUS + nrings + nprobed + blockio_polled(s) + nlive;
	struct pollfd *fds = calloc(most, sizeof(*fds));
	struct process **whose = calloc(most, sizeof(*whose));
	struct server_hello hello;
	u32 n = 4, servers = 4, rings, first;
	u64 now = session_now();

	if (!fds || !whose) {
		free(fds);
		free(whose);
		return error("out of memory");
	}
	fds[0] = (struct pollfd){ .fd = s->signal_fd, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = steer_descriptor(s->options->steer), .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = windows_descriptor(s), .events = POLLIN };
	fds[3] = (struct pollfd){ .fd = windows_phases_descriptor(s), .events = POLLIN };
	n += server_poll_fds(&s->server, fds + n);
	rings = n;
	for (u32 i = 0; i < s->track.count; i++)
		fds[n++] = ring_pollfd(&s->track.rings[i]);
	for (u32 i = 0; i < nrings; i++)
		fds[n++] = ring_pollfd(&s->sampling->rings[i]);
	for (u32 i = 0; i < nprobed; i++)
		fds[n++] = (struct pollfd){ .fd = s->probing->rings[i].fd, .events = POLLIN };
	n += blockio_poll_fds(s, fds + n);
	first = n;
	for (size_t i = 0; i < nlive; i++)
		if (live[i]->pidfd >= 0 && live[i]->facts.pid != (u32)s->spawn.pid) {
			whose[n] = live[i];
			fds[n++] = (struct pollfd){ .fd = live[i]->pidfd, .events = POLLIN };
		}
	if (poll(fds, n, poll_wait_ms(s, now)) > 0) {
		server_polled(&s->server, fds + servers);
		rings_polled(s->track.rings, s->track.count, fds + rings);
		if (nrings)
			rings_polled(s->sampling->rings, nrings, fds + rings + s->track.count);
		while (server_receive(&s->server, &hello, session_now()))
			session_hello(s, &hello);
		signals_read(s);
		ends_look(s, fds + first, n - first, whose + first);
		track_drain(s, s->main_ended);
		sampling_drain(s, s->main_ended);
		/* As long as somebody goes on there are records on their way. */
		probing_drain(s, s->main_ended && !s->options->follow);
		blockio_drain(s, false);
	}
	free(fds);
	free(whose);
	return 0;
}

void session_loop(struct session *s)
{
	u64 now = session_now();

	s->next_tick_ns = now + SESSION_TICK_NS;
	while (!loop_done(s, now)) {
		if (loop_round(s))
			return;
		now = session_now();
		tracing_drain(s, now);
		offcpu_look(s, now);
		steer_look(s->options->steer, now);
		windows_look(s, now);
		if (now >= s->next_tick_ns)
			tick(s, now);
		session_watch(s, now);
		session_timeout(s, now);
		if (!s->ready && s->hellos && now >= s->refill_ns) {
			struct segment_params params = session_segment_params(s);

			s->ready = segment_new(&params);
			if (!s->ready)
				s->refill_ns = now + NSEC_PER_SEC;
		}
	}
}
