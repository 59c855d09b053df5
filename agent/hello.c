/* SPDX-License-Identifier: MIT */
/*
 * The agent's only conversation with sparkctl: one message there, one back with the segment's
 * descriptor, and both descriptors are closed again. Every wait has a limit.
 */
#define _GNU_SOURCE
#include "agent.h"
#include "hello.h"
#include "proc.h"
#include "safe.h"
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "banned.h"

struct invitation {
	u32 pid;
	u32 filters;
	u8 token[WIRE_TOKEN_SIZE];
	char token_text[2 * WIRE_TOKEN_SIZE + 1];
	const char *path;          /* NULL: the socket is connected */
};

/* "1,<pid>,<filters>,<token>,<path>" (wire.h); anything else is no invitation. */
static int invitation_parse(const char *text, struct invitation *v)
{
	if (!text || text[0] != '0' + WIRE_VERSION || text[1] != ',')
		return -ENOENT;
	text = safe_parse_number(text + 2, &v->pid);
	if (*text++ != ',')
		return -EINVAL;
	text = safe_parse_number(text, &v->filters);
	if (*text++ != ',')
		return -EINVAL;
	if (safe_parse_hex(text, v->token, WIRE_TOKEN_SIZE))
		return -EINVAL;
	memcpy(v->token_text, text, sizeof(v->token_text) - 1);
	v->token_text[sizeof(v->token_text) - 1] = 0;
	text += sizeof(v->token_text) - 1;
	if (*text++ != ',')
		return -EINVAL;
	v->path = text;
	return 0;
}

static int hello_connect(int fd, const struct invitation *v)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t length = strlen(v->path);

	if (length && length < sizeof(a.sun_path)) {
		memcpy(a.sun_path, v->path, length);
		if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
			return 0;
	}
	/* Not reachable by path: another root directory or another user. */
	memset(a.sun_path, 0, sizeof(a.sun_path));
	memcpy(a.sun_path + 1, WIRE_ABSTRACT_PREFIX, sizeof(WIRE_ABSTRACT_PREFIX) - 1);
	memcpy(a.sun_path + sizeof(WIRE_ABSTRACT_PREFIX), v->token_text, WIRE_ABSTRACT_DIGITS);
	length = offsetof(struct sockaddr_un, sun_path) + sizeof(WIRE_ABSTRACT_PREFIX) + WIRE_ABSTRACT_DIGITS;
	return connect(fd, (struct sockaddr *)&a, (socklen_t)length) ? -errno : 0;
}

/*
 * Whoever outlives sparkctl keeps the invitation, and anybody may take the free address then: an
 * answer is only good from those who could do with us what they like anyway (unix(7), SO_PEERCRED).
 */
static int hello_check_peer(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return -errno;
	return peer.uid == 0 || peer.uid == getuid() ? 0 : -EPERM;
}

/* The descriptor of a message: one that is alone. Others are none of ours, and must not stay. */
static int control_descriptor(struct msghdr *m)
{
	struct cmsghdr *h = CMSG_FIRSTHDR(m);
	int fds[2] = { -1, -1 };

	if (!h || h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(fds, CMSG_DATA(h), MIN(h->cmsg_len - CMSG_LEN(0), sizeof(fds)));
	if (fds[1] < 0)
		return fds[0];
	close(fds[0]);
	close(fds[1]);
	return -1;
}

int hello_receive(int fd, struct wire_config *c, int *memfd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))]; /* padded: two fit */
	} control;
	struct iovec iov = { c, sizeof(*c) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	ssize_t n;

	*memfd = -1;
	do {
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	*memfd = control_descriptor(&m);
	if (n != sizeof(*c) || c->magic != WIRE_MAGIC || c->version != WIRE_VERSION || c->size != sizeof(*c))
		return -EPROTO;
	return 0;
}

/* With RLIMIT_NOFILE at its limit the descriptor does not arrive; the socket's own number serves for this way. */
static int hello_open_memfd(const struct wire_config *c)
{
	char path[64];

	safe_format_fd_path(path, c->peer_pid, (u32)c->peer_fd);
	return open(path, O_RDWR | O_CLOEXEC);
}

static int hello_talk(int fd, const struct invitation *v, u32 flags, struct wire_config *c, int *memfd)
{
	struct timeval limit = { WIRE_WAIT_SECONDS, 0 };
	struct wire_hello hello = {
		.magic = WIRE_MAGIC,
		.version = WIRE_VERSION,
		.size = sizeof(hello),
		.pid = (u32)getpid(),
		.tid = (u32)syscall_raw(SYS_gettid, 0, 0, 0, 0, 0, 0),
		.abi = SPARK_ABI_VERSION,
		.flags = flags,
		.ns = clock_ns(CLOCK_MONOTONIC_RAW),
	};
	int ret;

	memcpy(hello.token, v->token, sizeof(hello.token));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	ret = v->path ? hello_connect(fd, v) : 0;
	/* The other end of a socket that the process was made to make is whose it was given to. */
	if (!ret && v->path)
		ret = hello_check_peer(fd);
	if (ret)
		return ret;
	if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello))
		return -errno;
	if (!(flags & WIRE_HELLO_FORKED))
		detect_arm();
	ret = hello_receive(fd, c, memfd);
	if (!ret)
		watch_receive(fd, c);
	return ret;
}

