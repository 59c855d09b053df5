/* SPDX-License-Identifier: MIT */
/*
 * What a process has used: by the agent's own record where its exit handlers ran, else by what
 * /proc said of it last. The main child is read as a zombie, others if their parent lets them lie.
 */
#define _GNU_SOURCE
#include "cli/session/internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/proc.h"

#define THREADS_MOST 64            /* read every tick */

static const char sample_no_switches[] = "it ended without its exit handlers, and /proc has it of single threads only";
static const char sample_image_before[] = "with what its image before the exec has used";

/* What a figure of /proc is that is not the final one, of a process that lives or has ended. */
enum sample_kind { SAMPLE_PLAIN, SAMPLE_TICKS, SAMPLE_THREADS };
static const char *const sample_notes[][3] = {
	[SAMPLE_PLAIN] = { "as of now, from /proc", "it ended without its exit handlers: last seen in /proc",
			   "no agent was in it: last seen in /proc" },
	[SAMPLE_TICKS] = { "as of now, in clock ticks, from /proc",
			   "it ended without its exit handlers: last seen in /proc, in clock ticks",
			   "no agent was in it: last seen in /proc, in clock ticks" },
	[SAMPLE_THREADS] = { "as of now, of the threads that live, from /proc",
			     "it ended without its exit handlers: last seen in /proc, of the threads that lived then",
			     "no agent was in it: last seen in /proc, of the threads that lived then" },
};

static struct cell *sample_cell(struct usage *usage, u32 source, u32 cell)
{
	return &usage->cell[source_first_cell(SOURCE_ALL, source) + cell];
}

/* ---- /proc ----------------------------------------------------------------------------------------- */

/* A zombie's are its final ones. */
static struct cell sample_value(u64 value, bool final)
{
	struct cell cell = usage_cell(value);

	if (cell_has_value(&cell) && !final)
		cell.state = CELL_ESTIMATE;
	return cell;
}

/* Of all its threads, also of those that have ended; of a zombie, too. */
static struct cell sample_clock(const struct process *p, struct cell otherwise)
{
	struct timespec ts;
	clockid_t clock;

	if (!p->clocked || clock_getcpuclockid((pid_t)p->facts.pid, &clock) || clock_gettime(clock, &ts))
		return otherwise;
	return cell_counted((double)ts.tv_sec * 1e9 + (double)ts.tv_nsec);
}

static void sample_stat(struct process *p, const struct process_stat *stat, bool zombie)
{
	u64 tick_ns = NSEC_PER_SEC / (u64)sysconf(_SC_CLK_TCK);
	struct cell *cell = sample_cell(&p->last, SOURCE_rusage, 0);

	cell[RUSAGE_MINFLT] = sample_value(stat->minflt, zombie);
	cell[RUSAGE_MAJFLT] = sample_value(stat->majflt, zombie);
	cell[RUSAGE_NVCSW] = cell[RUSAGE_NIVCSW] = cell_absent(CELL_UNAVAILABLE, sample_no_switches);
	cell[RUSAGE_UTIME] = sample_value(stat->utime * tick_ns, false);
	cell[RUSAGE_STIME] = sample_value(stat->stime * tick_ns, false);
	p->last.cpu = sample_clock(p, cell_add(cell[RUSAGE_UTIME], cell[RUSAGE_STIME]));
}

void process_keep_open(struct process *p)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/io", p->facts.pid);
	p->io_fd = descriptor_keep(open(path, O_RDONLY | O_CLOEXEC), DESCRIPTORS_SPARE);
}

/* A figure that cannot be had any more leaves the one that was had before. */
static void sample_io(struct process *p, bool zombie)
{
	struct cell *cell = sample_cell(&p->last, SOURCE_procio, 0);
	char text[PROC_IO_ROOM];
	u64 cells[PROCIO_CELLS];
	ssize_t n = p->io_fd >= 0 ? pread(p->io_fd, text, sizeof(text), 0) :
				    process_read_file(p->facts.pid, "io", text, sizeof(text));

	if (n >= 0)
		proc_parse_io(text, (size_t)n, cells);
	else
		proc_fill_absent(cells, PROCIO_CELLS, proc_absent(p->io_fd >= 0 ? errno : (int)-n));
	for (u32 i = 0; i < PROCIO_CELLS; i++)
		if (!wire_absent(cells[i]) || !cell_has_value(&cell[i]))
			cell[i] = sample_value(cells[i], zombie);
}

