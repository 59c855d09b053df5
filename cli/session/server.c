/* SPDX-License-Identifier: MIT */
/*
 * The place where agents say hello: one Unix socket in a 0700 directory of this session, and the
 * same by an abstract name, for targets in another root directory or of another user. The token in
 * the invitation is the secret; the peer's pid comes from the kernel (unix(7), SO_PEERCRED).
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/log.h"

#define BACKLOG 4096
#define HELLO_WAIT_NS (100 * NSEC_PER_MSEC) /* that is told of */
#define PATIENCE_NS (2 * NSEC_PER_SEC)
#define GRACE_NS (20 * NSEC_PER_MSEC) /* from connecting to speaking, when others wait for the place */

static int listen_on(const struct sockaddr_un *a, size_t size)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (bind(fd, (const struct sockaddr *)a, (socklen_t)size) || listen(fd, BACKLOG)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Seccomp filters on sparkctl, which the target has too. */
static u32 own_filters(void)
{
	char line[128];
	u32 filters = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Seccomp_filters: %u", &filters) == 1)
			break;
	if (f)
		fclose(f);
	return filters;
}

int server_open(struct server *s)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char token[2 * WIRE_TOKEN_SIZE + 1];

	s->fd[0] = s->fd[1] = -1;
	s->calling[0] = s->calling[1] = false;
	if (getrandom(s->token, sizeof(s->token), 0) != sizeof(s->token))
		return error("cannot get random bytes: %s", strerror(errno));
	for (u32 i = 0; i < WIRE_TOKEN_SIZE; i++)
		snprintf(token + 2 * i, 3, "%02x", s->token[i]);
	if (place_make(&s->place) == 0) {
		/* Named s only when it listens, and after the lock: place.c. */
		snprintf(s->path, sizeof(s->path), "%s/s", s->place.dir);
		snprintf(a.sun_path, sizeof(a.sun_path), "%s/t", s->place.dir);
		s->fd[0] = listen_on(&a, sizeof(a));
		if (s->fd[0] >= 0 && rename(a.sun_path, s->path))
			return error("cannot name the socket %s: %s", s->path, strerror(errno));
	}
	memset(a.sun_path, 0, sizeof(a.sun_path));
	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, WIRE_ABSTRACT_PREFIX "%.*s", WIRE_ABSTRACT_DIGITS, token);
	s->fd[1] = listen_on(&a, offsetof(struct sockaddr_un, sun_path) + sizeof(WIRE_ABSTRACT_PREFIX) + WIRE_ABSTRACT_DIGITS);
	if (s->fd[0] < 0 && s->fd[1] < 0)
		return error("cannot make a socket for the agent: %s", strerror(errno));
	snprintf(s->invitation, sizeof(s->invitation), "%d,%d,%u,%s,%s", WIRE_VERSION, (int)getpid(), own_filters(), token,
		 s->path);
	return 0;
}

bool server_expect(struct server *s, int fd, pid_t pid, u64 now_ns)
{
	if (s->npending == SERVER_PENDING || fcntl(fd, F_SETFL, O_NONBLOCK))
		return false;
	s->pending[s->npending++] = (struct server_pending){ fd, pid, now_ns };
	return true;
}

void server_close(struct server *s)
{
	for (u32 i = 0; i < s->npending; i++)
		close(s->pending[i].fd);
	s->npending = 0;
	for (u32 i = 0; i < 2; i++) {
		if (s->fd[i] >= 0)
			close(s->fd[i]);
		s->fd[i] = -1;
	}
	place_remove(&s->place);
	s->path[0] = 0;
}

u32 server_poll_fds(const struct server *s, struct pollfd *fds)
{
	u32 n = 0;

	for (u32 i = 0; i < 2; i++)
		if (s->fd[i] >= 0)
			fds[n++] = (struct pollfd){ .fd = s->fd[i], .events = POLLIN };
	for (u32 i = 0; i < s->npending; i++)
		fds[n++] = (struct pollfd){ .fd = s->pending[i].fd, .events = POLLIN };
	return n;
}

void server_polled(struct server *s, const struct pollfd *fds)
{
	u32 n = 0;

	for (u32 i = 0; i < 2; i++)
		if (s->fd[i] >= 0)
			s->calling[i] = fds[n++].revents;
}

static void pending_remove(struct server *s, u32 i)
{
	s->pending[i] = s->pending[--s->npending];
}

static u32 pending_of(const struct server *s, pid_t pid)
{
	u32 n = 0;

	for (u32 i = 0; i < s->npending; i++)
		n += s->pending[i].pid == pid;
	return n;
}

/*
 * Makes room, if there is somebody who can wait no longer: of whoever has most connections the
 * oldest goes. An agent has one, and speaks at once.
 */
static bool pending_evict(struct server *s, u64 now_ns)
{
	u32 worst = 0, most = 0;

	for (u32 i = 0; i < s->npending; i++) {
		const struct server_pending *p = &s->pending[i];
		u32 n = pending_of(s, p->pid);

		if (n == 1 && now_ns - p->since_ns < GRACE_NS)
			continue;
		if (n > most || (n == most && p->since_ns < s->pending[worst].since_ns)) {
			worst = i;
			most = n;
		}
	}
	if (!most)
		return false;
	close(s->pending[worst].fd);
	pending_remove(s, worst);
	return true;
}

