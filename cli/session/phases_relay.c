/* SPDX-License-Identifier: MIT */
/* The relay; see phases.h. It reads, passes on, and only then looks at what it was. */
#define _GNU_SOURCE
#include "cli/session/phases.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_MOST 4096u            /* bytes of a line that are looked at */

struct reader {
	struct relay *relay;
	char line[LINE_MOST + 1];
	u32 len;
	u64 missed, last_ns;
	bool asked;                  /* sparkctl wants to know when all that is there has been looked at */
	bool alone;                  /* sparkctl is gone */
};

/* Who takes it no more, or too slowly, must not keep the command's output waiting. */
static void reader_tell(struct reader *r, struct phase_message *message)
{
	size_t size = offsetof(struct phase_message, name) + message->len;

	message->missed = r->missed;
	if (r->alone)
		return;
	if (send(r->relay->control, message, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size)
		return;
	r->missed += message->ns != 0;
	r->alone = errno != EAGAIN && errno != EINTR && errno != ENOBUFS;
}

static void reader_line(struct reader *r, u64 ns)
{
	struct phase_message message = { .ns = MAX(ns, r->last_ns + 1) }; /* lines that come together have an order, too */
	regmatch_t match[2];
	const regmatch_t *named;

	if (r->len && r->line[r->len - 1] == '\r')
		r->len--;
	r->line[r->len] = '\0';
	r->len = 0;
	if (r->alone || regexec(r->relay->pattern, r->line, 2, match, 0))
		return;
	named = r->relay->pattern->re_nsub && match[1].rm_so >= 0 && match[1].rm_eo > match[1].rm_so ? &match[1] : &match[0];
	message.len = (u32)MIN(named->rm_eo - named->rm_so, (regoff_t)PHASE_NAME_MOST);
	memcpy(message.name, r->line + named->rm_so, message.len);
	if (!message.len)
		return;
	r->last_ns = message.ns;
	reader_tell(r, &message);
}

static void reader_look(struct reader *r, const char *text, size_t size, u64 ns)
{
	const char *end = text + size;

	while (text < end) {
		const char *line = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((line ? line : end) - text), fits = MIN(n, (size_t)(LINE_MOST - r->len));

		memcpy(r->line + r->len, text, fits);
		r->len += (u32)fits;
		text += n + (line != NULL);
		if (line)
			reader_line(r, ns);
	}
}

/* False: nobody reads it any more, and the command shall learn that, too. */
static bool pass_on(int to, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(to, text, size);

		if (n >= 0) {
			text += n;
			size -= (size_t)n;
		} else if (errno == EAGAIN) {
			poll(&(struct pollfd){ .fd = to, .events = POLLOUT }, 1, -1);
		} else if (errno != EINTR) {
			return false;
		}
	}
	return true;
}

/* 1, 0 when there is nothing now, or -1 when nothing will come. */
static int relay_piece(struct reader *r)
{
	static char text[1u << 16];
	struct relay *relay = r->relay;
	ssize_t n = relay->to < 0 ? pread(relay->from, text, sizeof(text), (off_t)relay->at)
				  : read(relay->from, text, sizeof(text));
	u64 ns = session_now();

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return relay->to < 0 && !n ? 0 : -1;
	if (relay->to >= 0 && !pass_on(relay->to, text, (size_t)n))
		return -1;
	relay->at += (u64)n;
	reader_look(r, text, (size_t)n, ns);
	return 1;
}

static void relay_size(const struct relay *relay)
{
	struct winsize size;

	if (!ioctl(relay->to, TIOCGWINSZ, &size))
		ioctl(relay->from, TIOCSWINSZ, &size);
}

/* A file may have been made shorter. */
static void relay_news(struct relay *relay)
{
	char text[4096];
	off_t size;

	while (read(relay->news, text, sizeof(text)) > 0)
		;
	if (relay->terminal)
		relay_size(relay);
	if (relay->to >= 0)
		return;
	size = lseek(relay->from, 0, SEEK_END);
	if (size >= 0 && (u64)size < relay->at)
		relay->at = (u64)size;
}

static void relay_control(struct reader *r)
{
	char byte;
	ssize_t n = recv(r->relay->control, &byte, 1, MSG_DONTWAIT);

	if (n > 0)
		r->asked = true;
	else if (!n || (errno != EAGAIN && errno != EINTR))
		r->alone = true;
}

/* False: it is over. */
static bool relay_round(struct reader *r)
{
	struct relay *relay = r->relay;
	bool file = relay->to < 0;
	struct pollfd fds[] = {
		{ .fd = file ? -1 : relay->from, .events = POLLIN },
		{ .fd = relay->to },
		{ .fd = relay->news, .events = POLLIN },
		{ .fd = r->alone ? -1 : relay->control, .events = POLLIN },
	};
	int more = 1;

	if (poll(fds, ARRAY_SIZE(fds), r->asked ? 0 : -1) < 0)
		return errno == EINTR;
	if (fds[1].revents)
		return false;
	if (fds[2].revents)
		relay_news(relay);
	if (fds[3].revents)
		relay_control(r);
	if (fds[0].revents)
		more = relay_piece(r);
	while (file && (more = relay_piece(r)) > 0)
		;
	if (r->asked && !(fds[0].revents & POLLIN) && !fds[3].revents) {
		struct phase_message done = { .ns = 0 };

		r->asked = false;
		reader_tell(r, &done);
	}
	return more >= 0 && !(file && r->alone);
}

/* Signals of the terminal and of groups are for the command: the relay ends when nobody can write any more. */
static void relay_spare(struct relay *relay)
{
	static const int spared[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2,
				      SIGALRM, SIGXFSZ };
	sigset_t resized;

	for (size_t i = 0; i < ARRAY_SIZE(spared); i++)
		signal(spared[i], SIG_IGN);
	if (!relay->terminal)
		return;
	sigemptyset(&resized);
	sigaddset(&resized, SIGWINCH);
	sigprocmask(SIG_BLOCK, &resized, NULL);
	relay->news = signalfd(-1, &resized, SFD_CLOEXEC | SFD_NONBLOCK);
	relay_size(relay);
}

void relay_run(struct relay *relay)
{
	static struct reader reader;

	reader.relay = relay;
	relay_spare(relay);
	while (relay_round(&reader))
		;
	if (reader.len)
		reader_line(&reader, session_now());
	_exit(0);
}