static void sample_schedstat(u32 pid, const char *name, u64 *cells)
{
	char text[PROC_SCHEDSTAT_ROOM];
	ssize_t n = process_read_file(pid, name, text, sizeof(text));

	if (n >= 0)
		proc_parse_schedstat(text, (size_t)n, cells);
	else
		proc_fill_absent(cells, SCHED_CELLS, proc_absent((int)-n));
}

/* The sum over the threads that live. */
static void sample_threads(struct process *p, u64 *sums)
{
	u64 cells[SCHED_CELLS];
	char path[64];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", p->facts.pid);
	memset(sums, 0, SCHED_CELLS * sizeof(*sums));
	dir = opendir(path);
	if (!dir)
		proc_fill_absent(sums, SCHED_CELLS, proc_absent(errno));
	while (dir && (e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]) || strlen(e->d_name) > 10)
			continue;
		snprintf(path, sizeof(path), "task/%s/schedstat", e->d_name);
		sample_schedstat(p->facts.pid, path, cells);
		for (u32 i = 0; i < SCHED_CELLS; i++)
			sums[i] = wire_absent(cells[i]) || wire_absent(sums[i]) ? cells[i] : sums[i] + cells[i];
	}
	if (dir)
		closedir(dir);
}

static void sample_sched(struct process *p, u64 threads, bool walk, bool zombie)
{
	struct cell *cell = sample_cell(zombie ? &p->final_sched : &p->last, SOURCE_sched, 0);
	u64 cells[SCHED_CELLS];

	if (threads <= 1)
		sample_schedstat(p->facts.pid, "schedstat", cells);
	else if (!walk)
		proc_fill_absent(cells, SCHED_CELLS, WIRE_ABSENT_THREADS);
	else if (threads > THREADS_MOST)
		proc_fill_absent(cells, SCHED_CELLS, WIRE_ABSENT_MANY);
	else
		sample_threads(p, cells);
	for (u32 i = 0; i < SCHED_CELLS; i++)
		cell[i] = sample_value(cells[i], zombie);
	p->sched_sampled = p->sched_sampled || zombie;
}

