/* SPDX-License-Identifier: MIT */
/*
 * The place where agents say hello: one Unix socket in a 0700 directory of this session, and the
 * same by an abstract name, for targets in another root directory or of another user. The token in
 * the invitation is the secret; the peer's pid comes from the kernel (unix(7), SO_PEERCRED).
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/log.h"

#define BACKLOG 4096
#define PATIENCE_NS (2 * NSEC_PER_SEC)

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

static void dir_remove(const char *dir)
{
	static const char *const links[] = { SERVER_AGENT_LINK, SERVER_FOLDER_LINK };
	char path[160];

	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		if (snprintf(path, sizeof(path), "%s/%s", dir, links[i]) < (int)sizeof(path))
			unlink(path);
	rmdir(dir);
}

/* A session that was killed could not remove its directory: its socket refuses, and we do it. */
static void stale_remove(const char *parent, const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char dir[sizeof(a.sun_path) - 2];
	int fd;

	if (snprintf(dir, sizeof(dir), "%s/%s", parent, name) >= (int)sizeof(dir))
		return;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/s", dir);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) && errno == ECONNREFUSED) {
		unlink(a.sun_path);
		dir_remove(dir);
	}
	if (fd >= 0)
		close(fd);
}

/* The parent of all sessions of this user. Its name can be guessed, so it counts only if it is ours alone. */
static bool parent_ready(const char *parent)
{
	struct dirent *e;
	struct stat st;
	DIR *dir;

	if (mkdir(parent, 0700) && errno != EEXIST)
		return false;
	if (lstat(parent, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return false;
	dir = opendir(parent);
	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			stale_remove(parent, e->d_name);
	if (dir)
		closedir(dir);
	return true;
}

/* A short path, since sun_path has 108 bytes: PLACE/spark-UID/XXXXXX, or PLACE/spark-XXXXXX where the former is not safe. */
static bool dir_make(struct server *s, const char *place)
{
	if (!place || place[0] != '/' || strlen(place) > SERVER_PLACE_MOST)
		return false;
	snprintf(s->parent, sizeof(s->parent), "%s/spark-%u", place, geteuid());
	if (parent_ready(s->parent)) {
		snprintf(s->dir, sizeof(s->dir), "%s/XXXXXX", s->parent);
		if (mkdtemp(s->dir))
			return true;
	}
	s->parent[0] = 0;
	snprintf(s->dir, sizeof(s->dir), "%s/spark-XXXXXX", place);
	return mkdtemp(s->dir) != NULL;
}

static int server_make_dir(struct server *s)
{
	const char *places[] = { getenv("TMPDIR"), getenv("XDG_RUNTIME_DIR"), "/dev/shm", "/tmp", "/var/tmp" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (dir_make(s, places[i]))
			return 0;
	s->dir[0] = 0;
	return -1;
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
	if (getrandom(s->token, sizeof(s->token), 0) != sizeof(s->token))
		return error("cannot get random bytes: %s", strerror(errno));
	for (u32 i = 0; i < WIRE_TOKEN_SIZE; i++)
		snprintf(token + 2 * i, 3, "%02x", s->token[i]);
	if (server_make_dir(s) == 0) {
		/* Named s only when it listens: a socket s that refuses is one that a killed session left. */
		snprintf(s->path, sizeof(s->path), "%s/s", s->dir);
		snprintf(a.sun_path, sizeof(a.sun_path), "%s/t", s->dir);
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
	if (s->path[0])
		unlink(s->path);
	if (s->dir[0])
		dir_remove(s->dir);
	/* Stays while another session is there. */
	if (s->parent[0])
		rmdir(s->parent);
	s->path[0] = s->dir[0] = s->parent[0] = 0;
}

u32 server_poll_fds(const struct server *s, struct pollfd *fds)
{
	u32 n = 0;

	for (u32 i = 0; i < 2 && s->npending < SERVER_PENDING; i++)
		if (s->fd[i] >= 0)
			fds[n++] = (struct pollfd){ .fd = s->fd[i], .events = POLLIN };
	for (u32 i = 0; i < s->npending; i++)
		fds[n++] = (struct pollfd){ .fd = s->pending[i].fd, .events = POLLIN };
	return n;
}

static void server_accept(struct server *s, u64 now_ns)
{
	for (u32 i = 0; i < 2; i++)
		while (s->fd[i] >= 0 && s->npending < SERVER_PENDING) {
			int fd = accept4(s->fd[i], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

			if (fd < 0)
				break;
			s->pending[s->npending++] = (struct server_pending){ fd, now_ns };
		}
}

static void pending_remove(struct server *s, u32 i)
{
	s->pending[i] = s->pending[--s->npending];
}

/* Whoever does not know the token is not ours. */
static bool hello_genuine(const struct server *s, const struct server_hello *h, ssize_t n)
{
	u32 differ = 0;

	if (n != sizeof(h->hello) || h->hello.magic != WIRE_MAGIC || h->hello.size != sizeof(h->hello))
		return false;
	for (u32 i = 0; i < WIRE_TOKEN_SIZE; i++)
		differ |= (u32)(h->hello.token[i] ^ s->token[i]);
	return differ == 0;
}

bool server_receive(struct server *s, struct server_hello *h, u64 now_ns)
{
	server_accept(s, now_ns);
	for (u32 i = 0; i < s->npending;) {
		struct ucred cred;
		socklen_t size = sizeof(cred);
		int fd = s->pending[i].fd;
		ssize_t n = recv(fd, &h->hello, sizeof(h->hello), 0);

		if (n < 0 && (errno == EAGAIN || errno == EINTR) && now_ns - s->pending[i].since_ns < PATIENCE_NS) {
			i++;
			continue;
		}
		pending_remove(s, i);
		if (n > 0 && hello_genuine(s, h, n) && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0) {
			h->fd = fd;
			h->pid = cred.pid;
			return true;
		}
		close(fd);
	}
	return false;
}

void server_answer(struct server_hello *h, const struct wire_config *config, int memfd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { (void *)(uintptr_t)config, sizeof(*config) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (memfd >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		*CMSG_FIRSTHDR(&m) = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS
		};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &memfd, sizeof(int));
	}
	if (sendmsg(h->fd, &m, MSG_NOSIGNAL) < 0)
		verbose(1, "process %d is gone before its configuration came: %s", (int)h->pid, strerror(errno));
	close(h->fd);
	h->fd = -1;
}
