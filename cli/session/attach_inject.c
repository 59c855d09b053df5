/* SPDX-License-Identifier: MIT */
/* The agent in processes that run already: loaded into each that was asked for, and answered while that is done. */
#define _GNU_SOURCE
#include "cli/session/attach.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/inject/inject.h"
#include "cli/log.h"
#include "cli/session/count.h"
#include "cli/session/internal.h"
#include "cli/session/sampling.h"

/* The kernel says whose socket it is: the process made it itself. */
static void connection_take(struct session *s, int fd, pid_t pid)
{
	struct ucred peer = { .pid = 0 };
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.pid != pid || !server_expect(&s->server, fd, peer.pid, session_now()))
		close(fd);
}

#define DRAIN_NS (10 * NSEC_PER_MSEC)  /* rings take a quarter of a second of samples, and less of switches */

struct loading {
	struct session *s;
	pid_t pid;
	u64 drained_ns;
};

/* What others write meanwhile, who are measured already. To find a safe place may take seconds. */
static void inject_meanwhile(void *context)
{
	struct loading *loading = context;
	u64 now = session_now();

	if (now - loading->drained_ns < DRAIN_NS)
		return;
	session_drain(loading->s);
	loading->drained_ns = session_now();
}

static void inject_serve(void *context, int fd)
{
	const struct loading *loading = context;
	struct session *s = loading->s;
	struct pollfd fds[2 + SERVER_PENDING];
	struct server_hello hello;

	if (fd >= 0)
		connection_take(s, fd, loading->pid);
	/* Children of those that have the agent already ask, too, and would wait. */
	if (poll(fds, server_poll_fds(&s->server, fds), 0) > 0)
		server_polled(&s->server, fds);
	while (server_receive(&s->server, &hello, session_now()))
		session_hello(s, &hello);
}

static void process_inject(struct session *s, struct process *p)
{
	struct segment_params params = session_segment_params(s);
	struct loading loading = { s, (pid_t)p->facts.pid, session_now() };
	struct inject inject = {
		.pid = (pid_t)p->facts.pid, .agent = s->caps.agent, .token = s->server.token,
		.serve = inject_serve, .meanwhile = inject_meanwhile, .context = &loading,
	};
	enum inject_end end;

	/* Ready before it is held. */
	if (!s->ready)
		s->ready = segment_new(&params);
	if (!s->ready)
		return;
	end = inject_run(&inject);
	if (end == INJECT_DONE) {
		verbose(1, "process %u: the agent is in it; a thread was held for %.2f ms, at most %.2f ms at a stretch, in %u %s",
			p->facts.pid, (double)inject.held_ns / 1e6, (double)inject.held_most_ns / 1e6, inject.tries,
			inject.tries == 1 ? "stop" : "stops");
		return;
	}
	/* Meanwhile it may have become another image. If it has ended, the loop finds out. */
	p = process_find(&s->processes, (u32)loading.pid);
	if (end == INJECT_GONE || !p)
		return;
	warning("process %u %s; it is measured from outside, without regions", p->facts.pid, inject.why);
	free(p->no_agent);
	if (asprintf(&p->no_agent, "it %s", inject.why) < 0)
		p->no_agent = NULL;
}

/* Its four user ids are all our own. */
static bool process_ours(u32 pid)
{
	char text[4096], *at;
	unsigned int uid[4];

	if (process_read_file(pid, "status", text, sizeof(text)) <= 0 || !(at = strstr(text, "\nUid:")))
		return false;
	if (sscanf(at, "\nUid: %u %u %u %u", &uid[0], &uid[1], &uid[2], &uid[3]) != 4)
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(uid); i++)
		if (uid[i] != geteuid())
			return false;
	return true;
}

/* Agents see the rings, with stacks of all processes and places of the kernel: no other user's may. */
static void rings_hide(struct session *s)
{
	u32 pid;

	for (size_t i = 0; s->sampling && (pid = count_watched(s->options->count, i)); i++) {
		if (!process_find(&s->processes, pid) || process_ours(pid))
			continue;
		s->sampling->hidden = true;
		sampling_note(s->sampling, "no regions: process %u is of another user, who is not to see the samples of all", pid);
		warning("process %u is of another user, who is not to see the samples of all: they have no regions", pid);
		return;
	}
}

int attach_inject(struct session *s)
{
	struct process *p;
	u32 pid;

	if (!s->caps.agent[0])
		return error("the agent libsparkagent.so is not where sparkctl was installed; see sparkctl doctor");
	if (server_open(&s->server))
		return -1;
	rings_hide(s);
	files_choose(s);
	s->loading = true;
	for (size_t i = 0; (pid = count_watched(s->options->count, i)); i++) {
		p = process_find(&s->processes, pid);
		if (!p)
			continue;
		process_inject(s, p);
		session_drain(s);
	}
	s->loading = false;
	s->loading_ns = session_now() - s->start_ns;
	return 0;
}