static bool pending_add(struct server *s, int listening, u64 now_ns)
{
	struct ucred cred = { .pid = 0 };
	socklen_t size = sizeof(cred);
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size))
		close(fd);
	else
		s->pending[s->npending++] = (struct server_pending){ fd, cred.pid, now_ns };
	return true;
}

/*
 * Not more at a time than there is room for: a flood shall not keep us from all else. Not without
 * need: an accept4(2) in vain costs as much as one that succeeds, and an agent waits meanwhile.
 */
static void server_accept(struct server *s, u64 now_ns)
{
	for (u32 i = 0; i < 2; i++) {
		for (u32 n = 0; s->calling[i] && n < SERVER_PENDING; n++) {
			if (s->npending == SERVER_PENDING && !pending_evict(s, now_ns))
				break;
			s->calling[i] = pending_add(s, s->fd[i], now_ns);
		}
		s->calling[i] = false;
	}
}

/* Whoever does not know the token is not ours. */
static bool hello_genuine(const struct server *s, const struct wire_hello *hello, ssize_t n)
{
	u32 differ = 0;

	if (n != sizeof(*hello) || hello->magic != WIRE_MAGIC || hello->size != sizeof(*hello))
		return false;
	for (u32 i = 0; i < WIRE_TOKEN_SIZE; i++)
		differ |= (u32)(hello->token[i] ^ s->token[i]);
	return differ == 0;
}

/* One that has spoken, or whose time is over, is no longer pending. */
static bool pending_receive(struct server *s, struct server_hello *h, u64 now_ns)
{
	for (u32 i = 0; i < s->npending;) {
		struct server_pending p = s->pending[i];
		/* The length is that of the message, not of what was kept of it. */
		ssize_t n = recv(p.fd, &h->hello, sizeof(h->hello), MSG_TRUNC);

		if (n < 0 && (errno == EAGAIN || errno == EINTR) && now_ns - p.since_ns < PATIENCE_NS) {
			i++;
			continue;
		}
		pending_remove(s, i);
		if (hello_genuine(s, &h->hello, n)) {
			h->fd = p.fd;
			h->pid = p.pid;
			return true;
		}
		close(p.fd);
	}
	return false;
}

bool server_receive(struct server *s, struct server_hello *h, u64 now_ns)
{
	/* First those that have spoken: they need not make room. */
	if (pending_receive(s, h, now_ns))
		return true;
	server_accept(s, now_ns);
	return pending_receive(s, h, now_ns);
}

/* At most WIRE_RINGS of them. */
static bool send_rings(int fd, const struct ring *rings, u32 n)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(WIRE_RINGS * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct wire_rings w = { .magic = WIRE_MAGIC, .n = n };
	struct iovec iov = { &w, sizeof(w) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_len = CMSG_LEN(n * sizeof(int));
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	for (u32 i = 0; i < n; i++) {
		w.cpu[i] = rings[i].cpu;
		memcpy(CMSG_DATA(h) + i * sizeof(int), &rings[i].fd, sizeof(int));
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL) >= 0;
}

bool server_answer(struct server_hello *h, const struct wire_config *config, int memfd, const struct ring *rings)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { (void *)(uintptr_t)config, sizeof(*config) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	bool taken = true;

	if (memfd >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		*CMSG_FIRSTHDR(&m) = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS
		};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &memfd, sizeof(int));
	}
	if (sendmsg(h->fd, &m, MSG_NOSIGNAL) < 0) {
		taken = false;
		verbose(1, "process %d is gone before its configuration came: %s", (int)h->pid, strerror(errno));
	}
	for (u32 i = 0; i < config->rings; i += WIRE_RINGS)
		if (!send_rings(h->fd, rings + i, MIN(config->rings - i, WIRE_RINGS)))
			break;
	close(h->fd);
	h->fd = -1;
	return taken;
}

/* It went on: what came after that is in nobody's regions. */
static void hello_unheard(struct session *s, struct process *p, struct segment *g)
{
	static const char why[] = "it waited 2 s for sparkctl, which was stopped or had no CPU, and went on without";
	struct target *t = &s->target;

	s->start_unheard++;
	if (g)
		g->unheard = true;
	if (!p)
		return;
	p->facts.agent = false;
	free(p->no_agent);
	p->no_agent = strdup(why);
	if (p == s->processes.list[0])
		snprintf(t->obstacle, sizeof(t->obstacle), "%.240s did not load the agent in time: %s", s->options->argv[0], why);
}

void hello_waited(struct session *s, const struct server_hello *h, bool taken, struct process *p, struct segment *g)
{
	u64 now = session_now(), since = h->hello.ns, limit = WIRE_WAIT_SECONDS * NSEC_PER_SEC;

	/* A stranger may say anything, and a time namespace moves the clock. */
	if (!since || since < s->start_ns || since > now || now - since < HELLO_WAIT_NS)
		return;
	if (!taken && now - since >= limit) {
		hello_unheard(s, p, g);
	} else {
		s->start_waits++;
		s->start_longest_ns = MAX(s->start_longest_ns, MIN(now - since, 2 * limit));
	}
}

void hello_left(struct session *s)
{
	struct pollfd fds[2 + SERVER_PENDING];
	u32 n = server_poll_fds(&s->server, fds);
	struct server_hello h;

	if (!n || poll(fds, n, 0) <= 0)
		return;
	server_polled(&s->server, fds);
	while (server_receive(&s->server, &h, session_now())) {
		close(h.fd);
		hello_waited(s, &h, false, NULL, NULL);
	}
}
