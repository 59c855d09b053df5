/* SPDX-License-Identifier: MIT */
/* A window's time taken apart; see window.h. */
#include "cli/analyze/window.h"

#include <stdlib.h>
#include <string.h>

const struct window_cell_row window_cells[WINDOW_CELLS] = {
	[WINDOW_THREADS] = { "thread_time", "ns" },
	[WINDOW_CPU] = { "cpu", "ns" },
	[WINDOW_UTIME] = { "utime", "ns" },
	[WINDOW_STIME] = { "stime", "ns" },
	[WINDOW_RUNWAIT] = { "runwait", "ns" },
	[WINDOW_DELAY] = { "disk_delay", "ns" },
	[WINDOW_READ] = { "read_bytes", "B" },
	[WINDOW_WRITE] = { "write_bytes", "B" },
	[WINDOW_PSI_CPU] = { "psi.cpu.some", "ns" },
	[WINDOW_PSI_MEMORY] = { "psi.memory.some", "ns" },
	[WINDOW_PSI_IO] = { "psi.io.some", "ns" },
	[WINDOW_GROUP_CPU] = { "cgroup.psi.cpu.some", "ns" },
	[WINDOW_GROUP_MEMORY] = { "cgroup.psi.memory.some", "ns" },
	[WINDOW_GROUP_IO] = { "cgroup.psi.io.some", "ns" },
	[WINDOW_REGIONS] = { "region_time", "ns" },
};

const char window_by_lines[] = "of a phase, from the arrival of its line to that of the next: what the command buffers comes late";

const char *const window_part_names[WINDOW_PARTS] = {
	[WINDOW_USER] = "user", [WINDOW_KERNEL] = "kernel", [WINDOW_QUEUE] = "run-queue", [WINDOW_DISK] = "disk",
	[WINDOW_REST] = "residual",
};

const char *const window_cause_names[WINDOW_CAUSES] = {
	[WINDOW_USER] = "user", [WINDOW_KERNEL] = "kernel", [WINDOW_QUEUE] = "run-queue", [WINDOW_DISK] = "disk",
	[WINDOW_REST] = "residual", [WINDOW_BY_MEMORY] = "memory", [WINDOW_BY_NOTHING] = "unknown",
};

static const char split_tick[] = "of the exact sum with kernel; the shares are sampled at the clock tick";
static const char split_tick_kernel[] = "of the exact sum with user; the shares are sampled at the clock tick";
static const char split_pressure[] = "by pressure (PSI) of the whole system: waits of other processes count, too, and it may "
				     "overlap the run queue; no more than the other parts leave";
static const char split_pressure_group[] = "by pressure (PSI) of the control group: waits of others in it count, too, and it may "
					   "overlap the run queue; no more than the other parts leave";
static const char split_no_io[] = "by /proc/PID/io it read and wrote nothing: pressure on disks is of others, or of what it wrote before";
static const char split_clamped[] = "the other parts exceed the time of the threads, since clocks differ: they are cut, and this is 0";
static const char split_excess[] = "the kernel accounts more waiting for disks than there was waiting: not believed";
static const char split_no_queue[] = "with time in run queues, of which nothing is known";
static const char split_no_disk[] = "with waits for disks, of which nothing is known";
static const char split_neither[] = "with time in run queues and waits for disks, of which nothing is known";
static const char split_no_cpu[] = "what was on a CPU is not known";

#define SPLIT_SLACK_NS (20 * NSEC_PER_MSEC) /* of clock ticks at both ends */

/* ---- parts ----------------------------------------------------------------------------------------- */

static double cell_or_zero(const struct cell *cell)
{
	return cell_has_value(cell) ? cell->value : 0;
}

/* No more than what is left, which it is taken from. True: it was cut. */
static bool part_fit(struct cell *part, double *left)
{
	bool cut = cell_has_value(part) && part->value > *left;

	if (cut)
		*part = (struct cell){ *left, CELL_ESTIMATE, part->note };
	*left -= cell_or_zero(part);
	return cut;
}

