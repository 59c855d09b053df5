/* SPDX-License-Identifier: MIT */
/*
 * Opening an event by steps: as asked for; without telling guests from hosts; of user mode alone;
 * of any mode where the PMU cannot tell them apart. What the kernel would count as a silent 0,
 * since the event happens on a side that is excluded, is not tried.
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *attempt_futile(const struct event *event)
{
	if (event->obstacle)
		return event->obstacle;
	if (event->scope == EVENT_SYSTEM)
		return "it counts a part of the machine, not a program: what runs beside would be in it";
	if (event->side == EVENT_KERNEL && event->attr.exclude_kernel)
		return "it happens in the kernel: in user mode alone it would read 0";
	if (event->side == EVENT_USER && event->attr.exclude_user)
		return "it happens in user mode: without that it would read 0";
	return NULL;
}

/*
 * The kernel reads a probe's file name from user memory once more when a task inherits it: the
 * target's memory, so that its fork would fail with EFAULT. Such an event stays with one thread.
 */
bool attempt_heritable(const struct event *event)
{
	return !event->pmu || (strcmp(event->pmu, "uprobe") != 0 && strcmp(event->pmu, "kprobe") != 0);
}

void attempt_attr(const struct event *event, struct attempt attempt, union event_attr *a)
{
	*a = (union event_attr){ .attr = event->attr };
	if (event->config3) {
		a->newer.config3 = event->config3;
		a->attr.size = sizeof(a->newer);
	}
	a->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	a->attr.disabled = 1;
	/* Of samples; a PMU may refuse them where nothing is sampled. */
	a->attr.sample_period = a->attr.freq = a->attr.precise_ip = 0;
	if (attempt.less == ATTEMPT_USER)
		a->attr.exclude_kernel = a->attr.exclude_hv = 1;
	if (attempt.less == ATTEMPT_ANY_SIDE)
		a->attr.exclude_user = a->attr.exclude_kernel = a->attr.exclude_hv = a->attr.exclude_idle = 0;
	if (attempt.guest)
		a->attr.exclude_guest = a->attr.exclude_host = 0;
}

static bool attempt_refused(int fd)
{
	return fd == -EINVAL || fd == -EOPNOTSUPP;
}

int attempt_open(const struct event *event, int (*open)(void *context, union event_attr *attr, bool heritable),
		 void *context, struct attempt *attempt)
{
	const struct attempt all = { ATTEMPT_ALL, false }, guest = { ATTEMPT_ALL, true };
	const struct attempt user = { ATTEMPT_USER, false }, user_guest = { ATTEMPT_USER, true };
	const struct attempt any = { ATTEMPT_ANY_SIDE, true };
	bool heritable = attempt_heritable(event);
	union event_attr a;
	int fd, less;

#define TRY(what) (attempt_attr(event, what, &a), *attempt = (what), open(context, &a, heritable))
	fd = TRY(all);
	if (attempt_refused(fd))
		fd = TRY(guest);
	if ((fd == -EACCES || fd == -EPERM) && event->side != EVENT_KERNEL && !event->attr.exclude_user &&
	    !event->attr.exclude_kernel) {
		less = TRY(user);
		if (attempt_refused(less))
			less = TRY(user_guest);
		if (less >= 0)
			return less;
		*attempt = all;
	}
	if (attempt_refused(fd) && (event->attr.exclude_user || event->attr.exclude_kernel))
		fd = TRY(any);
#undef TRY
	return fd;
}

int attempt_filter(const struct event *event, int fd)
{
	int err;

	if (fd < 0 || !event->filter || !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, event->filter))
		return fd;
	err = errno;
	close(fd);
	return -err;
}

const char *attempt_idle(const struct caps_context *caps, bool hardware, bool pinned)
{
	static const char *const why[2][2] = {
		{ "the event never ran",
		  "the event never ran; the NMI watchdog holds a counter: sudo sysctl kernel.nmi_watchdog=0 gives it back" },
		{ "it was pinned, and the kernel had no counter for it",
		  "it was pinned, and the kernel had no counter for it: the NMI watchdog holds one, which "
		  "sudo sysctl kernel.nmi_watchdog=0 gives back" },
	};

	return why[pinned][hardware && facts_watchdog(caps)];
}

const char *attempt_note(const struct event *event, struct attempt attempt)
{
	if (event->side == EVENT_NO_SIDE && (event->attr.exclude_kernel || event->attr.exclude_user))
		return "a clock runs in both modes, whatever is excluded";
	if (event->side == EVENT_NO_SIDE)
		return NULL;
	/* The program's own doing, calls of the system too: nothing of it is missing. */
	if (event->side == EVENT_USER && attempt.less == ATTEMPT_USER)
		return NULL;
	if (attempt.less == ATTEMPT_USER)
		return CELL_NOTE_USER;
	return attempt.less == ATTEMPT_ANY_SIDE ? "user and kernel mode: this PMU cannot tell them apart" : NULL;
}
