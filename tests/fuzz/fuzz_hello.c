/* SPDX-License-Identifier: MIT */
/*
 * Both sides of the hello, with messages that are nearly right: sparkctl's server takes those that
 * are, and no others; the agent does the same with the answer, and with the invitation. Nobody
 * keeps a descriptor that is not his.
 *
 * An input is one byte for the side, then messages: a connection, descriptors to pass, the length
 * as the next two bytes, and the bytes; of the invitation, its text.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/hello.h"
#include "cli/session/internal.h"
#include "tests/fuzz/fuzz.h"

#define ROOM 1024u
#define CONNECTIONS 4u
#define PASSED_MOST 3u

enum side { SIDE_SERVER, SIDE_AGENT, SIDE_INVITATION, SIDES };

struct message {
	u8 connection;
	u8 passed;                   /* descriptors that come with it */
	u8 length[2];
};

static const u8 token[WIRE_TOKEN_SIZE] = "0123456789abcde";
static int null_fd;

/* Which descriptors are open, of those that there may be. */
static u64 descriptors(void)
{
	u64 open = 0;

	for (int fd = 0; fd < 64; fd++)
		open |= (u64)(fcntl(fd, F_GETFD) >= 0) << fd;
	return open;
}

static void hello_open(char **argv)
{
	(void)argv;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd < 0)
		abort();
}

/* ---- inputs ------------------------------------------------------------------------------------------ */

static size_t message_put(u8 *at, u8 connection, u8 passed, const void *bytes, size_t size)
{
	struct message m = { connection, passed, { (u8)size, (u8)(size >> 8) } };

	memcpy(at, &m, sizeof(m));
	memcpy(at + sizeof(m), bytes, size);
	return sizeof(m) + size;
}

static size_t hello_make(u8 *input)
{
	struct wire_hello hello = { .magic = WIRE_MAGIC, .version = WIRE_VERSION, .size = sizeof(hello), .pid = 1, .tid = 1 };
	struct wire_config config = { .magic = WIRE_MAGIC, .version = WIRE_VERSION, .size = sizeof(config) };
	size_t size = 1;

	memcpy(hello.token, token, sizeof(token));
	input[0] = (u8)(fuzz_once_in(4) ? fuzz_below(SIDES) : SIDE_SERVER);
	if (input[0] == SIDE_INVITATION)
		return size + (size_t)sprintf((char *)input + size, "%d,1,99,%032d,/nonexistent/spark-0/abcdef/s", WIRE_VERSION, 0);
	if (input[0] == SIDE_AGENT)
		return size + message_put(input + size, 0, (u8)fuzz_below(PASSED_MOST + 1), &config, sizeof(config));
	for (u64 n = 1 + fuzz_below(4); n; n--) {
		u8 connection = (u8)fuzz_below(CONNECTIONS);
		u8 passed = (u8)(fuzz_once_in(4) ? fuzz_below(PASSED_MOST + 1) : 0);

		size += message_put(input + size, connection, passed, &hello, sizeof(hello));
	}
	return size;
}

static size_t hello_mutate(u8 *input, size_t size)
{
	return input[0] % SIDES == SIDE_INVITATION ? 1 + fuzz_mutate_text(input + 1, size - 1, ROOM - 1)
						   : fuzz_mutate_bytes(input, size, ROOM);
}

/* ---- messages ---------------------------------------------------------------------------------------- */

