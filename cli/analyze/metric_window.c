/* SPDX-License-Identifier: MIT */
/* The columns of windows alone that take the time of their threads apart. */
#include "cli/analyze/metric.h"

static const char window_bias[] = "of all threads that were there: of several it may exceed wall";
static const char window_tick_bias[] = "the split of CPU time into user and kernel is sampled by the tick on most kernels";
static const char window_disk_bias[] = "without delay accounting by pressure: waits of others count, too, and it may overlap the run queue";

static struct cell metric_part(const struct metric *metric, const struct metric_input *in)
{
	return in->parts ? in->parts[metric->arg] : cell_absent(CELL_NOT_COUNTED, NULL);
}

#define PART_ROW(NAME, TITLE, ARG, WINDOW, MEANING, BIAS) \
	{ .name = NAME, .title = TITLE, .unit = "ns", .class_name = "quantitative", .source = "window", .format = METRIC_NS, \
	  .in_windows = WINDOW, .windows_only = true, .place = 25, .importance = 33, .meaning = MEANING, .bias = BIAS, \
	  .arg = ARG, .value = metric_part }

const struct metric metric_windows[METRIC_WINDOW_COLUMNS] = {
	PART_ROW("parts.threads", "threads", WINDOW_PARTS, METRIC_ASKED, "time of the threads that were there, which the parts add up to",
		 window_bias),
	PART_ROW("parts.user", "user", WINDOW_USER, METRIC_ASKED, "of that, on a CPU in user mode", window_tick_bias),
	PART_ROW("parts.kernel", "kernel", WINDOW_KERNEL, METRIC_ASKED, "of that, on a CPU in the kernel", window_tick_bias),
	PART_ROW("parts.run-queue", "runq", WINDOW_QUEUE, METRIC_ALWAYS, "of that, runnable and waiting for a CPU", window_bias),
	PART_ROW("parts.disk", "disk", WINDOW_DISK, METRIC_ALWAYS, "of that, waiting for disks", window_disk_bias),
	PART_ROW("parts.residual", "rest", WINDOW_REST, METRIC_ALWAYS, "of that, what the others leave: locks, sleep, sockets",
		 "clamped at 0 where the others exceed the time of the threads"),
};