static void split_cpu(const struct window_fact *w, struct cell *parts, struct cell cpu)
{
	const struct cell *user = &w->cell[WINDOW_UTIME], *kernel = &w->cell[WINDOW_STIME];
	double sum = cell_or_zero(user) + cell_or_zero(kernel), share;

	if (!cell_has_value(&cpu)) {
		parts[WINDOW_USER] = parts[WINDOW_KERNEL] = cpu;
		return;
	}
	if (!cell_has_value(user) || !cell_has_value(kernel) || (sum <= 0 && cpu.value > 0)) {
		parts[WINDOW_USER] = (struct cell){ cpu.value, CELL_ESTIMATE, "of user and kernel together" };
		parts[WINDOW_KERNEL] = cell_absent(CELL_UNAVAILABLE, "how much was in the kernel is not known");
		return;
	}
	share = sum > 0 ? user->value / sum : 0;
	parts[WINDOW_USER] = (struct cell){ cpu.value * share, CELL_ESTIMATE, split_tick };
	parts[WINDOW_KERNEL] = (struct cell){ cpu.value * (1 - share), CELL_ESTIMATE, split_tick_kernel };
}

/* By delay accounting, or as much of the pressure as there is room for. */
static struct cell split_disk(const struct window_fact *w, double left)
{
	bool group = cell_has_value(&w->cell[WINDOW_GROUP_IO]);
	const struct cell *pressure = &w->cell[group ? WINDOW_GROUP_IO : WINDOW_PSI_IO], *delay = &w->cell[WINDOW_DELAY];

	/* Linux 6.12 and newer may account much more than there was (session/offcpu_delay.c). */
	if (cell_has_value(delay) && delay->value <= 1.1 * left + SPLIT_SLACK_NS)
		return *delay;
	if (!cell_has_value(pressure))
		return cell_has_value(delay) ? cell_absent(CELL_UNAVAILABLE, split_excess) : *delay;
	if (cell_has_value(&w->cell[WINDOW_READ]) && cell_has_value(&w->cell[WINDOW_WRITE]) && w->cell[WINDOW_READ].value <= 0 &&
	    w->cell[WINDOW_WRITE].value <= 0)
		return (struct cell){ 0, CELL_ESTIMATE, split_no_io };
	return (struct cell){ MIN(pressure->value, left), CELL_ESTIMATE, group ? split_pressure_group : split_pressure };
}

static struct cell split_rest(const struct cell *parts, double left, bool clamped)
{
	bool queue = cell_has_value(&parts[WINDOW_QUEUE]), disk = cell_has_value(&parts[WINDOW_DISK]);
	struct cell rest = { left, CELL_COUNTED, NULL };

	for (u32 i = 0; i < WINDOW_REST; i++)
		if (!cell_has_value(&parts[i]) || parts[i].state == CELL_ESTIMATE)
			rest.state = CELL_ESTIMATE;
	if (!cell_has_value(&parts[WINDOW_USER]))
		return cell_absent(CELL_UNAVAILABLE, split_no_cpu);
	rest.note = clamped ? split_clamped : !queue && !disk ? split_neither : !queue ? split_no_queue : !disk ? split_no_disk : NULL;
	return rest;
}

void window_split(const struct window_fact *w, struct cell *parts)
{
	const struct cell *threads = &w->cell[WINDOW_THREADS];
	struct cell cpu = w->cell[WINDOW_CPU];
	double left = threads->value;
	bool cut;

	parts[WINDOW_QUEUE] = w->cell[WINDOW_RUNWAIT];
	if (!cell_has_value(threads)) {
		split_cpu(w, parts, cpu);
		parts[WINDOW_DISK] = w->cell[WINDOW_DELAY];
		parts[WINDOW_REST] = cell_absent(CELL_UNAVAILABLE, threads->note);
		return;
	}
	cut = part_fit(&cpu, &left);
	split_cpu(w, parts, cpu);
	cut = part_fit(&parts[WINDOW_QUEUE], &left) || cut;
	parts[WINDOW_DISK] = split_disk(w, left);
	cut = part_fit(&parts[WINDOW_DISK], &left) || cut;
	parts[WINDOW_REST] = split_rest(parts, MAX(left, 0), cut);
	if (threads->state == CELL_ESTIMATE && cell_has_value(&parts[WINDOW_REST]))
		parts[WINDOW_REST].state = CELL_ESTIMATE;
}

