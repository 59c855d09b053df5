/* SPDX-License-Identifier: MIT */
/* Counting what runs already, without a command, until it has been long enough; see count.h. */
#define _GNU_SOURCE
#include "cli/session/count_internal.h"
#include "cli/session/steer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/log.h"

#define WAIT_LOOK_NS (50 * NSEC_PER_MSEC) /* how often to look whether a thread has ended, for which there is no event */

static const struct session_facts *read_count(void *what, u64 counted_ns, u64 elapsed_ns)
{
	count_read(what, counted_ns, elapsed_ns);
	return count_facts(what);
}

static void enable_count(void *what, bool on)
{
	count_enable(what, on);
}

static const struct steer_ops count_ops = { enable_count, read_count, NULL };

static int wait_signals(sigset_t *before)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&set, signals[i]);
	signals_spare(&set);
	sigprocmask(SIG_BLOCK, &set, before);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? error("cannot read signals: %s", strerror(errno)) : fd;
}

/* Some of them have no descriptor that tells of their end. */
static bool wait_must_look(const struct count *count)
{
	for (size_t i = 0; i < count->nwatched; i++)
		if (!count->watch[i].ended && (count->watch[i].pidfd < 0 || count->options->kind == COUNT_THREADS))
			return true;
	return false;
}

static int wait_ms(u64 now, u64 until)
{
	return until <= now ? 0 : (int)MIN((until - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC, 3600000);
}

/* One wait. True: a signal came. */
static bool wait_once(struct count *count, struct pollfd *fds, u64 now, u64 until)
{
	struct signalfd_siginfo info;
	nfds_t n = 2;

	for (size_t i = 0; i < count->nwatched; i++)
		if (!count->watch[i].ended && count->watch[i].pidfd >= 0)
			fds[n++] = (struct pollfd){ .fd = count->watch[i].pidfd, .events = POLLIN };
	if (poll(fds, n, wait_ms(now, until)) <= 0)
		return false;
	n = 2;
	for (size_t i = 0; i < count->nwatched; i++)
		if (!count->watch[i].ended && count->watch[i].pidfd >= 0)
			count->watch[i].ended = fds[n++].revents != 0;
	/* Taken: left pending it would end us as soon as it is unblocked, before the report. */
	return fds[0].revents && read(fds[0].fd, &info, sizeof(info)) == sizeof(info);
}

static void wait_for_end(struct count *count, struct steer *steer, struct pollfd *fds, u64 end)
{
	u64 now = session_now();

	while (!steer->stopped && now < end) {
		u64 until = steer_until(steer, end);

		if (wait_must_look(count))
			until = MIN(until, now + WAIT_LOOK_NS);
		fds[1] = (struct pollfd){ .fd = steer_descriptor(steer), .events = POLLIN };
		if (wait_once(count, fds, now, until) || count_tasks_over(count))
			break;
		now = session_now();
		steer_look(steer, MIN(now, end));
	}
	now = session_now();
	steer_stop(steer, now);
	count_read(count, steer_counted(steer, now), now - steer->start_ns);
	steer_end(steer, now, count_facts(count));
}

int count_wait(struct count *count, struct steer *steer, u64 timeout_ns)
{
	struct pollfd *fds = calloc(count->nwatched + 2, sizeof(*fds));
	struct rlimit limit;
	sigset_t before;
	int signals;
	u64 now;

	if (!fds)
		return error("out of memory");
	/* There is no command that would have it. */
	count_raise_limit(&limit);
	signals = wait_signals(&before);
	if (signals >= 0) {
		fds[0] = (struct pollfd){ .fd = signals, .events = POLLIN };
		now = session_now();
		steer_start(steer, &count_ops, count, now);
		if (!steer_defers(steer))
			count_enable(count, true);
		wait_for_end(count, steer, fds, timeout_ns ? now + timeout_ns : UINT64_MAX);
		close(signals);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	free(fds);
	return signals < 0 ? -1 : 0;
}
