/* SPDX-License-Identifier: MIT */
/* When counting starts, pauses and ends; see steer.h. */
#define _GNU_SOURCE
#include "cli/session/steer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/opt.h"
#include "cli/session/internal.h"
#include "cli/text.h"

#define STEER_COMPLAINTS 8

/* ---- the channel ----------------------------------------------------------------------------------- */

/* Both ends are opened, so that neither waits for a writer nor sees an end when one leaves. */
static int steer_open_fifo(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return error("cannot open the fifo %s: %s", path, strerror(errno));
	if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
		return fd;
	close(fd);
	return error("%s is no fifo: mkfifo makes one", path);
}

static int steer_open_number(const char *text)
{
	unsigned long number;
	int fd = opt_parse_uint(text, &number) || number > INT_MAX ? -1 : fcntl((int)number, F_DUPFD_CLOEXEC, 3);

	return fd < 0 ? error("descriptor %s is not open", text) : fd;
}

/* Not O_NONBLOCK: whoever has handed a descriptor over shares its flags, and may go on to wait at it. */
bool channel_ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, 0) > 0;
}

int channel_open(const char *option, const char *text, int *control, int *answer)
{
	bool fifo = !strncmp(text, "fifo:", 5), number = !strncmp(text, "fd:", 3);
	char *ctl = fifo || number ? strdup(strchr(text, ':') + 1) : NULL, *ack = ctl ? strchr(ctl, ',') : NULL;
	int (*open_one)(const char *) = fifo ? steer_open_fifo : steer_open_number;
	bool open;

	if (ack)
		*ack++ = '\0';
	if (!ctl || !*ctl || (ack && !*ack)) {
		free(ctl);
		error("%s takes fifo:CTL, fifo:CTL,ACK or fd:CTL[,ACK], not '%s'", option, text);
		return -EINVAL;
	}
	*control = open_one(ctl);
	if (*control >= 0 && ack)
		*answer = open_one(ack);
	open = *control >= 0 && (!ack || *answer >= 0);
	free(ctl);
	return open ? 0 : -EIO;
}

int steer_open(struct steer *steer, const char *text)
{
	return channel_open("--control", text, &steer->control, &steer->ack);
}

void steer_close(struct steer *steer)
{
	if (steer->control >= 0)
		close(steer->control);
	if (steer->ack >= 0)
		close(steer->ack);
	steer->control = steer->ack = -1;
}

static void steer_set(struct steer *steer, bool on, u64 now)
{
	if (on == (steer->since_ns != 0) || (on && steer->stopped))
		return;
	if (on) {
		steer->since_ns = now;
	} else {
		steer->counted_ns += now - steer->since_ns;
		steer->since_ns = 0;
	}
	steer->ops->enable(steer->what, on);
}

/* Whoever writes there may write much: nobody wants to read it all. */
static void steer_unknown(struct steer *steer, const char *word)
{
	char text[4 * sizeof(steer->line) + 1];

	if (steer->unknown++ == STEER_COMPLAINTS)
		warning("the control channel says more that is no command: not shown");
	if (steer->unknown > STEER_COMPLAINTS)
		return;
	text_escape(text, sizeof(text), word, strlen(word));
	warning("the control channel says '%s': known are enable, disable, %sping and stop", text,
		steer->ops->report ? "report, " : "");
}

bool channel_answer(int fd)
{
	void (*before)(int);
	bool done;

	if (fd < 0)
		return true;
	before = signal(SIGPIPE, SIG_IGN);
	errno = EAGAIN;
	done = channel_ready(fd, POLLOUT) && write(fd, "ack\n", 4) == 4;
	signal(SIGPIPE, before);
	return done;
}

/* A reader that is gone, or that never comes, is no reason to stop. */
static void steer_answer(struct steer *steer)
{
	if (channel_answer(steer->ack) || steer->mute)
		return;
	steer->mute = true;
	warning("cannot answer on the control channel: %s", strerror(errno));
}