/*
 * A filter that the program was started under, and sparkctl not, may kill for a socket. The loader
 * has just opened and read files, so that is allowed (proc(5), /proc/PID/status, Seccomp_filters;
 * Linux 5.9). Raw calls: another preload may count the program's own.
 */
static bool filter_added(u32 known)
{
	static const char key[] = "\nSeccomp_filters:\t";
	char text[4096];
	const char *at;
	long n = proc_read(AT_FDCWD, "/proc/self/status", text, sizeof(text) - 1);
	u32 filters;

	text[MAX(n, 0)] = 0;
	at = strstr(text, key);
	if (!at)
		return false;
	safe_parse_number(at + sizeof(key) - 1, &filters);
	return filters > known;
}

/* For forked children, which may have another environment when they come to need it. */
static struct {
	struct invitation v;
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
} kept;

static void invitation_keep(const struct invitation *v)
{
	const char *path = v->path ? v->path : ""; /* then by the token alone */
	size_t length = strlen(path);

	kept.v = *v;
	kept.v.path = kept.path;
	if (length < sizeof(kept.path))
		memcpy(kept.path, path, length + 1);
}

void hello_rings(void)
{
	struct wire_config c;
	int fd, memfd = -1;

	if (!kept.v.path)
		return;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	hello_talk(fd, &kept.v, WIRE_HELLO_FORKED, &c, &memfd);
	if (memfd >= 0)
		close(memfd);
	close(fd);
}

/* Maps what came with the answer, unless it failed. */
static int hello_take(int ret, const struct wire_config *c, int memfd)
{
	if (!ret && memfd < 0)
		memfd = hello_open_memfd(c);
	if (!ret && memfd < 0)
		ret = -errno;
	if (!ret)
		ret = segment_open(memfd);
	if (memfd >= 0)
		close(memfd);
	return ret;
}

static void token_write(struct invitation *v)
{
	static const char digits[] = "0123456789abcdef";

	for (u32 i = 0; i < WIRE_TOKEN_SIZE; i++) {
		v->token_text[2 * i] = digits[v->token[i] >> 4];
		v->token_text[2 * i + 1] = digits[v->token[i] & 15];
	}
}

int hello_say_on(int fd, const u8 *token, struct wire_config *c)
{
	struct invitation v = { .path = NULL };
	int memfd = -1, ret;

	memcpy(v.token, token, sizeof(v.token));
	token_write(&v);
	ret = hello_talk(fd, &v, 0, c, &memfd);
	/* That of a session before is over. */
	kept.v.path = NULL;
	if (!ret && c->flags & WIRE_WATCH)
		invitation_keep(&v);
	if (!ret && c->verdict != WIRE_GO)
		ret = -ECANCELED;
	return hello_take(ret, c, memfd);
}

int hello_say(struct wire_config *c)
{
	struct invitation v;
	int fd, memfd = -1, ret;

	ret = invitation_parse(secure_getenv(WIRE_ENV), &v);
	if (ret)
		return ret;
	if (filter_added(v.filters))
		return -EPERM;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	ret = hello_talk(fd, &v, 0, c, &memfd);
	close(fd);
	if (!ret && c->flags & WIRE_WATCH)
		invitation_keep(&v);
	if (!ret && c->verdict != WIRE_GO)
		ret = -ECANCELED;
	return hello_take(ret, c, memfd);
}