/* Sends the next message of the input; false at its end. *length and *bytes are of what went out. */
static bool message_send(const int *fds, const u8 **at, size_t *left, u32 *connection, size_t *length)
{
	struct message head;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(PASSED_MOST * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov;
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	u32 passed;

	if (*left < sizeof(head))
		return false;
	memcpy(&head, *at, sizeof(head));
	*at += sizeof(head);
	*left -= sizeof(head);
	*length = MIN((size_t)head.length[0] + 256u * head.length[1], *left);
	*connection = head.connection % CONNECTIONS;
	passed = head.passed % (PASSED_MOST + 1);
	iov = (struct iovec){ (void *)(uintptr_t)*at, *length };
	if (passed) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(passed * sizeof(int));
		control.align = (struct cmsghdr){ .cmsg_len = CMSG_LEN(passed * sizeof(int)), .cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS };
		for (u32 i = 0; i < passed; i++)
			memcpy(CMSG_DATA(&control.align) + i * sizeof(int), &null_fd, sizeof(int));
	}
	sendmsg(fds[*connection], &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	*at += *length;
	*left -= *length;
	return true;
}

static bool is_genuine(const u8 *bytes, size_t length)
{
	struct wire_hello hello;

	if (length != sizeof(hello))
		return false;
	memcpy(&hello, bytes, sizeof(hello));
	return hello.magic == WIRE_MAGIC && hello.size == sizeof(hello) && !memcmp(hello.token, token, sizeof(token));
}

/* The first message of a connection decides. */
static void server_run(const u8 *at, size_t left)
{
	struct server server = { .fd = { -1, -1 }, .place.lock = -1 };
	const struct wire_config config = { .magic = WIRE_MAGIC };
	struct server_hello hello;
	int fds[CONNECTIONS], pair[2];
	bool spoken[CONNECTIONS] = { false }, taken;
	u32 connection;
	size_t length;

	memcpy(server.token, token, sizeof(token));
	for (u32 i = 0; i < CONNECTIONS; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
			abort();
		fds[i] = pair[0];
		server.pending[server.npending++] = (struct server_pending){ pair[1], (pid_t)i, 1 };
	}
	while (message_send(fds, &at, &left, &connection, &length)) {
		bool genuine = !spoken[connection] && is_genuine(at - length, length);

		spoken[connection] = true;
		taken = server_receive(&server, &hello, 1);
		fuzz_check(taken == genuine, "a hello is taken if it is one");
		if (!taken)
			continue;
		fuzz_check(!memcmp(&hello.hello, at - length, length), "it is the one that was sent");
		fuzz_check(hello.pid == (pid_t)connection, "it is of whom it came from");
		server_answer(&hello, &config, null_fd, NULL);
	}
	/* Silence has an end. */
	fuzz_check(!server_receive(&server, &hello, 1000 * NSEC_PER_SEC) && !server.npending, "nobody is waited for");
	server_close(&server);
	for (u32 i = 0; i < CONNECTIONS; i++)
		close(fds[i]);
}

static void agent_run(const u8 *at, size_t left)
{
	struct wire_config config, sent;
	int fds[CONNECTIONS], pair[2], memfd, ret;
	const u8 *first = at + sizeof(struct message);
	u32 connection, passed = left > 1 ? at[1] % (PASSED_MOST + 1) : 0;
	size_t length;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		abort();
	for (u32 i = 0; i < CONNECTIONS; i++)
		fds[i] = pair[0];
	if (message_send(fds, &at, &left, &connection, &length)) {
		ret = hello_receive(pair[1], &config, &memfd);
		memset(&sent, 0, sizeof(sent));
		memcpy(&sent, first, MIN(length, sizeof(sent)));
		if (length < sizeof(sent) || sent.magic != WIRE_MAGIC || sent.version != WIRE_VERSION || sent.size != sizeof(sent))
			fuzz_check(ret == -EPROTO, "an answer that is none is refused");
		fuzz_check((memfd >= 0) == (passed == 1), "one descriptor is taken, others are not");
		if (memfd >= 0)
			close(memfd);
	}
	close(pair[0]);
	close(pair[1]);
}

static void invitation_run(const u8 *at, size_t left)
{
	struct wire_config config;
	char *text = strndup((const char *)at, left);

	if (!text || setenv(WIRE_ENV, text, 1))
		abort();
	fuzz_check(hello_say(&config) != 0, "nobody answers");
	free(text);
	unsetenv(WIRE_ENV);
}

static void hello_run(const u8 *input, size_t size)
{
	u64 before = descriptors();

	if (!size)
		return;
	switch (input[0] % SIDES) {
	case SIDE_SERVER:
		server_run(input + 1, size - 1);
		break;
	case SIDE_AGENT:
		agent_run(input + 1, size - 1);
		break;
	default:
		invitation_run(input + 1, size - 1);
	}
	fuzz_check(descriptors() == before, "all descriptors are closed");
}

const struct fuzz fuzz_target = {
	.name = "hello",
	.room = ROOM,
	.rounds = 20000,
	.open = hello_open,
	.make = hello_make,
	.mutate = hello_mutate,
	.run = hello_run,
};