static void steer_command(struct steer *steer, u64 now)
{
	const char *word = steer->line;

	steer->line[steer->length] = '\0';
	steer->length = 0;
	if (!strcmp(word, "enable") || !strcmp(word, "disable")) {
		steer->enable_ns = 0;
		steer_set(steer, word[0] == 'e', now);
	} else if (!strcmp(word, "stop")) {
		steer_stop(steer, now);
	} else if (!strcmp(word, "report") && steer->ops->report) {
		steer->ops->report(steer->what);
	} else if (strcmp(word, "ping") != 0) {
		if (*word)
			steer_unknown(steer, word);
		return;
	}
	steer_answer(steer);
}

/* A piece at a time: who writes without end must not keep us from all else. */
static void steer_receive(struct steer *steer, u64 now)
{
	char text[256];
	ssize_t got;

	if (steer->control < 0 || !channel_ready(steer->control, POLLIN))
		return;
	got = read(steer->control, text, sizeof(text));
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got < 0)
		warning("nothing more comes of the control channel: %s", strerror(errno));
	for (ssize_t i = 0; i < got; i++)
		if (text[i] == '\n' || text[i] == '\0')
			steer_command(steer, now);
		else if (steer->length < sizeof(steer->line) - 1)
			steer->line[steer->length++] = text[i];
	if (got > 0)
		return;
	/* Of a descriptor that was given: nobody writes to it any more, or it can't be read. */
	close(steer->control);
	steer->control = -1;
}

/* ---- time ------------------------------------------------------------------------------------------ */

void steer_start(struct steer *steer, const struct steer_ops *ops, void *what, u64 now)
{
	if (!steer)
		return;
	steer->ops = ops;
	steer->what = what;
	steer->start_ns = now;
	steer->enable_ns = steer->delay_ns && !steer->begin_off ? now + steer->delay_ns : 0;
	steer->edge_ns = steer->interval_ns ? now + steer->interval_ns : 0;
	steer->since_ns = steer_defers(steer) ? 0 : now;
}

u64 steer_until(const struct steer *steer, u64 until)
{
	if (steer && steer->enable_ns)
		until = MIN(until, steer->enable_ns);
	if (steer && steer->edge_ns)
		until = MIN(until, steer->edge_ns);
	return until;
}

int steer_descriptor(const struct steer *steer)
{
	return steer ? steer->control : -1;
}

u64 steer_counted(const struct steer *steer, u64 now)
{
	return steer->counted_ns + (steer->since_ns && now > steer->since_ns ? now - steer->since_ns : 0);
}

void steer_look(struct steer *steer, u64 now)
{
	u64 elapsed;

	if (!steer)
		return;
	steer_receive(steer, now);
	if (steer->enable_ns && now >= steer->enable_ns) {
		steer->enable_ns = 0;
		steer_set(steer, true, now);
	}
	if (!steer->edge_ns || now < steer->edge_ns)
		return;
	elapsed = now - steer->start_ns;
	if (!steer->edge(steer->context, elapsed, steer->ops->read(steer->what, steer_counted(steer, now), elapsed)))
		steer_stop(steer, now);
	/* Those that were missed are part of the one that ends now. */
	steer->edge_ns += (now - steer->edge_ns) / steer->interval_ns * steer->interval_ns + steer->interval_ns;
}

void steer_stop(struct steer *steer, u64 now)
{
	if (!steer || steer->stopped)
		return;
	steer_set(steer, false, now);
	steer->enable_ns = 0;
	steer->stopped = true;
}

void steer_hold(struct steer *steer)
{
	if (steer && steer->edge_ns)
		steer->edge_ns = UINT64_MAX;
}

void steer_end(struct steer *steer, u64 now, const struct session_facts *facts)
{
	if (!steer || !steer->edge_ns)
		return;
	steer->edge_ns = 0;
	steer->edge(steer->context, now - steer->start_ns, facts);
}
