/* SPDX-License-Identifier: MIT */
/* Reading a segment's windows into the profile: one sum for each name of each process. */
#include "cli/analyze/profile.h"
#include "cli/analyze/profile_build.h"
#include "cli/log.h"

/* The files' values at one edge. False: none were read. */
static bool window_edge(u64 *values, const struct profile *profile, const struct wire_view *view, u32 first)
{
	struct wire_walk walk = wire_walk_from(first);
	const struct wire_snapshot *snapshot;
	bool read = false;

	for (u32 i = 0; i < SNAPSHOT_FILES; i++)
		snapshot_absent(values, i, WIRE_ABSENT_LIMIT);
	while (walk.hops <= WIRE_FILES && (snapshot = wire_next_snapshot(view, &walk))) {
		if (snapshot->file >= SNAPSHOT_FILES)
			continue;
		read = true;
		if (snapshot->absent)
			snapshot_absent(values, snapshot->file, snapshot->absent - 1);
		else
			snapshot_parse(values, snapshot->file, snapshot->bytes, snapshot->size, profile->disks);
	}
	return read;
}

const char *profile_window_lacks(const struct wire_window *window)
{
	/* The thread that marks the cool-down writes the edge later, maybe behind the end by another one, or not. */
	if (window->part == WIRE_WINDOW_COOLDOWN ? !window->to : window->state != WIRE_WINDOW_ENDED)
		return "the window was still open";
	return window->from == WIRE_NEVER ? "its measured part was never marked" : NULL;
}

void profile_window_snapshots(struct cell *cells, const struct profile *profile, const struct wire_view *view,
			      const struct wire_window *window)
{
	u64 begin[SNAPSHOT_CELLS], end[SNAPSHOT_CELLS];
	bool read = window_edge(begin, profile, view, window->snapshots[0]);
	const char *lacks = profile_window_lacks(window);

	if (lacks)
		snapshot_fill_absent(cells, lacks);
	else if (!window_edge(end, profile, view, window->snapshots[1]) || !read)
		snapshot_fill_absent(cells, "could not be read in the program");
	else
		snapshot_between(cells, begin, end);
}

static void profile_window_sum(struct profile_window *sum, const struct profile *profile, const struct wire_view *view,
			       const struct wire_window *window, u64 now)
{
	bool ended = window->state == WIRE_WINDOW_ENDED;
	u64 end = window->to ? window->to : ended ? window->end : now;
	const char *lacks = profile_window_lacks(window);
	struct cell snapshot[SNAPSHOT_CELLS];
	struct usage usage;

	sum->calls++;
	sum->open += !ended;
	sum->wall += end > window->from ? end - window->from : 0;
	if (lacks)
		usage_fill_absent(&usage, lacks);
	else if (!window->begin_usage.valid || !window->end_usage.valid)
		usage_fill_absent(&usage, "could not be read in the program");
	else
		usage_between(&usage, &window->begin_usage, &window->end_usage);
	usage_add(&sum->usage, &usage);
	profile_window_snapshots(snapshot, profile, view, window);
	snapshot_add(sum->snapshot, snapshot);
}

int profile_add_window(struct profile *profile, const struct profile_window *one, const char *name, size_t len)
{
	u32 number = profile_intern(profile, name, len);
	struct profile_window *sum = number == PROFILE_NONE ? NULL : profile_window(profile, one->process, one->pid, number);

	if (!sum)
		return error("out of memory for the windows");
	sum->calls += one->calls;
	sum->open += one->open;
	sum->wall += one->wall;
	usage_add(&sum->usage, &one->usage);
	snapshot_add(sum->snapshot, one->snapshot);
	return 0;
}

int profile_add_windows(struct profile *profile, const struct wire_view *view, u32 wire_pid,
			u32 process, u32 pid, u64 now)
{
	struct wire_walk walk = wire_walk_windows(view);
	bool merge = profile->group == PROFILE_BY_REGION;
	const struct wire_window *window;
	struct profile_window *sum;
	const char *bytes;
	u32 name;
	size_t len;

	while (walk.hops < WIRE_WINDOWS && (window = wire_next_window(view, &walk))) {
		if (wire_pid && window->pid != wire_pid)
			continue;
		if (!wire_view_name(view, window->name, &bytes, &len)) {
			profile->losses[PROFILE_LOSS_DAMAGED]++;
			continue;
		}
		name = profile_intern(profile, bytes, len);
		sum = name == PROFILE_NONE ? NULL
			: profile_window(profile, merge ? 0 : process, merge ? 0 : pid, name);
		if (!sum)
			return error("out of memory for the windows");
		profile_window_sum(sum, profile, view, window, now);
	}
	return 0;
}
