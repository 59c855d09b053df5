/* SPDX-License-Identifier: MIT */
/* See blocking.h. Kernels for other processors have other calls: those that lack here are unknown there. */
#include "cli/names/blocking.h"

#include <string.h>
#include <sys/syscall.h>

/* By number; of a call that this processor lacks there is no row. */
static const struct blocking_call calls[] = {
#define FUTEX(call) [SYS_##call] = { #call, BLOCKING_FUTEX, 0 },
#define SLEEP(call) [SYS_##call] = { #call, BLOCKING_SLEEP, 0 },
#define IO(call) [SYS_##call] = { #call, BLOCKING_IO, 0 },
#define DISK(call) [SYS_##call] = { #call, BLOCKING_DISK, 0 },
#define BY_FILE(call, argument) [SYS_##call] = { #call, BLOCKING_BY_FILE, argument },
#define OTHER(call) [SYS_##call] = { #call, BLOCKING_OTHER, 0 },
#include "cli/names/blocking.def"
};

const struct blocking_call *blocking_call(long number)
{
	if (number < 0 || (size_t)number >= ARRAY_SIZE(calls) || !calls[number].name)
		return NULL;
	return &calls[number];
}

enum blocking_class blocking_by_place(const char *place)
{
	static const struct {
		const char *begin;
		enum blocking_class class;
	} rows[] = {
		{ "futex", BLOCKING_FUTEX }, { "do_futex", BLOCKING_FUTEX }, { "hrtimer_nanosleep", BLOCKING_SLEEP },
		{ "do_nanosleep", BLOCKING_SLEEP }, { "sigsuspend", BLOCKING_SLEEP }, { "do_sigtimedwait", BLOCKING_SLEEP },
		{ "pipe_", BLOCKING_IO }, { "anon_pipe_", BLOCKING_IO }, { "unix_", BLOCKING_IO }, { "sk_wait", BLOCKING_IO },
		{ "wait_for_more_packets", BLOCKING_IO }, { "__skb_wait", BLOCKING_IO }, { "inet_csk_accept", BLOCKING_IO },
		{ "tcp_", BLOCKING_IO }, { "ep_poll", BLOCKING_IO }, { "do_epoll_wait", BLOCKING_IO },
		{ "do_poll", BLOCKING_IO }, { "poll_schedule", BLOCKING_IO }, { "do_select", BLOCKING_IO },
		{ "do_sys_poll", BLOCKING_IO }, { "wait_woken", BLOCKING_IO }, { "n_tty_read", BLOCKING_IO },
		{ "folio_wait", BLOCKING_DISK }, { "io_schedule", BLOCKING_DISK }, { "wait_on_page", BLOCKING_DISK },
		{ "jbd2_", BLOCKING_DISK }, { "submit_bio_wait", BLOCKING_DISK }, { "blkdev_", BLOCKING_DISK },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strncmp(place, rows[i].begin, strlen(rows[i].begin)))
			return rows[i].class;
	return BLOCKING_OTHER;
}