/* ---- what stands out ------------------------------------------------------------------------------- */

static u32 part_greatest(const struct cell *parts, u32 n)
{
	u32 most = WINDOW_BY_NOTHING;

	for (u32 i = 0; i < n; i++)
		if (cell_has_value(&parts[i]) && (most == WINDOW_BY_NOTHING || parts[i].value > parts[most].value))
			most = i;
	return most;
}

/*
 * A shell waits for what it has started, a pool for work: where other parts fill most of the window, and there are
 * several threads, these waits explain nothing.
 */
static bool waits_for_others(const struct cell *parts, double wall, double whole)
{
	double sum = 0;

	for (u32 i = 0; i < WINDOW_REST; i++)
		sum += cell_or_zero(&parts[i]);
	return wall > 0 && sum >= 0.5 * wall && whole >= 1.5 * wall;
}

u32 window_stands_out(const struct window_fact *w, const struct cell *parts, double *share, bool *waited_for)
{
	bool group = cell_has_value(&w->cell[WINDOW_GROUP_MEMORY]);
	double memory = cell_or_zero(&w->cell[group ? WINDOW_GROUP_MEMORY : WINDOW_PSI_MEMORY]);
	double wall = (double)(w->to_ns - w->from_ns), whole = cell_or_zero(&w->cell[WINDOW_THREADS]);
	u32 most = part_greatest(parts, WINDOW_PARTS);

	*share = 0;
	*waited_for = most == WINDOW_REST && waits_for_others(parts, wall, whole);
	if (*waited_for)
		most = part_greatest(parts, WINDOW_REST);
	if (most != WINDOW_BY_NOTHING && whole > 0)
		*share = MIN(parts[most].value / (*waited_for ? wall : whole), 1);
	else
		most = WINDOW_BY_NOTHING;
	/* To bring memory back takes the kernel's time, disks, and waits that are none of both. */
	if (wall > 0 && memory >= wall / 4 && most != WINDOW_USER && most != WINDOW_QUEUE) {
		*share = MIN(memory / wall, 1);
		*waited_for = false;
		return WINDOW_BY_MEMORY;
	}
	return most;
}

/* ---- cells ----------------------------------------------------------------------------------------- */

void window_take_usage(struct window_fact *w, const struct usage *usage)
{
	u32 rusage = source_first_cell(SOURCE_ALL, SOURCE_rusage), io = source_first_cell(SOURCE_ALL, SOURCE_procio);
	u32 sched = source_first_cell(SOURCE_ALL, SOURCE_sched);

	w->cell[WINDOW_CPU] = usage->cpu;
	w->cell[WINDOW_UTIME] = usage->cell[rusage + RUSAGE_UTIME];
	w->cell[WINDOW_STIME] = usage->cell[rusage + RUSAGE_STIME];
	w->cell[WINDOW_RUNWAIT] = usage->cell[sched + SCHED_RUNWAIT];
	w->cell[WINDOW_READ] = usage->cell[io + PROCIO_READ_BYTES];
	w->cell[WINDOW_WRITE] = usage->cell[io + PROCIO_WRITE_BYTES];
}

void window_take_snapshot(struct window_fact *w, const struct cell *snapshot)
{
	for (u32 i = WINDOW_PSI_CPU; i < WINDOW_CELLS; i++)
		for (u32 k = 0; k < SNAPSHOT_CELLS; k++)
			if (!strcmp(snapshot_cells[k].name, window_cells[i].name))
				w->cell[i] = snapshot[k];
}