bool process_sample(struct process *p, u32 sources, int *status)
{
	struct process_stat stat;
	bool zombie;

	*status = -1;
	if (!process_stat(p->facts.pid, &stat))
		return false;
	/* Its first thread may have ended before the others. */
	zombie = (stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1;
	if (!p->sampled)
		usage_fill_absent(&p->last, "it was gone before it could be read");
	p->sampled = true;
	p->children_faults = stat.children_minflt;
	sample_stat(p, &stat, zombie);
	sample_io(p, zombie);
	sample_sched(p, stat.threads, sources & 1u << SOURCE_sched, zombie);
	if (p->uses && !zombie)
		thread_uses_look(p, stat.threads, p->look_always);
	if (zombie)
		*status = stat.exit;
	return true;
}

void process_look(struct process *p, u32 sources)
{
	bool always = p->look_always;
	int status;

	p->look_always = p->uses;
	process_sample(p, sources, &status);
	p->look_always = always;
}

static u64 timeval_ns(struct timeval v)
{
	return (u64)v.tv_sec * NSEC_PER_SEC + (u64)v.tv_usec * NSEC_PER_USEC;
}

static struct cell sample_waited(u64 value)
{
	struct cell cell = cell_counted((double)value);

	cell.note = "from wait4";
	return cell;
}

void process_reaped(struct process *p, const struct rusage *u)
{
	struct cell *cell = sample_cell(&p->last, SOURCE_rusage, 0);

	/* wait4(2) adds the children that were waited for; any of them had page faults. */
	if (p->children_faults)
		return;
	if (!p->sampled)
		usage_fill_absent(&p->last, "it was gone before it could be read");
	p->sampled = true;
	cell[RUSAGE_MINFLT] = sample_waited((u64)u->ru_minflt);
	cell[RUSAGE_MAJFLT] = sample_waited((u64)u->ru_majflt);
	cell[RUSAGE_NVCSW] = sample_waited((u64)u->ru_nvcsw);
	cell[RUSAGE_NIVCSW] = sample_waited((u64)u->ru_nivcsw);
	cell[RUSAGE_UTIME] = sample_waited(timeval_ns(u->ru_utime));
	cell[RUSAGE_STIME] = sample_waited(timeval_ns(u->ru_stime));
	p->last.cpu = sample_waited(timeval_ns(u->ru_utime) + timeval_ns(u->ru_stime));
}

/* ---- settling -------------------------------------------------------------------------------------- */

/* The leader's are the process's where it had no other thread; else those that lived last count. */
static void settle_sched(struct process *p)
{
	static const char others[] = "of its first thread; whether it had others is not known";

	for (u32 i = 0; p->sched_sampled && i < SCHED_CELLS; i++) {
		struct cell *cell = sample_cell(&p->last, SOURCE_sched, i);
		struct cell *final = sample_cell(&p->final_sched, SOURCE_sched, i);

		if (p->facts.threads == 1)
			*cell = *final;
		else if (cell_has_value(cell) || !cell_has_value(final))
			continue;
		else if (p->facts.threads)
			*cell = cell_absent(CELL_UNAVAILABLE, "its threads were gone before they could be read");
		else
			*cell = (struct cell){ final->value, CELL_ESTIMATE, others };
	}
}

/* The agent's own reads are not the program's. */
static void settle_own(struct process *p, const struct wire_process *wire)
{
	struct cell *cell = sample_cell(&p->last, SOURCE_procio, 0);

	if (!wire)
		return;
	cell[PROCIO_RCHAR] = cell_subtract(cell[PROCIO_RCHAR], cell_counted((double)wire->own_bytes));
	cell[PROCIO_SYSCR] = cell_subtract(cell[PROCIO_SYSCR], cell_counted((double)wire->own_calls));
}

static void settle_note(const struct process *p, struct cell *cell, enum sample_kind kind)
{
	if (cell->state == CELL_ESTIMATE && !cell->note)
		cell->note = sample_notes[kind][p->alive ? 0 : p->facts.agent ? 1 : 2];
}

static enum sample_kind sample_kind_of(u32 cell)
{
	if (source_of_cell(cell) == SOURCE_sched)
		return SAMPLE_THREADS;
	return source_cell_of(cell)->flags & SOURCE_SAMPLED ? SAMPLE_TICKS : SAMPLE_PLAIN;
}

/* Takes off what the process had used before its exec; not known: it is said. */
static void settle_begin(struct cell *cell, struct cell begin)
{
	if (!cell_has_value(cell))
		return;
	if (cell_has_value(&begin))
		*cell = cell_subtract(*cell, begin);
	else if (cell->state < CELL_ESTIMATE || !cell->note)
		*cell = (struct cell){ cell->value, CELL_ESTIMATE, sample_image_before };
}

/* What /proc said last, less what came before the image. */
static void settle_last(struct process *p, const struct wire_process *wire)
{
	struct usage begin;

	settle_sched(p);
	settle_own(p, wire);
	if (wire && wire->begin_usage.valid)
		usage_between(&begin, NULL, &wire->begin_usage);
	else
		usage_fill_absent(&begin, NULL);
	if (p->exec)
		settle_begin(&p->last.cpu, begin.cpu);
	if (p->attached)
		p->last.cpu = cell_subtract(p->last.cpu, p->attached->cpu);
	settle_note(p, &p->last.cpu, SAMPLE_TICKS);
	for (u32 i = 0; i < source_cells(SOURCE_ALL); i++) {
		if (p->exec)
			settle_begin(&p->last.cell[i], begin.cell[i]);
		if (p->attached)
			p->last.cell[i] = cell_subtract(p->last.cell[i], p->attached->cell[i]);
		settle_note(p, &p->last.cell[i], sample_kind_of(i));
	}
}

void process_settle(struct process *p, const struct wire_process *wire)
{
	struct usage *usage = &p->facts.usage;

	if (p->settled)
		return;
	p->settled = true;
	if (!p->sampled)
		usage_fill_absent(&p->last, p->facts.agent ? "it ended without its exit handlers"
				  : "no agent was in it, and it ended before it was seen in /proc");
	settle_last(p, wire);
	*usage = p->last;
	if (!wire || !(wire->flags & WIRE_PROCESS_EXITED) || !wire->end_usage.valid)
		return;
	usage_between(usage, (p->exec || p->attached) && wire->begin_usage.valid ? &wire->begin_usage : NULL, &wire->end_usage);
	for (u32 i = 0; i < source_cells(SOURCE_ALL); i++)
		if (!cell_has_value(&usage->cell[i]) && cell_has_value(&p->last.cell[i]))
			usage->cell[i] = p->last.cell[i];
}
