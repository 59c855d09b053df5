/* SPDX-License-Identifier: MIT */
/*
 * Threads that began while events of others were opened; see count.h. What a thread starts inherits its events, so
 * that to open them once more would count twice: when each began, and who made it, tells which have them.
 */
#define _GNU_SOURCE
#include "cli/session/count_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/log.h"

#define LATE_DEPTH 16                /* of threads that were made by threads that came late themselves */

int count_leave(struct count *count, pid_t task, bool unknown)
{
	if (count->nleft == count->left_room) {
		size_t room = count->left_room ? 2 * count->left_room : 32;
		struct count_left *left = realloc(count->left, room * sizeof(*left));

		if (!left)
			return error("out of memory");
		count->left = left;
		count->left_room = room;
	}
	count->left[count->nleft++] = (struct count_left){ task, unknown };
	return 0;
}

size_t count_tell_left(const struct count *count, bool unknown, char *text, size_t size)
{
	size_t n = 0, len = 0;
	bool full = false;

	text[0] = '\0';
	for (size_t i = 0; i < count->nleft; i++) {
		if (count->left[i].unknown != unknown)
			continue;
		n++;
		if (len + 16 < size)
			len += (size_t)snprintf(text + len, size - len, " %d", (int)count->left[i].task);
		else if (!full)
			full = snprintf(text + len, size - len, " ...") > 0;
	}
	return n;
}

static const struct count_place *late_place(const struct count *count, pid_t task)
{
	for (size_t i = 0; i < count->nplaces; i++)
		if (count->place[i].task == task)
			return &count->place[i];
	return NULL;
}

static const struct count_left *late_left(const struct count *count, pid_t task)
{
	for (size_t i = 0; i < count->nleft; i++)
		if (count->left[i].task == task)
			return &count->left[i];
	return NULL;
}

/* The newest of its number. */
static const struct count_birth *late_birth(const struct count_births *births, u32 tid)
{
	for (size_t i = births->n; i--;)
		if (births->list[i].tid == tid)
			return &births->list[i];
	return NULL;
}

enum count_late count_judge(const struct count *count, const struct count_births *births, pid_t tid)
{
	for (u32 up = 0; up < LATE_DEPTH; up++) {
		const struct count_birth *birth = late_birth(births, (u32)tid);
		const struct count_place *parent;
		const struct count_left *left = late_left(count, tid);

		if (left)
			return left->unknown ? COUNT_UNKNOWN : COUNT_WITHOUT;
		/* Nobody who is watched made it, or not while he was. */
		if (!birth)
			return births->known ? COUNT_WITHOUT : COUNT_UNKNOWN;
		parent = late_place(count, (pid_t)birth->parent);
		if (parent)
			return birth->time_ns > parent->until_ns ? COUNT_ARMED :
			       birth->time_ns < parent->from_ns ? COUNT_WITHOUT : COUNT_UNKNOWN;
		tid = (pid_t)birth->parent;
	}
	return COUNT_UNKNOWN;
}

static int late_add(struct count *count, pid_t pid, pid_t tid)
{
	(void)pid;
	if (late_place(count, tid) || late_left(count, tid))
		return 0;
	if (count->nlate == count->late_room) {
		size_t room = count->late_room ? 2 * count->late_room : 32;
		pid_t *late = realloc(count->late, room * sizeof(*late));

		if (!late)
			return error("out of memory");
		count->late = late;
		count->late_room = room;
	}
	count->late[count->nlate++] = tid;
	return 0;
}

size_t count_find_late(struct count *count)
{
	count->nlate = 0;
	count_tasks_each(count, late_add);
	return count->nlate;
}

static bool late_open(struct count *count, pid_t tid)
{
	if (count_add_place(count, tid, -1, 0))
		return false;
	if (!count_open_place(count, count->nplaces - 1))
		return true;
	count->nplaces--;
	count_leave(count, tid, false);
	return false;
}

size_t count_arm_late(struct count *count, const struct count_birth *births, size_t n, bool known)
{
	const struct count_births all = { births, n, known };
	size_t armed = 0;

	for (size_t i = 0; i < count->nlate; i++) {
		enum count_late late = count_judge(count, &all, count->late[i]);

		if (late == COUNT_UNKNOWN)
			count_leave(count, count->late[i], true);
		else if (late == COUNT_WITHOUT)
			armed += late_open(count, count->late[i]);
	}
	return armed;
}
